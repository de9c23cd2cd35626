"""Readers of answers, of what they are scored against, and of their labels."""
