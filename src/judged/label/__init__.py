"""Grades for results from a language model or from similarity, and how far they agree with people's."""
