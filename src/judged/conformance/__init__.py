"""The conformance suite and its runner: cases in, what each tool makes of them out.

`python -m judged.conformance` runs it; the cases stand in `conformance/` of the repository and in the wheel.
"""
