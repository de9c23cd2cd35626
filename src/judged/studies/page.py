"""Study: the best system, what it costs in time, times by stage, what routers, skip policies and rerankers were worth."""

from __future__ import annotations

from judged.report.pages import Page
from judged.report.pages.result import make_data

PAGE = Page("study", "Study", make_data, script="judged.studies:page.js")
