"""Documents, as the class of this name in langchain-core 1.7."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Document:
    """A text with metadata; its id is None unless a vector store gave it one."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None
