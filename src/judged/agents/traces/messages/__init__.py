"""Traces that are messages of agents and their tools, one file for each format."""
