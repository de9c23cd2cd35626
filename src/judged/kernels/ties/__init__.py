"""Bounds and expectations over tied orders and over unjudged documents."""
