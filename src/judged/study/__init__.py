"""Studies: retrieval experiments declared in YAML, run from end to end, scored, compared and timed by stage."""
