"""Agentic search: traces in; gains, redundancy and curves over iterations out."""
