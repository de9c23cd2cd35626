"""Arithmetic of ranked measures: gains, precision, browsing models, on ranks and grades."""
