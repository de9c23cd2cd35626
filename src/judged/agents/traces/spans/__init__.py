"""Traces made of spans, in any convention."""
