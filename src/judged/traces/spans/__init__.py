"""Traces that are spans: who acted beneath whom, in whichever convention it was recorded."""
