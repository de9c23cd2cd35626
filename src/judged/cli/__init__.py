"""The command line: one file for each command; words in, library calls, words out."""
