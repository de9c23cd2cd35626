"""The tables that everything speaks through: judgments, runs, scores."""
