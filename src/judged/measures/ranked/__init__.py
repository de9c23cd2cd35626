"""Measures of ranked results against graded judgments."""
