"""Arithmetic on flat arrays cut by offsets: no tables, no files, no screens."""
