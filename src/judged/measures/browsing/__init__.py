"""Measures by a model of the reader: how far people go through results, and what they gain on the way."""
