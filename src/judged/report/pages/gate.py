"""Placeholder."""
from judged.report.pages import Page, PageData
PAGE = Page("gate", "gate", lambda _s: False, lambda _s: PageData())
