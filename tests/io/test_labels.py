"""Labels are read from every way people write them, and what is no gain is refused with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import judged
from judged.errors import BadInput, Unwritable, WrongKind
from judged.io.read import read_labels
from judged.io.write import write_labels
from judged.tables.labels import Label

ONE = Label(gain=3, task="t1", id="d1")
SAME: dict[str, Any] = {
    "JSONL": b'{"task": "t1", "id": "d1", "gain": 3}\n',
    "JSONL with other names": b'{"query": "t1", "docid": "d1", "relevance": 3}\n\n',
    "JSONL of our judgments": b'{"query": "t1", "document": "d1", "grade": 3, "prompt": "x"}\n',
    "a JSON list": b'[{"qid": "t1",\n "document": "d1", "label": 3}]',
    "a JSON object of objects": b'{"t1":\n {"d1": 3}}',
    "CSV": b"Task,ID,Gain\nt1,d1,3\n",
    "TSV": b"query_id\tdoc_id\tgrade\nt1\td1\t3\n",
    "TREC judgments": b"t1 0 d1 3\n",
    "a dict of dicts": {"t1": {"d1": 3}},
    "dicts": [{"task": "t1", "id": "d1", "gain": 3}],
    "labels": [ONE],
    "a data frame": pa.table({"task": ["t1"], "id": ["d1"], "gain": [3]}),
    "judgments": judged.read_judgments({"t1": {"d1": 3}}),
}


@pytest.mark.parametrize("source", SAME.values(), ids=SAME)
def test_the_same_label_is_read_from_every_form(source: Any) -> None:
    """A label says the same, however it is written."""
    assert read_labels(source).rows == (ONE,)


def test_labels_keep_every_key_of_their_result() -> None:
    """URL, title, snippet, domain and labeller come through; empty cells of CSV are absent."""
    text = b"task,domain,domain_id,url,title,snippet,gain,labeller\nt1,doi,10.1/x,,A title,some text,0,ann\n"

    assert read_labels(text).rows == (
        Label(
            gain=0,
            task="t1",
            domain="doi",
            domain_id="10.1/x",
            title="A title",
            snippet="some text",
            labeller="ann",
        ),
    )


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        (b'{"id": "a", "gain": 1}\n{"id": "a", "gain": 5}\n', "bytes:2", "gain is 5"),
        (b'{"id": "a", "gain": -1}', "bytes:1", "gain is -1"),
        (b'{"id": "a", "gain": true}', "bytes:1", "gain is True"),
        (b'{"id": "a", "gain": 2.0}', "bytes:1", "gain is 2.0"),
        (b'{"id": "a", "gain": "3"}', "bytes:1", "gain is '3'"),
        (b'{"id": "a", "gain": null}', "bytes:1", "gain is missing"),
        (b'{"task": "t", "gain": 2}', "bytes:1", "names no result"),
        (b'{"id": "a", "domain_id": "b", "gain": 2}', "bytes:1", "has both `id` (a) and `domain_id` (b)"),
        (b'{"id": ["a"], "gain": 2}', "bytes:1", "id is ['a'] (list), expected text"),
        (b'{"id": "a", "gain": 1}\n{"id": "b", "ga', "bytes:2", "is not valid JSON"),
        (b"id,gain\na,1\n\nb,1.0\n", "bytes:4", "gain is '1.0'"),
        (b"id,gain\na\n", "bytes:2", "1 columns, expected 2"),
        (b"t1 0 d1 3\nt1 0 d2 9\n", "bytes:2", "gain is 9"),
        (b"t1 0 d1 2.5\n", "bytes:1", "gain is 2.5"),
        (b"t1 0 d1 x\n", "bytes:1", "gain is `x`"),
        (b"t1 0 d1\n", "bytes:1", "3 columns, expected 4"),
    ],
)
def test_what_is_no_label_is_refused_with_its_line(text: bytes, where: str, message: str) -> None:
    """Gains off the scale, bools, fractions, results without a key: each a problem that says where."""
    with pytest.raises(BadInput) as caught:
        read_labels(text)

    assert str(caught.value.problems[0].place) == where
    assert message in caught.value.problems[0].message


def test_a_gain_of_a_dict_is_refused_with_its_task_and_id() -> None:
    """Where there is no line, the task and the id say where."""
    with pytest.raises(BadInput, match="task `t`, id `a`: gain is 9"):
        read_labels({"t": {"a": 9}})


@pytest.mark.parametrize("empty", [b"[]", {}, []], ids=str)
def test_no_labels_are_an_error(empty: Any) -> None:
    """An empty file labels nothing, which nobody means."""
    with pytest.raises(BadInput, match="holds no labels"):
        read_labels(empty)


def test_objects_that_hold_no_labels_are_refused_by_their_kind() -> None:
    """A number is no labels."""
    with pytest.raises(WrongKind, match="object of type `int`"):
        read_labels(7)


words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
labels = st.lists(
    st.builds(Label, gain=st.integers(0, 4), task=st.none() | words, url=words, title=st.none() | words),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize("extension", ["jsonl", "csv", "tsv", "jsonl.gz"])
@given(rows=labels)
def test_written_labels_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, extension: str, rows: list[Label]
) -> None:
    """Any labels survive being written and read."""
    path = tmp_path_factory.mktemp("labels") / f"some.{extension}"
    write_labels(rows, path)

    assert read_labels(path).rows == tuple(rows)


def test_labels_written_as_trec_judgments_are_judgments(tmp_path: Path) -> None:
    """A `.txt` file holds `task 0 id gain`, which trec_eval reads."""
    write_labels([{"query": "q1", "document": "d1", "grade": 2, "tokens": 9}], tmp_path / "qrels.txt")

    assert (tmp_path / "qrels.txt").read_text() == "q1 0 d1 2\n"


def test_a_label_without_an_id_cannot_be_a_trec_judgment(tmp_path: Path) -> None:
    """What would be lost is refused, and the hint says which formats hold it."""
    with pytest.raises(Unwritable, match=r"row 1: id is missing"):
        write_labels([Label(gain=1, task="t", url="https://a.org")], tmp_path / "qrels.txt")
