"""Placeholder."""
from judged.report.pages import Page, PageData
PAGE = Page("sessions", "sessions", lambda _s: False, lambda _s: PageData())
