"""Vectors that come and go: runbooks of steps, and what could be found at a moment."""
