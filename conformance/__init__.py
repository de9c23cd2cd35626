"""A conformance suite for retrieval evaluation: cases with exact values, and a runner that holds tools to them.

Run it from the root of the repository with `python -m conformance`. `README.md` describes the cases.
"""
