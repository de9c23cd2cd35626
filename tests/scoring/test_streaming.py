"""Streaming: a run read in blocks scores as the run read at once, to the last bit, and takes the memory of a block."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

import judged
from judged.cli.main import judged as command
from judged.errors import BadInput, UnknownName, Unreadable, WrongKind
from judged.io import open as opening, stream
from judged.scoring import streaming

Row = tuple[str, str, float]
MEASURES = ["nDCG@10", "AP", "RR", "Bpref", "R@5", "infAP", "ERR@10", "num_ret", "gm_AP"]
DIGITS = st.integers(0, 4).map(float)
ROWS = st.lists(st.tuples(st.sampled_from(["q1", "q2", "q3", "é", "q9"]), st.integers(0, 30)), unique=True)


def make_rows(queries: int = 40, depth: int = 50, seed: int = 0) -> list[Row]:
    """Return rows of a run, with many ties."""
    rng = random.Random(seed)  # noqa: S311 - a fixed seed
    return [
        (f"q{query}", f"d{document}", float(rng.randint(0, 20)))
        for query in range(2, queries)
        for document in rng.sample(range(150), depth)
    ]


def make_qrels(queries: int = 30, seed: int = 1) -> dict[str, dict[str, int]]:
    """Return judgments; two queries are missing from the run, ten of the run are unjudged."""
    rng = random.Random(seed)  # noqa: S311 - a fixed seed
    return {
        f"q{query}": {f"d{document}": rng.randint(-1, 3) for document in rng.sample(range(150), 15)}
        for query in range(queries)
    }


def write_text(rows: list[Row], path: Path, opener: Callable[..., Any] = open) -> Path:
    """Write a TREC run, by default plain."""
    with opener(path, "wb") as file:
        file.write(
            "".join(f"{query} Q0 {document} 1 {score!r} x\n" for query, document, score in rows).encode()
        )
    return path


def write_zstd(rows: list[Row], path: Path) -> Path:
    """Write a TREC run, compressed with zstd."""
    return write_text(rows, path, lambda place, _: pa.CompressedOutputStream(str(place), "zstd"))


def write_parquet(rows: list[Row], path: Path, **others: list[Any]) -> Path:
    """Write a run as a table, in row groups that cut queries."""
    columns = dict(zip(("query", "document", "score"), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns | others), path, row_group_size=333)
    return path


def write_arrow(rows: list[Row], path: Path) -> Path:
    """Write a run as an Arrow file."""
    columns = dict(zip(("query", "document", "score"), map(list, zip(*rows, strict=True)), strict=True))
    with pa.ipc.new_file(str(path), pa.table(columns).schema) as writer:
        writer.write_table(pa.table(columns), max_chunksize=100)
    return path


WRITERS = {
    "run.trec": write_text,
    "run.trec.gz": lambda rows, path: write_text(rows, path, gzip.open),
    "run.trec.zst": write_zstd,
    "run.parquet": write_parquet,
    "run.arrow": write_arrow,
}


@pytest.fixture(params=WRITERS)
def form(request: pytest.FixtureRequest) -> str:
    """Return the name of a file in each format that is streamed."""
    return str(request.param)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut small files into many blocks."""
    shrink(monkeypatch)


