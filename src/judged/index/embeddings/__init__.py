"""Embeddings without an index: exact search into a run, and retrieval between two kinds of items."""
