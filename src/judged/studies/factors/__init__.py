"""Factors of a study: grids of settings, the effect of each, and settings that are tuned."""
