"""The plain form of traces, which judged writes itself."""
