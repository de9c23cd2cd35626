"""Systems compared on the same queries: who is better, by how much, and whether to believe it."""
