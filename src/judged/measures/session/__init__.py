"""Measures of sessions, one file each."""
