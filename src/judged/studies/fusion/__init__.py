"""Fusion: one run from several, by ranks or scores, with weights that are given or tuned."""
