"""Traces of agents as they are written by others, one file for each format."""
