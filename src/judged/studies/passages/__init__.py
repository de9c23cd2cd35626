"""Passages: parts of documents that systems search, that people judge, and that fit into a budget of tokens."""
