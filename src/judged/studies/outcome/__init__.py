"""Outcomes of a study: scores, times and decisions from its answers, and the files that have them."""
