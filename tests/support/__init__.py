"""What several tests use: oracles, random inputs, builders of traces, and a fresh interpreter."""
