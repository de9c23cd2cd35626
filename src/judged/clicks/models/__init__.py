"""Click models: what makes people look at a rank, and click a document there; a file for each idea."""
