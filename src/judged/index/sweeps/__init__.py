"""Sweeps: planned, measured in rounds of fresh processes, and kept as points."""
