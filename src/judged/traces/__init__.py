"""Agents' traces → sessions; one small file per format."""
