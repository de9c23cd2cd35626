"""Adapters: one file for each library or database, none of which the others need."""
