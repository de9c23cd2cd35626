"""Gates: a run against a baseline, one-sided, with a margin; passed, failed or inconclusive, with the reason."""
