"""Placeholder."""
from judged.report.pages import Page, PageData
PAGE = Page("agreement", "agreement", lambda _s: False, lambda _s: PageData())
