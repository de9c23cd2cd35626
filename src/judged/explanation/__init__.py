"""Explain numbers: one value term by term, why two values differ, and which conventions give a published one."""
