"""Files of vectors: one reader for each format, and tables with a column of them."""
