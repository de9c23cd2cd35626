"""Retrieval experiments: systems of stages, the studies that run and score them, fusion and routing."""
