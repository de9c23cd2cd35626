"""Traces in which calls of tools and their outputs are written into text."""
