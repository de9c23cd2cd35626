"""Logs of clicks: a file for each kind of format, and the reader that tells them apart."""
