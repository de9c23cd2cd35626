"""Saved results last: files of every kind and version load, and an edited file is refused in words."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

import judged
from golden.results.write import FIELDS, HERE, describe_kinds
from judged.errors import JudgedError, Unreadable
from judged.report.page import render_report
from judged.result import RESULTS, Result
from judged.web.app import Viewer
from judged.web.live import Live, saved_input

FILES = sorted(HERE.glob("*-*.json"))
EVERY_FILE = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
VALUES: list[object] = [
    None,
    [],
    {},
    "",
    "x",
    "NaN",
    0,
    -1,
    1.5,
    10**30,
    True,
    [1],
    [[]],
    {"a": 1},
    ["x"] * 3,
]
EDITS = 40
"""Edits of each file; a thousand of each were tried when the types were declared."""


def own_kinds() -> set[str]:
    """The kinds of judged itself, without those of other tests."""
    return {kind for kind in RESULTS if RESULTS[kind].__module__.startswith("judged.")}


def test_there_is_a_file_of_every_kind_and_version() -> None:
    """`python tests/golden/results/write.py` adds those that are missing."""
    assert {path.stem for path in FILES} >= {f"{kind}-{RESULTS[kind].version}" for kind in own_kinds()}


@EVERY_FILE
def test_every_file_is_loaded_and_shown(path: Path, tmp_path: Path) -> None:
    """On the terminal, as a report, as JSON that loads again, and as tables."""
    result = judged.load(path)

    assert path.stem.startswith(f"{result.kind}-")
    assert str(result)
    assert render_report([result], verified=True).startswith("<!doctype html>")
    result.save(tmp_path / "again.json")
    again = judged.load(tmp_path / "again.json")
    assert str(again) == str(result)
    assert [table.equals(again.to_arrow(name)) or has_nan(table) for name, table in result.tables().items()]


def test_groups_of_measures_were_called_families_before(tmp_path: Path) -> None:
    """A comparison of version 1 by measures of diversity compares again, and knows its axes."""
    document = json.loads((HERE / "comparison-1.json").read_text())
    document["state"]["scores"][0]["family"] = "diversity"
    (tmp_path / "old.json").write_text(json.dumps(document))

    old = judged.load(tmp_path / "old.json").comparison

    assert [(scores.family, scores.group) for scores in old.scores] == [
        ("ranked", "diversity"),
        ("ranked", "ranked"),
    ]


def has_nan(table: Any) -> bool:
    """Whether a table has numbers that are not equal to themselves."""
    return "nan" in str(table.to_pylist())


def test_no_field_is_added_without_a_default_or_an_upgrade() -> None:
    """Fields of a recorded version stay as they are, and new ones have defaults; else the version must be raised.

    A version that was raised needs an upgrade from the recorded one. `write.py` records what is new.
    """
    recorded = json.loads(FIELDS.read_text())
    for kind, now in describe_kinds().items():
        before: dict[str, Any] = recorded[kind]
        if now["version"] != before["version"]:
            assert before["version"] in RESULTS[kind].upgrades, kind
            continue
        assert find_incompatible(before["classes"], now["classes"]) == [], kind


def find_incompatible(before: dict[str, dict[str, str]], now: Any) -> list[str]:
    """Return the fields that files of before do not have as they are declared now."""
    found = []
    for name, fields in now.items():
        old = before.get(name, {})
        added = fields.keys() - old.keys() if name in before else set()
        found += [
            f"{name}.{field} is new and has no default" for field in added if not fields[field].endswith("?")
        ]
        found += [f"{name}.{field} is gone" for field in old.keys() - fields.keys()]
        found += [
            f"{name}.{field} changed" for field in old.keys() & fields.keys() if old[field] != fields[field]
        ]
    return sorted(found)


def test_the_check_of_fields_finds_what_it_is_there_for() -> None:
    """A new field needs a default, and no field may change or go."""
    before = {"Mean": {"mean": "float", "queries": "int"}}

    assert find_incompatible(before, {"Mean": {"mean": "float", "queries": "int", "low": "float ?"}}) == []
    assert find_incompatible(before, {"Mean": {"mean": "str", "low": "float"}}) == [
        "Mean.low is new and has no default",
        "Mean.mean changed",
        "Mean.queries is gone",
    ]


def test_a_file_of_before_types_were_declared_is_loaded(tmp_path: Path) -> None:
    """It named the class of every object, and lacked fields that were added since."""
    document = json.loads((HERE / "comparison-1.json").read_text())
    state = document["state"]
    state["$"] = "Comparison"
    for mean in state["means"]:
        mean["$"] = "Mean"
    del state["answers"], state["order"], state["interactions"]
    (tmp_path / "old.json").write_text(json.dumps(document))

    assert judged.load(tmp_path / "old.json").comparison.answers == ()


def test_a_field_that_is_missing_is_named_with_the_release_that_reads_the_file(tmp_path: Path) -> None:
    """As a file that was not edited can be read by the version that wrote it."""
    document = json.loads((HERE / "comparison-1.json").read_text())
    del document["state"]["means"][1]["queries"]
    (tmp_path / "old.json").write_text(json.dumps(document))

    with pytest.raises(Unreadable, match=r"is damaged: means\.1: `queries` is missing") as error:
        judged.load(tmp_path / "old.json")
    assert (
        error.value.hint
        == f"it was written by judged {document['judged']}, which can read it unless it was edited since"
    )


@EVERY_FILE
@pytest.mark.filterwarnings("ignore")
def test_an_edited_file_is_shown_or_is_damaged(path: Path, tmp_path: Path) -> None:
    """Any part deleted, replaced or repeated: on the terminal, in a report, and as the two pages of the viewer."""
    document, rng, refused = json.loads(path.read_text()), random.Random(path.stem), 0  # noqa: S311 - no secret
    places = list(list_places(document["state"]))
    edited = tmp_path / "edited.json"
    for _ in range(EDITS):
        edited.write_text(json.dumps(edit(document, rng, rng.choice(places))))
        try:
            show(judged.load(edited))
        except JudgedError as error:
            assert "is damaged" in str(error), error.message
            refused += 1
        check_viewer(edited)

    assert EDITS / 10 < refused < EDITS


def test_a_column_of_another_length_is_damaged_when_it_is_loaded(tmp_path: Path) -> None:
    """Before any number is taken from it, in the scores of an evaluation and in those that a result of another kind has."""
    document = json.loads((HERE / "evaluation-1.json").read_text())
    values = document["state"]["scores"]["values"]
    values[next(iter(values))].append(0.5)
    (tmp_path / "longer.json").write_text(json.dumps(document))

    with pytest.raises(Unreadable, match=r"is damaged: .*differ in length"):
        judged.load(tmp_path / "longer.json")


def show(result: Result) -> None:
    """Show a result in every way."""
    result.render("table")
    result.render("csv")
    result.to_json(per_query=True)
    render_report([result], verified=True)


def check_viewer(path: Path) -> None:
    """The page and its JSON twin are there, or say what is wrong; neither fails."""
    viewer = Viewer(Live({"edited": saved_input("edited", path)}), title="edited")
    page, twin = viewer._make_page(viewer._find_all, []), viewer._make_twin(viewer._find_all, [])

    assert (page.status_code, twin.status_code) in {(200, 200), (422, 422), (422, 200), (200, 422)}
    assert page.status_code == 200 or b"is damaged" in bytes(page.body)


def edit(document: Any, rng: random.Random, place: tuple[Any, ...]) -> Any:
    """Return the document with one part of its state deleted, replaced or repeated."""
    edited = copy.deepcopy(document)
    *way, last = place
    holder = reduce(getitem, way, edited["state"])
    how = rng.choice(["delete", "replace", "replace", "repeat"])
    if how == "delete":
        del holder[last]
    elif how == "replace":
        holder[last] = rng.choice(VALUES)
    elif isinstance(holder, list):
        holder.insert(last, holder[last])
    else:
        holder[f"{last} again"] = holder[last]
    return edited


def list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every part of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in items:
        yield (*place, name)
        yield from list_places(part, (*place, name))
