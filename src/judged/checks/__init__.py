"""What is wrong, or merely notable, with judgments and runs: found, counted, placed, and put right in a copy."""
