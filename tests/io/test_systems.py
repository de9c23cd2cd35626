"""Systems in files: folders, patterns, data sets, tables of several systems, and what is left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import judged
from judged.errors import BadInput, UnknownName, Unreadable
from judged.io.open import Joined
from judged.io.read import read_runs
from judged.io.systems import find_one_system, find_system, name_systems, natural_key

RUN = "q1 Q0 d1 1 2.0 tag\nq1 Q0 d2 2 1.0 tag\nq2 Q0 d1 1 1.0 tag\n"
FIRST, SECOND = "q1 Q0 d1 1 2.0 tag\nq1 Q0 d2 2 1.0 tag\n", "q2 Q0 d1 1 1.0 tag\n"
QRELS = "q1 0 d1 1\nq2 0 d1 0\nq2 0 d2 1\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lay_out(files: Mapping[str, str | pa.Table]) -> None:
    """Write files below the current folder."""
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content)
        else:
            pq.write_table(content, path)


def make_table(**columns: list[str]) -> pa.Table:
    """Return the rows of a run, with further columns."""
    rows = {"query": ["q1", "q1", "q2"], "document": ["d1", "d2", "d1"], "score": [2.0, 1.0, 1.0]}
    return pa.table({**rows, **columns})


def list_names(*paths: object, join: bool = False) -> list[str | None]:
    """Return the names of the systems that paths stand for."""
    return [system.name for system in name_systems(list(paths), join=join)]


def test_a_folder_has_a_system_for_each_file_in_natural_order() -> None:
    """As a pattern of the same files has, and files one by one; `run2` comes before `run10`."""
    lay_out(dict.fromkeys(("runs/run10.run", "runs/run2.run.txt", "runs/deep/run1.run"), RUN))
    expected = ["run1", "run2.run", "run10"]

    assert list_names("runs") == list_names("runs/") == list_names(Path("runs")) == expected
    assert list_names("runs/*") == expected
    assert list_names("runs/run*") == expected[1:]


def test_what_says_that_it_is_something_else_is_left_out_with_a_note() -> None:
    """By its name or by its content; a hidden file is not looked at."""
    lay_out(
        {
            "runs/a.run": RUN,
            "runs/README": "Runs of 2026, in the format of TREC.\n",
            "runs/notes.md": "# Runs\n",
            "runs/qrels.txt": QRELS,
            "runs/scores.csv": "query,measure,value\nq1,AP,1.0\n",
            "runs/result.json": '{\n  "schema": "judged.evaluation/1"\n}',
            "runs/queries.tsv": "query\ttext\nq1\twhat\n",
            "runs/.hidden": "x",
            "runs/_SUCCESS": "",
        }
    )
    (system,) = name_systems("runs")
    (note,) = system.notes

    assert system.name == "a"
    assert note.message == (
        "left out of runs: 2 documents (README and notes.md); 1 file of judgments (qrels.txt); "
        "1 file of texts (queries.tsv); 1 saved result (result.json); 1 file of scores (scores.csv)"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.run", "q1 d1 0.5\n"),
        ("c.run", "q1 0 d1 1\n"),
        ("c.txt", "q1 Q0 d1 1 high tag\n"),
        ("c.csv", "query,document\nq1,d1\n"),
        ("c.json", '{"a": 1}'),
    ],
)
def test_what_is_meant_to_be_a_run_and_is_none_is_refused_with_what_is_there(name: str, content: str) -> None:
    """Nothing is dropped for being damaged: kinds are counted, and files named."""
    lay_out({"runs/a.run": RUN, "runs/b.run": RUN, f"runs/{name}": content})

    with pytest.raises(Unreadable) as refused:
        list_names("runs")
    assert refused.value.message == (
        f"runs holds some files that are not runs: 2 runs (a.run and b.run); 1 other file ({name})"
    )


def test_a_folder_without_a_run_is_answered_with_what_is_in_it() -> None:
    """Counts by kind, and first names."""
    lay_out({"data/qrels.txt": QRELS, "data/README.md": "x", "data/LICENSE": "y"})

    with pytest.raises(
        Unreadable, match=r"data holds no run: 2 documents \(LICENSE and README.md\); 1 file of"
    ):
        judged.evaluate_many(QRELS.encode(), "data")


def test_parts_of_text_are_refused_until_it_is_said_what_they_are() -> None:
    """Each alone would miss queries, and joined they may be several systems."""
    lay_out({"bm25/part-0.run": FIRST, "bm25/part-1.run": SECOND})

    with pytest.raises(BadInput, match=r"2 files that are called like parts of one run \(part-0.run and"):
        list_names("bm25")
    assert list_names("bm25", join=True) == ["bm25"]
    assert [system.name for system in name_systems({"mine": "bm25/*"})] == ["mine"]
    whole = judged.evaluate(QRELS.encode(), RUN.encode(), "AP RR").mean()
    assert judged.evaluate(QRELS.encode(), "bm25", "AP RR", join=True).mean() == whole
    assert judged.read_run("bm25", join=True).to_arrow() == judged.read_run(RUN.encode()).to_arrow()


@pytest.mark.parametrize(
    "names", [("part-0", "part-1"), ("0", "1"), ("x-00000-of-00002", "x-00001-of-00002")]
)
def test_parts_of_a_table_are_one_data_set(names: tuple[str, str]) -> None:
    """As every program that writes data sets calls them; other files of tables are systems."""
    table = make_table()
    lay_out({f"bm25/{name}.parquet": table.slice(2 * at, 2) for at, name in enumerate(names)})
    lay_out({"runs/bm25.parquet": table, "runs/dense.parquet": table})

    assert list_names("bm25") == list_names("bm25/*.parquet") == ["bm25"]
    assert list_names("runs") == ["bm25", "dense"]
    assert judged.read_run("bm25").to_arrow()["document"].to_pylist() == ["d1", "d2", "d1"]


@pytest.mark.parametrize("name", ["all.parquet", "all.csv", "all.jsonl", "data/part-0.parquet"])
def test_a_table_holds_the_systems_that_its_column_names(name: str) -> None:
    """In every format; a name chooses one, and without one there are several."""
    table = make_table(system=["bm25", "bm25", "dense"])
    if name.endswith("parquet"):
        lay_out({name: table})
    elif name.endswith("csv"):
        rows = [",".join(map(str, row.values())) for row in table.to_pylist()]
        lay_out({name: "\n".join(["query,document,score,system", *rows])})
    else:
        lay_out({name: "\n".join(map(json.dumps, table.to_pylist()))})
    source = "data" if name.startswith("data") else name
    found = judged.evaluate_many(QRELS.encode(), source, "RR")
    chosen = judged.evaluate_many(QRELS.encode(), {"dense": source}, "RR")

    assert {system: evaluation["RR"] for system, evaluation in found.items()} == {"bm25": 0.5, "dense": 0.0}
    assert list(chosen) == ["dense"]
    assert chosen["dense"]["RR"] == 0.0
    assert judged.read_run(source, name="dense").to_arrow()["document"].to_pylist() == ["d1"]
    with pytest.raises(BadInput, match=r"holds 2 systems \(bm25 and dense\), expected one"):
        judged.read_run(source)
    with pytest.raises(BadInput, match=r"holds 2 systems \(bm25 and dense\), expected one"):
        judged.evaluate(QRELS.encode(), source, "RR")
    with pytest.raises(UnknownName, match="is called `bm52`"):
        judged.evaluate_many(QRELS.encode(), {"bm52": source}, "RR")


def test_folders_named_by_a_key_are_systems_of_one_data_set() -> None:
    """As Spark and Arrow write partitions."""
    table = make_table()
    lay_out({"hive/system=bm25/part.parquet": table, "hive/system=dense/part.parquet": table})
    (system,) = name_systems("hive")

    assert isinstance(system.source, Joined)
    assert list(judged.evaluate_many(QRELS.encode(), "hive", "RR")) == ["bm25", "dense"]
    assert list(read_runs(system.source)) == ["bm25", "dense"]


def test_files_named_one_by_one_are_joined_as_their_pattern_is() -> None:
    """A shell expands a pattern that is not quoted, which must not change what it means."""
    lay_out({"a/1.run": FIRST, "a/2.run": SECOND, "b/1.run": FIRST, "b/2.run": SECOND})
    files = ("a/1.run", "a/2.run", "b/1.run", "b/2.run")

    assert list_names(*files, join=True) == list_names("a/*", "b/*", join=True) == ["a", "b"]
    assert list_names("a/1.run", join=True) == ["1"]


def test_a_joined_run_keeps_the_places_of_its_rows() -> None:
    """A message names the file and the line, in any format and however it is read."""
    lay_out({"a/1.csv": "query,document,score\nq1,d1,2\n", "a/2.csv": "query,document,score\nq1,d1,1\n"})

    with pytest.raises(BadInput, match=r"a/2\.csv:2: document `d1` of query `q1` is .* first at a/1\.csv:2"):
        judged.evaluate(QRELS.encode(), "a", "AP", join=True)


def test_one_system_is_expected_and_several_are_named() -> None:
    """With the ways out."""
    lay_out({"runs/a.run": RUN, "runs/b.run": RUN})

    with pytest.raises(BadInput, match=r"holds 2 systems \(a and b\), expected one") as refused:
        judged.evaluate(QRELS.encode(), "runs", "AP")
    assert "join=True" in str(refused.value.hint)
    with pytest.raises(BadInput, match=r"holds 2 systems \(a and b\), expected one"):
        find_one_system("runs")
    assert find_one_system("runs/a.run").name == "a"


def test_a_baseline_is_a_name_or_a_path(here: Path) -> None:
    """As typed, in every verb that takes one."""
    lay_out({"runs/a.run": RUN, "runs/b.run": FIRST})
    for baseline in ("b", "runs/b.run", "./runs/b.run", str(here / "runs" / "b.run")):
        source = "runs" if not Path(baseline).is_absolute() else str(here / "runs")
        compared = judged.compare(QRELS.encode(), source, "AP", baseline=baseline)

        assert compared.baselines == ("b",)
    with pytest.raises(UnknownName, match="no system is called `c`"):
        judged.compare(QRELS.encode(), "runs", "AP", baseline="c")


def test_a_path_that_two_systems_have_names_none_of_them() -> None:
    """Such as a table of several systems."""
    assert find_system("all.csv", {"bm25": "all.csv", "dense": "all.csv"}) is None


@given(st.lists(st.text(alphabet="ab0129-", min_size=1), unique=True))
def test_natural_order_is_an_order(names: list[str]) -> None:
    """It tells all names apart, and sorts numbers by their value."""
    assert len({tuple(natural_key(name)) for name in names}) == len(names)
    assert sorted(["r10", "r9", "r09"], key=natural_key) == ["r09", "r9", "r10"]
