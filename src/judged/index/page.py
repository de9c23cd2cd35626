"""Vector index: which engine and setting is cheapest at the recall asked for, every setting, and what each costs."""

from __future__ import annotations

from judged.report.pages import Page
from judged.report.pages.result import make_data

PAGE = Page("index", "Vector index", make_data, script="judged.index:page.js")
