"""Tasks of Spark without Spark: rows sent to targets and gathered there are reduced as a single machine does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.scoring import spark_tasks
from judged.scoring.locate import apply_run_conventions, scan_run, to_index
from judged.scoring.spark_tasks import Files, Handed, Job, Piece, TaskPart, gather, pack, reduce, spread
from judged.tables.judgments import Judgments
from judged.tables.run import Run

QRELS = {"q1": {"d1": 1, "d2": 2, "q1": 1}, "q2": {"d3": 1, "d30": 0}, "é": {"d5": 2, "d6": -1}}
IDS = st.lists(st.tuples(st.sampled_from(["q1", "q2", "é", "q9", "q8"]), st.integers(0, 30)), unique=True)
PROTOCOLS = (
    judged.Protocol(),
    judged.Protocol(ties="document-ascending", self_matches="removed"),
    judged.Protocol(ties="pessimistic", no_relevant="one"),
)


class Broadcast:
    """What Spark hands to every task."""

    def __init__(self, value: Any) -> None:
        self.value = value


def make_job() -> tuple[Judgments, Job]:
    """Return judgments, and what tasks know of them."""
    judgments = judged.read_judgments(QRELS)
    return judgments, Job(pack(judgments), PROTOCOLS)


def to_batches(columns: dict[str, list[Any]], size: int) -> Iterator[pa.RecordBatch]:
    """Return batches of a few rows."""
    return iter(pa.table(columns).to_batches(max_chunksize=size))


def decode(batches: Iterator[pa.RecordBatch]) -> list[TaskPart]:
    """Return the parts that a task returns."""
    return [TaskPart.decode(data) for batch in batches for data in batch.column("part").to_pylist()]


def to_ranks(parts: Sequence[TaskPart], protocol: int) -> dict[int, tuple[int, ...]]:
    """Return rank, documents above and tied documents by judgment row, and the count of each query below 0."""
    found: dict[int, tuple[int, ...]] = {}
    for part in parts:
        blocks = part.scans(len(PROTOCOLS))[protocol].blocks
        for row, *rest in zip(blocks.row, blocks.rank, blocks.above, blocks.tied, strict=True):
            assert row not in found
            found[int(row)] = tuple(map(int, rest))
        found |= {
            -1 - int(query): (int(count),) for query, count in zip(blocks.query, blocks.count, strict=True)
        }
    return found


@settings(max_examples=60, deadline=None)
@given(
    ids=IDS,
    scores=st.lists(st.integers(0, 4).map(float), min_size=160, max_size=160),
    order=st.randoms(use_true_random=False),
    targets=st.integers(1, 5),
    size=st.integers(1, 50),
    cell=st.sampled_from([1, 40, 1 << 16]),
)
def test_rows_that_are_sent_and_gathered_are_ranked_as_on_one_machine(
    ids: list[tuple[str, int]], scores: list[float], order: Any, targets: int, size: int, cell: int
) -> None:
    """Whatever the order, the batches, the number of targets and the size of cells; nothing is counted twice."""
    rows = [(query, f"d{number}", score) for (query, number), score in zip(ids, scores, strict=False)]
    rows += [("q1", "q1", 2.0), ("q9", "q9", 1.0)]
    order.shuffle(rows)
    columns = dict(zip(("query", "document", "score"), map(list, zip(*rows, strict=True)), strict=True))
    judgments, job = make_job()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_tasks, "CELL_BYTES", cell)
        patch.setattr(spark_tasks, "BLOCK_ROWS", size)
        half = len(rows) // 2
        sent = [
            batch
            for part in (slice(half), slice(half, None))
            for batch in spread(job, Handed(), range(targets))(
                to_batches({name: values[part] for name, values in columns.items()}, size)
            )
        ]
    whole = pa.Table.from_batches(sent)
    parts = [
        part
        for target in range(targets)
        for part in decode(
            gather(job)(iter(whole.filter(pa.array(whole["target"].to_numpy() == target)).to_batches()))
        )
    ]
    for number, protocol in enumerate(PROTOCOLS):
        run = Run.from_columns(*columns.values())
        ready = apply_run_conventions(run, protocol)
        grouped = ready.as_columns().source
        by_query = np.argsort(grouped.query.to_pylist(), kind="stable")  # type: ignore[union-attr]
        table = pa.table({"q": grouped.query, "d": grouped.document, "s": grouped.score}).take(by_query)  # type: ignore[union-attr]
        # a query whose only row was removed stays in the run
        source = replace(Run.from_columns(*table.columns).source, empty=grouped.empty)  # type: ignore[type-var,union-attr]
        scanned = scan_run(to_index(judgments), Run(source), protocol)
        blocks = scanned.blocks
        expected = {
            int(row): (int(rank), int(above), int(tied))
            for row, rank, above, tied in zip(blocks.row, blocks.rank, blocks.above, blocks.tied, strict=True)
        } | {-1 - int(query): (int(count),) for query, count in zip(blocks.query, blocks.count, strict=True)}

        assert to_ranks(parts, number) == expected
        assert sum(part.scans(len(PROTOCOLS))[number].rows for part in parts) == len(table)
    assert {name for part in parts for name in part.about.unjudged} == {q for q, _, _ in rows} - {*QRELS}
    assert sum(part.about.self_matches[1] for part in parts) == 2


@pytest.fixture
def piece(tmp_path: Path) -> Piece:
    """Return the second half of a file with two row groups."""
    path = tmp_path / "a b.parquet"
    table = pa.table({"qid": ["q1", "q1", "q2"], "doc": ["d1", "d2", "d3"], "s": [1.0, 2.0, 3.0]})
    pq.write_table(table, path, row_group_size=2)
    return Piece(path.as_uri(), 1, 2)


COLUMNS = {"query": "qid", "document": "doc", "score": "s"}
TYPES = {"query": "string", "document": "string", "score": "double"}
TASK = [pa.record_batch([pa.array([0])], names=["id"])]


def test_a_piece_of_a_file_is_read_with_the_rows_of_its_file(piece: Piece) -> None:
    """The third row is the only one of the second half."""
    files = Files(Broadcast([[piece]]), COLUMNS, TYPES)
    (table,) = files.read(iter(TASK))

    assert table.to_pydict() == {"query": ["q2"], "document": ["d3"], "score": [3.0], "place": [2]}
    assert str(files.locate(table)(2)).endswith(", row 3")


def test_only_wanted_queries_are_read(piece: Piece) -> None:
    """Row groups without any are passed over."""
    whole = Broadcast([[piece._replace(part=0, parts=1)]])
    tables = list(Files(whole, COLUMNS, TYPES, frozenset(["q2"])).read(iter(TASK)))

    assert [table["document"].to_pylist() for table in tables] == [["d3"]]


@pytest.mark.parametrize(
    ("columns", "types"),
    [
        (COLUMNS, TYPES | {"score": "float"}),
        (COLUMNS | {"score": "rank"}, TYPES),
    ],
)
def test_a_column_that_spark_reads_otherwise_is_left_to_spark(
    piece: Piece, columns: dict[str, str], types: dict[str, str]
) -> None:
    """Another type, or a name that the file has not; the task says so in place of failing."""
    _, job = make_job()
    for task in (reduce, lambda *how: spread(*how, [0])):
        (part,) = decode(task(job, Files(Broadcast([[piece]]), columns, types))(iter(TASK)))

        assert part.faults.unreadable is not None
        assert "a b.parquet cannot be read" in part.faults.unreadable
