"""Other tools, stated: for each, its names for measures and the conventions under which it computes them."""
