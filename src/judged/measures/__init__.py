"""Names for arithmetic: one measure, one file; a folder for each family."""
