"""TREC's own sessions and conversations."""
