"""What search tools give back: which tools those are, and results out of what they return."""
