"""Questions that documents answer, written and checked by models: the beginning of a test set."""
