"""Traces as agent frameworks and command-line agents write them, each translated to messages; a file for each."""
