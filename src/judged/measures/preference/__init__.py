"""Measures of preferences, and of grades by several judges, one file each."""
