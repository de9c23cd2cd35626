"""Arithmetic of diversity measures: intents, novelty, greedy ideal rankings."""
