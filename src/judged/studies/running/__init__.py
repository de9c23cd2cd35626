"""Runs of a study: the plan, the queries that systems are asked, and what of it is kept on disk."""
