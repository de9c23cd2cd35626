"""Collections: documents, queries and judgments, of files, of data sets by name, or built in."""
