"""Scores that any tool wrote, by query; one small file for each format."""
