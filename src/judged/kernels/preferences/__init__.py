"""Arithmetic of preference measures: pairs of documents and which of them a run orders as preferred."""
