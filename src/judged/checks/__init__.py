"""Lint judgments and runs: find, count and locate problems, and write a fixed copy."""
