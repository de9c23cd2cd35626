"""The page on deduplication says what the code does."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from judged.agents.dedup.keys import SHORTEST_PREFIX
from judged.agents.dedup.match import Fields, find_vetoes
from judged.agents.dedup.rules import LOOSE_RULES, STRICT_RULES, Rules, Weights

PAGE = (Path(__file__).parents[3] / "docs" / "concepts" / "deduplication.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|")
]


def test_the_table_of_rules_for_urls_is_that_of_the_code() -> None:
    """Every rule with its key and what it does, in their order, and no other."""
    strict = [[f"`{name}`", "strict", words] for name, words in STRICT_RULES.items()]
    loose = [[f"`{name}`", "loose", words] for name, words in LOOSE_RULES.items()]

    assert [row for row in ROWS if row[1] in {"strict", "loose"}] == strict + loose


def test_the_weights_and_the_threshold_are_those_of_the_code() -> None:
    """As the table of fields and the sentences below it have them."""
    words = {row[0]: float(row[2]) for row in ROWS if re.fullmatch(r"\d\.\d", row[-1])}
    names = {"domain id": "domain", "generic id": "generic", "URL": "url", "text": "text", "title": "title"}
    names |= {"loose URL": "loose_url", "short text": "short_text"}

    assert {names[field]: weight for field, weight in words.items()} == asdict(Weights())
    assert f"from {Rules().threshold:g} on they are" in PAGE
    assert SHORTEST_PREFIX == 30


@pytest.mark.parametrize(("column", "unit"), [(1, "document"), (2, "passage"), (3, "strict")])
def test_the_table_of_vetoes_is_that_of_the_code(column: int, unit: str) -> None:
    """A difference vetoes, vetoes unless other fields agree, or does not."""
    excuses = {
        "texts agree and titles do not differ": {"text": True},
        "the URL agrees and texts do not differ": {"url": True, "loose_url": True},
    }
    names = {"domain id": "domain", "generic id": "generic", "URL": "url", "text": "text", "title": "title"}
    for row in ROWS:
        if len(row) != 4 or row[0] not in names:
            continue
        differs = Fields()._replace(**{names[row[0]]: False})
        _, _, unless = row[column].partition(", unless ")
        assert (names[row[0]] in find_vetoes(differs, unit)) == row[column].startswith("vetoes")  # type: ignore[arg-type]
        if unless:
            assert not find_vetoes(differs._replace(**excuses[unless]), unit)  # type: ignore[arg-type]
