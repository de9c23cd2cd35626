"""The commands that score and inspect agents' sessions."""
