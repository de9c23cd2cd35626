"""Measures of how many different answers a ranking contains."""
