"""Arithmetic of session measures: gain by iteration."""