def shrink(monkeypatch: pytest.MonkeyPatch, rows: int = 130) -> None:
    """Make blocks small."""
    monkeypatch.setattr(stream, "BLOCK_ROWS", rows)
    monkeypatch.setattr(streaming, "BLOCK_ROWS", rows)
    monkeypatch.setattr(stream, "BATCH_ROWS", max(rows // 4, 1))
    monkeypatch.setattr(stream, "BLOCK_BYTES", rows * 20)
    monkeypatch.setattr(opening, "CHUNK", max(rows * 5, 1))


def assert_same(found: judged.Evaluation, expected: judged.Evaluation, *, spilled: bool = False) -> None:
    """Assert that two evaluations have the same values to the last bit, and the same notes."""
    notes = {note.message for note in found.notes} - {note.message for note in expected.notes}

    assert found.scores.queries.to_pylist() == expected.scores.queries.to_pylist()
    for name, values in expected.scores.values.items():
        assert (found.scores[name] == values).all(), name
    assert found.mean() == expected.mean()
    assert all("collected on disk" in note for note in notes)
    assert bool(notes) == spilled
    assert {note.message for note in expected.notes} <= {note.message for note in found.notes}


def test_a_stream_scores_as_the_file_read_at_once(form: str, tmp_path: Path) -> None:
    """Every format, in blocks that cut row groups and lines: the same values, ranges of ties, counts and notes."""
    path = WRITERS[form](make_rows(), tmp_path / form)
    expected = judged.evaluate(make_qrels(), path, MEASURES, backend="local")
    found = judged.evaluate(make_qrels(), path, MEASURES, backend="streaming")

    assert_same(found, expected)
    assert found.counts == expected.counts
    assert found.tie_range("AP") == expected.tie_range("AP")
    assert found.unjudged_range("nDCG@10") == expected.unjudged_range("nDCG@10")


def test_rows_in_any_order_are_brought_together_on_disk_and_said_so(form: str, tmp_path: Path) -> None:
    """A shuffled run has every query in many blocks."""
    rows = make_rows()
    random.Random(3).shuffle(rows)  # noqa: S311 - a fixed seed
    path = WRITERS[form](rows, tmp_path / form)
    expected = judged.evaluate(make_qrels(), path, MEASURES, backend="local")
    found = judged.evaluate(make_qrels(), path, MEASURES, backend="streaming")

    assert_same(found, expected, spilled=True)
    assert found.counts.interleaved == expected.counts.interleaved
    assert found.counts.unjudged_queries == expected.counts.unjudged_queries
    assert "the rows of 28 queries are far apart" in "\n".join(map(str, found.notes))


@settings(max_examples=40, deadline=None)
@given(
    ids=ROWS,
    scores=st.lists(DIGITS, min_size=200, max_size=200),
    size=st.integers(1, 40),
    protocol=st.sampled_from(
        [
            judged.Protocol(),
            judged.Protocol(ties="document-ascending", precision="float64"),
            judged.Protocol(ties="input-order"),
            judged.Protocol(order="input"),
            judged.Protocol(ties="expected", depth=3),
            judged.Protocol(missing="skip", unjudged="removed"),
            judged.Protocol(self_matches="removed"),
            judged.Protocol(ties="pessimistic", no_relevant="one"),
            judged.Protocol(ties="optimistic", depth=3),
        ]
    ),
    form=st.sampled_from(["run.trec", "run.parquet"]),
)
def test_blocks_of_any_size_change_nothing(
    ids: list[tuple[str, int]],
    scores: list[float],
    size: int,
    protocol: judged.Protocol,
    form: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Grouped or not, under every kind of protocol."""
    rows = [(query, f"d{number}", score) for (query, number), score in zip(ids, scores, strict=False)]
    rows += [("q1", "q1", 2.0), ("q1", "x", 1.0)]
    qrels = {"q1": {"d1": 1, "d2": 2, "q1": 1}, "q2": {"d3": 1, "d30": 0}, "é": {"d5": 2, "d6": -1}}
    path = WRITERS[form](rows, tmp_path_factory.mktemp("run") / form)
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch, size)
        found = judged.evaluate(qrels, path, ["AP", "nDCG@3", "RR"], protocol=protocol, backend="streaming")
    expected = judged.evaluate(qrels, path, ["AP", "nDCG@3", "RR"], protocol=protocol, backend="local")

    assert_same(found, expected, spilled="collected on disk" in str(found.notes))
    assert found.counts.interleaved == expected.counts.interleaved


def test_a_profile_with_several_protocols_is_streamed_under_each(tmp_path: Path) -> None:
    """Measures of ranx have conventions of their own."""
    path = write_text(make_rows(), tmp_path / "run.trec")
    names = ["ndcg@10", "map", "mrr", "precision@5"]
    expected = judged.evaluate(make_qrels(), path, names, protocol="ranx", backend="local")

    assert_same(judged.evaluate(make_qrels(), path, names, protocol="ranx", backend="streaming"), expected)


def test_preferences_are_streamed_too(tmp_path: Path) -> None:
    """The family looks for documents in a run, and that is all a stream needs to know."""
    path = write_parquet(make_rows(), tmp_path / "run.parquet")
    preferences = judged.read_preferences(
        {
            query: {"ann": {doc: float(max(g, 0)) for doc, g in docs.items()}}
            for query, docs in make_qrels().items()
        }
    )
    names = ["prefs_simp", "prefs_pair"]
    expected = judged.evaluate(preferences, path, names, backend="local")

    assert_same(judged.evaluate(preferences, path, names, backend="streaming"), expected)


def test_a_folder_of_shards_is_one_run_and_a_query_may_be_split_over_them(tmp_path: Path) -> None:
    """Cut in the middle of a query, beside a file of another program."""
    rows = make_rows()
    whole = judged.evaluate(make_qrels(), write_parquet(rows, tmp_path / "whole.parquet"), MEASURES)
    for kind, write in (("parquet", write_parquet), ("trec.gz", WRITERS["run.trec.gz"])):
        folder = tmp_path / f"{kind[:4]}-run"
        folder.mkdir()
        (folder / "_SUCCESS").touch()
        for number, cut in enumerate(range(0, len(rows), 777)):
            write(rows[cut : cut + 777], folder / f"part-{number}.{kind}")
        join = (
            kind != "parquet"
        )  # parts of a table are a data set, parts of text are joined when that is asked for
        found = judged.evaluate(make_qrels(), folder, MEASURES, join=join)
        pattern = str(folder / "part-*")

        assert found.mean() == whole.mean()
        assert found.system == folder.name
        assert judged.evaluate(make_qrels(), pattern, MEASURES, join=join).mean() == whole.mean()


def test_several_systems_in_one_data_set_are_scored_in_one_pass(tmp_path: Path) -> None:
    """A column `system`, with the rows of the systems mixed; or a folder for each (`system=…`)."""
    runs = {"bm25": make_rows(seed=5), "dense": make_rows(seed=6)}
    expected = judged.evaluate_many(
        make_qrels(),
        {name: write_parquet(rows, tmp_path / f"{name}.parquet") for name, rows in runs.items()},
        MEASURES,
    )
    together = sorted((row[0], name, row) for name, rows in runs.items() for row in rows)
    mixed = write_parquet(
        [row for *_, row in together], tmp_path / "x.parquet", system=[n for _, n, _ in together]
    )
    for name, rows in runs.items():
        (tmp_path / "hive" / f"system={name}").mkdir(parents=True)
        write_parquet(rows, tmp_path / "hive" / f"system={name}" / "part.parquet")
    for source in (pa.dataset.dataset(mixed), pa.dataset.dataset(tmp_path / "hive", partitioning="hive")):
        found = judged.evaluate_many(make_qrels(), source, MEASURES)

        assert found.to_frame() == expected.to_frame()
    with pytest.raises(BadInput, match=r"holds 2 systems \(bm25 and dense\), expected one"):
        judged.evaluate(make_qrels(), tmp_path / "hive", MEASURES)
    result = judged.compare(make_qrels(), pa.dataset.dataset(mixed), "AP", baseline="bm25")
    assert result.systems == ("bm25", "dense")


def test_a_malformed_row_is_named_by_file_and_row(tmp_path: Path) -> None:
    """All problems are collected, in whichever block they are."""
    rows: list[Any] = make_rows()
    rows[900], rows[1800] = (*rows[900][:2], None), (*rows[1800][:2], float("nan"))
    path = write_parquet(rows, tmp_path / "run.parquet")
    with pytest.raises(BadInput) as caught:
        judged.evaluate(make_qrels(), path, "AP", backend="streaming")

    assert f"{path}, row 901: score is null, expected a number" in str(caught.value)
    assert f"{path}, row 1,801: score is nan, expected a number" in str(caught.value)
    assert caught.value.counts == {"missing-value": 1, "score-nan": 1}


def test_a_row_after_a_file_without_rows_is_named_by_its_own_file(tmp_path: Path) -> None:
    """An empty file has no place, whichever pass reads it."""
    rows: list[Any] = make_rows()
    for number, part in {"0": rows[:500], "1": [], "2": rows[500:], "3": rows[3:4]}.items():
        columns = dict(zip(("query", "document", "score"), map(list, zip(*part, strict=True)), strict=False))
        table = pa.table(columns or {name: [] for name in ("query", "document", "score")})
        schema = pa.schema({"query": pa.string(), "document": pa.string(), "score": pa.float64()})
        pq.write_table(table.cast(schema), tmp_path / f"{number}.parquet")
    with pytest.raises(BadInput, match=r"3\.parquet, row 1.*first at .*0\.parquet, row 4"):
        judged.evaluate(make_qrels(), tmp_path, "AP")
    write_parquet([(*rows[500][:2], None), *rows[501:]], tmp_path / "2.parquet")  # type: ignore[list-item]
    with pytest.raises(BadInput, match=r"2\.parquet, row 1: score is null"):
        judged.evaluate(make_qrels(), tmp_path, "AP")


def test_a_malformed_line_is_named_by_file_and_line(tmp_path: Path) -> None:
    """The same words as those of a file read at once."""
    lines = write_text(make_rows(), tmp_path / "run.trec").read_text().splitlines()
    lines[700], lines[1500] = "q16 Q0 d1", lines[1500].replace(" x", "").rpartition(" ")[0] + " high x"
    (tmp_path / "run.trec").write_text("\n".join(lines) + "\n")
    errors = []
    for backend in ("local", "streaming"):
        with pytest.raises(BadInput) as caught:
            judged.evaluate(make_qrels(), tmp_path / "run.trec", "AP", backend=backend)
        errors.append(str(caught.value))

    assert errors[0] == errors[1]
    assert "run.trec:701: 3 columns, expected 6" in errors[1]


def test_a_document_that_comes_twice_far_apart_is_found(form: str, tmp_path: Path) -> None:
    """The two rows are in different blocks, and meet on disk."""
    rows = make_rows()
    path = WRITERS[form]([*rows, rows[3]], tmp_path / form)
    with pytest.raises(BadInput, match=r"is retrieved again.*first at"):
        judged.evaluate(make_qrels(), path, "AP", backend="streaming")


def test_what_cannot_be_streamed_is_refused_in_words(tmp_path: Path) -> None:
    """CSV is read at once; so are timings; a backend has one of two names."""
    path = tmp_path / "run.csv"
    path.write_text("query,document,score\nq2,d1,1\n")

    assert judged.evaluate({"q2": {"d1": 1}}, path, "RR")["RR"] == 1.0
    with pytest.raises(Unreadable, match="is CSV, which is not read as a stream"):
        judged.evaluate({"q2": {"d1": 1}}, path, "RR", backend="streaming")
    with pytest.raises(WrongKind, match="family timing are not computed on streams"):
        judged.evaluate(None, judged.Timings.from_mapping({"a": [1.0]}), "Latency", backend="streaming")
    with pytest.raises(UnknownName, match="no backend is called `stream`"):
        judged.evaluate({"q2": {"d1": 1}}, path, "RR", backend="stream")  # type: ignore[arg-type]


def test_progress_counts_rows_up_to_as_many_as_there_are_likely_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call has the rows so far, and an estimate of all that ends at the truth."""
    monkeypatch.setattr(streaming, "INTERVAL", 0.0)
    rows = make_rows()
    for form in ("run.parquet", "run.trec"):
        calls: list[tuple[int, int]] = []
        path = WRITERS[form](rows, tmp_path / form)
        judged.evaluate(
            make_qrels(),
            path,
            "AP",
            backend="streaming",
            progress=lambda *call, calls=calls: calls.append(call),
        )

        assert len(calls) > 5
        assert calls[-1] == (len(rows), len(rows))
        assert all(done <= total for done, total in calls)


def test_the_command_streams_folders_and_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`judged score` takes them as runs; `--master` without Spark is a mistake."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bm25").mkdir()
    write_parquet(make_rows(), tmp_path / "bm25" / "part-0.parquet")
    lines = (f"{q} 0 {d} {g}\n" for q, docs in make_qrels().items() for d, g in docs.items())
    (tmp_path / "qrels.txt").write_text("".join(lines))
    arguments = ["score", "qrels.txt", "-m", "AP", "--format", "csv"]
    folder, pattern = (
        CliRunner().invoke(command, [*arguments, run], catch_exceptions=False)
        for run in ("bm25", "bm25/*.parquet")
    )
    refused = CliRunner().invoke(command, [*arguments, "bm25", "--master", "yarn"])

    assert folder.stdout.startswith("system,AP\nbm25,0.")
    assert pattern.stdout == folder.stdout
    assert "has no effect without `--backend spark`" in refused.output


@pytest.mark.parametrize(
    ("arguments", "rate"),
    [(["bm25"], "rows"), (["bm25/0.parquet"], ""), (["bm25/0.parquet", "--backend", "streaming"], "rows")],
)
def test_the_command_shows_rows_per_second_of_whatever_is_streamed(
    arguments: list[str], rate: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is, a small file only on request."""
    from judged.cli import progress

    shown: list[str] = []
    begin = progress.Progress.__init__

    def watch(self: progress.Progress, title: str, **options: Any) -> None:
        shown.append(options["rate"])
        begin(self, title, **options)

    monkeypatch.setattr(progress.Progress, "__init__", watch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bm25").mkdir()
    write_parquet(make_rows(), tmp_path / "bm25" / "0.parquet")
    (tmp_path / "qrels.txt").write_text("q2 0 d1 1\n")
    CliRunner().invoke(command, ["score", "qrels.txt", *arguments], catch_exceptions=False)

    assert shown == [rate]


@pytest.mark.parametrize("backend", ["local", "streaming"])
def test_unjudged_queries_cost_no_more_than_their_rows(backend: Any, tmp_path: Path) -> None:
    """A table of 120,000 queries of five rows, one of them judged: naming the others must not look at all rows again."""
    numbers = range(600_000)
    columns = {
        "query": [f"q{number // 5}" for number in numbers],
        "document": [f"d{number}" for number in numbers],
        "score": [float(-number) for number in numbers],
    }
    pq.write_table(pa.table(columns), tmp_path / "run.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "BLOCK_ROWS", 1 << 20)
        began = process_time()
        found = judged.evaluate({"q0": {"d1": 1}}, tmp_path / "run.parquet", "RR", backend=backend)

    assert process_time() - began < 5  # one; many more where each name takes a look at every row
    assert found["RR"] == 0.5
    assert len(found.counts.unjudged_queries) == 119_999


MEASURE_MEMORY = """
import resource, sys
import judged
judged.evaluate({"q0": {"D1": 1}}, sys.argv[2], "AP", backend="streaming")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
judged.evaluate({f"q{n}": {"D1": 1} for n in range(50)}, sys.argv[1], "AP", backend="streaming", threads=1)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.parametrize("extension", ["parquet", "trec.gz"])
def test_memory_is_that_of_a_block_and_not_of_the_file(extension: str, tmp_path: Path) -> None:
    """Four million rows take little more than half a million, less than they would as columns."""
    peaks = []
    for rows in (1_000_000, 4_000_000):
        path = write_many(tmp_path / f"{rows}.{extension}", rows)
        small = write_many(tmp_path / f"small.{extension}", 1000)
        ended = subprocess.run(
            [sys.executable, "-c", MEASURE_MEMORY, path, small], check=True, capture_output=True, text=True
        )
        peaks.append(float(ended.stdout))

    assert peaks[1] < peaks[0] + 40
    assert peaks[1] < 200


def write_many(path: Path, rows: int) -> Path:
    """Write a run of a thousand rows for each query."""
    import numpy as np
    import pyarrow.compute as pc

    number = np.arange(rows)
    names = [
        pc.binary_join_element_wise(letter, pa.array(values).cast(pa.string()), "")
        for letter, values in (("q", number // 1000), ("DOCUMENT-", number % 100_003))
    ]
    table = pa.table({"query": names[0], "document": names[1], "score": -(number % 1000).astype(np.float64)})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=100_000)
        return path
    columns = [table[name].cast(pa.string()).combine_chunks() for name in table.column_names]
    lines = pc.binary_join_element_wise(columns[0], "Q0", columns[1], "1", columns[2], "x", " ")
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write("\n".join(lines.to_pylist()).encode() + b"\n")
    return path


def test_no_file_of_spilled_rows_grows_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 2 files at a time, 64 queries in any order are split level by level: the largest piece stays near a block."""
    rows = [(f"q{query}", f"d{number}", float(number)) for query in range(64) for number in range(40)]
    random.Random(5).shuffle(rows)  # noqa: S311 - a fixed seed
    path = tmp_path / "scattered.run"
    path.write_text("".join(f"{query} Q0 {document} 0 {score} t\n" for query, document, score in rows))
    qrels = {f"q{query}": {f"d{query % 40}": 1} for query in range(64)}
    pieces: list[int] = []
    group = streaming._group
    monkeypatch.setattr(streaming, "_group", lambda table: (pieces.append(len(table)), group(table))[1])
    expected = judged.evaluate(qrels, path, MEASURES, backend="local")
    for partitions, levels in ((2, 3), (4, 3), (256, 0)):
        monkeypatch.setattr(streaming, "PARTITIONS", partitions)
        monkeypatch.setattr(streaming, "LEVELS", levels)
        pieces.clear()
        found = judged.evaluate(qrels, path, MEASURES, backend="streaming")

        assert_same(found, expected, spilled=True)
        assert sum(pieces) == len(rows)
        if partitions == 4:
            assert max(pieces) < len(rows) / 8
        if partitions == 2:
            assert len(pieces) > 8
