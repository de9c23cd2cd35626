"""Files and other people's objects ⇄ tables, one file for each format."""
