"""Formats of products and services: their exports, responses and logs."""
