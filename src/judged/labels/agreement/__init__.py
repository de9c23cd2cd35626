"""Agreement between labels and human grades of the same results."""
