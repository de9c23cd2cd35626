"""Scanning: the ranks of the judged documents in a run, from TREC bytes, Arrow columns or dicts."""
