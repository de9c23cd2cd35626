"""Search tools: which tools search, and the results in their outputs."""
