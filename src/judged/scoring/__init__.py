"""Tables × measures × protocol → Scores."""
