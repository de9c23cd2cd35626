"""Finds results that are the same thing: keys to find candidates, verification to be sure."""
