"""Results: shown, turned into tables, saved and loaded by one base class."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from judged.blocks import Block, Display, Estimate, Notes, Sentence, Table
from judged.errors import UnknownName, Unreadable
from judged.problem import Note
from judged.result import RESULTS, InputFile, Provenance, Result, load, tabulate


class Pair(NamedTuple):
    """A named tuple within a result."""

    name: str
    value: float


@dataclass(frozen=True)
class Missing:
    """One of two classes that a field may hold."""

    reason: str


@dataclass(frozen=True)
class Found:
    """The other."""

    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Weather(Result):
    """A result of every kind of field."""

    kind: ClassVar[str] = "weather"
    pairs: tuple[Pair, ...]
    interval: Found | Missing | None
    values: NDArray[np.float64]
    ids: pa.Array
    by_key: Mapping[tuple[str, str], float] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[Note, ...] = ()
    view: object = field(default=None, metadata={"saved": False})

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the pairs, and a row for each id."""
        queries = pa.table({"query": self.ids, "value": self.values})
        return {"pairs": tabulate([pair._asdict() for pair in self.pairs]), "queries": queries}

    def blocks(self, display: Display) -> Iterable[Block]:
        """Return a sentence, a table and the notes."""
        yield Sentence("It rains.")
        yield Table(("name", "value"), tuple((pair.name, Estimate(pair.value)) for pair in self.pairs))
        if display.notes:
            yield Notes(self.notes)


@pytest.fixture
def weather() -> Weather:
    """A result with undefined numbers, unions and keys that are not text."""
    RESULTS.add("weather", Weather) if "weather" not in RESULTS else None
    return Weather(
        (Pair("a", 0.5), Pair("b", float("inf"))),
        Missing("no queries"),
        np.array([0.25, np.nan]),
        pa.array(["q1", "q2"], pa.large_string()),
        {("a", "b"): 1.0},
        Provenance(inputs=(InputFile("run", __file__),)),
        (Note("dry", "info", "it was dry"),),
        view=object(),
    )


def test_what_is_saved_is_loaded(weather: Weather, tmp_path: Path) -> None:
    """Every field comes back, undefined numbers and keys that are not text among them; views do not."""
    weather.save(tmp_path / "weather.json")
    back = load(tmp_path / "weather.json")

    assert isinstance(back, Weather)
    assert (back.pairs, back.interval, back.by_key) == (weather.pairs, weather.interval, weather.by_key)
    np.testing.assert_array_equal(back.values, weather.values)
    assert back.ids == weather.ids
    assert back.view is None
    assert back.provenance.inputs[0].digest == weather.provenance.inputs[0].sha256
    assert back.notes == weather.notes


def test_a_compressed_file_is_loaded(weather: Weather, tmp_path: Path) -> None:
    """`.json.gz` is compressed, and read back alike."""
    weather.save(tmp_path / "weather.json.gz")

    assert (tmp_path / "weather.json.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert load(tmp_path / "weather.json.gz").notes == weather.notes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not a saved result"),
        ("[]", "is not a saved result"),
        ('{"schema": "judged.weather/9", "state": {}}', "has version 9 of `weather`, expected 1 at most"),
        ('{"schema": "judged.weather/1", "state": {"$": "Weather"}}', "is damaged"),
        ('{"schema": "judged.weather/1", "state": {"$": "Path"}}', "is damaged"),
    ],
)
@pytest.mark.usefixtures("weather")
def test_what_is_no_result_is_refused(tmp_path: Path, content: str, message: str) -> None:
    """Another file, another version and a damaged one are each refused in words."""
    path = tmp_path / "result.json"
    path.write_text(content)

    with pytest.raises(Unreadable, match=message):
        load(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """The error says that the file is not there."""
    with pytest.raises(Unreadable, match="No such file"):
        load(tmp_path / "none.json")


def test_json_is_one_document_with_a_schema(weather: Weather) -> None:
    """The schema, the notes and every table are there; infinite numbers are text, which JSON has no other way for."""
    document = json.loads(weather.render("json"))

    assert document["schema"] == "judged.weather/1"
    assert document["notes"] == [{"code": "dry", "severity": "info", "message": "it was dry"}]
    assert document["tables"] == {"pairs": [{"name": "a", "value": 0.5}, {"name": "b", "value": "Infinity"}]}
    assert list(json.loads(weather.render("json", Display(per_query=True)))["tables"]) == ["pairs", "queries"]


def test_every_format_is_rendered(weather: Weather) -> None:
    """Text, Markdown, LaTeX and HTML show the blocks; CSV and its like hold the main table."""
    assert str(weather.render("table")).startswith("It rains.\n\nname   value\n")
    assert "- it was dry" in str(weather.render("markdown"))
    assert r"\begin{tabular}" in str(weather.render("latex"))
    assert "<p>It rains.</p>" in str(weather.render("html"))
    assert weather.render("csv") == "name,value\na,0.5\nb,inf\n"
    assert weather.render("tsv", Display(per_query=True)) == "query\tvalue\nq1\t0.25\nq2\t\n"
    assert str(weather.render("jsonl")).splitlines()[0] == '{"name": "a", "value": 0.5}'
    assert bytes(weather.render("parquet"))[:4] == b"PAR1"  # type: ignore[arg-type]
    with pytest.raises(UnknownName):
        weather.render("docx")


def test_frames_are_made_of_any_table(weather: Weather) -> None:
    """The main table by default, others by name, and an unknown one is refused."""
    assert weather.to_pandas()["name"].tolist() == ["a", "b"]
    assert weather.to_polars("queries")["query"].to_list() == ["q1", "q2"]
    with pytest.raises(UnknownName, match="table of this weather"):
        weather.to_arrow("querys")


def test_it_prints_as_text(weather: Weather) -> None:
    """The representation is what a terminal shows, notes and all."""
    assert repr(weather).endswith("it was dry")
    assert "it was dry" not in str(weather.render("table", Display(notes=False)))


def test_the_state_of_an_earlier_version_is_upgraded_or_named(
    weather: Weather, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each upgrade leads to the next version; without one, the error says which release reads the file."""
    path = tmp_path / "weather.json"
    weather.save(path)
    monkeypatch.setattr(Weather, "version", 3)
    with pytest.raises(
        Unreadable, match=r"has version 1 of `weather`, which this judged .* no longer reads"
    ) as error:
        load(path)

    renamed = {
        1: lambda state: {**state, "rain": 1},
        2: lambda state: {k: v for k, v in state.items() if k != "rain"},
    }
    monkeypatch.setattr(Weather, "upgrades", renamed)

    assert error.value.hint == f"it was written by judged {weather.provenance.version}, which reads it"
    assert load(path).notes == weather.notes


def test_a_result_is_saved_in_the_format_of_its_extension(weather: Weather, tmp_path: Path) -> None:
    """As `-o` does; an extension that no format has is refused, and nothing is written."""
    weather.save(tmp_path / "weather.html")
    weather.save(tmp_path / "weather.csv")

    assert (tmp_path / "weather.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "weather.csv").read_text().startswith("name,value\n")
    with pytest.raises(UnknownName, match=r"no format of `.*weather\.jsn` is called `\.jsn`"):
        weather.save(tmp_path / "weather.jsn")
    assert not (tmp_path / "weather.jsn").exists()
