"""Scanning: where the judged documents are in a run, from TREC bytes, Arrow columns or dicts."""
