"""Scores → what can be said of them: intervals and tests."""
