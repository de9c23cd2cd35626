"""Files are opened wherever they lie, named by what they are called, and known by what they hold."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.feather
import pytest

from judged.errors import JudgedError, MissingExtra, Unreadable
from judged.io.open import KNOWN, DiskFile, File, open_file, split_name
from judged.io.read import kind_of, read_judgments, read_run
from judged.io.sniff import FORMATS, detect
from judged.tables.run import Text
from judged.tables.schema import JUDGMENTS, RUN

NAMES = {field.name: field.names for field in (*RUN.fields, *JUDGMENTS.fields)}

LINE = b"q1 Q0 d1 1 0.5 tag\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("runs/bm25.run", ("bm25", ".run", "")),
        ("dl19.bm25.run.gz", ("dl19.bm25", ".run", ".gz")),
        ("input.uic0301", ("input.uic0301", "", "")),
        ("input.uic0301.gz", ("input.uic0301", "", ".gz")),
        ("qrels.dl19-passage.TXT", ("qrels.dl19-passage", ".txt", "")),
        ("a.parquet", ("a", ".parquet", "")),
        ("a.run.zstd", ("a", ".run", ".zst")),
        ("run", ("run", "", "")),
    ],
)
def test_names_lose_only_extensions_that_are_known(path: str, expected: tuple[str, str, str]) -> None:
    """Runs of TREC are often called `input.NAME`; cutting that would call them all `input`."""
    assert split_name(Path(path)) == expected


def test_every_extension_of_a_format_is_known() -> None:
    """No format has an extension that stays in the name of its tables."""
    extensions = {extension for name in FORMATS for extension in FORMATS[name].extensions}

    assert extensions <= KNOWN


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.run", LINE, "trec"),
        ("a", LINE, "trec"),
        ("a.txt", b"", "trec"),
        ("a.txt", b"query,document,score\nq,d,1\n", "csv"),
        ("a", b"qid\tdocno\tscore\nq\td\t1\n", "csv"),
        ("a.csv", b"anything,at all\n", "csv"),
        ("a.tsv", b"query-id\tcorpus-id\tscore\nq\td\t1\n", "tsv"),
        ("qrels.dev.tsv", b"1\t0\t2\t1\n", "trec"),
        ("run.tsv", b"1\tQ0\t2\t1\t0.5\tx\n", "trec"),
        ("a.tsv", b"1\t2\t3\n", "tsv"),
        ("a.jsonl", b'{"query": "q", "document": "d", "score": 1}\n', "jsonl"),
        ("a.txt", b'{"query": "q", "document": "d", "score": 1}\n', "jsonl"),
        (
            "a.json",
            b'{"query": "q", "document": "d", "score": 1}\n{"query": "r", "document": "d", "score": 1}',
            "jsonl",
        ),
        ("a.json", b'{"q": {"d": 1}}', "json"),
        ("a", b'{\n  "q": {"d": 1}\n}', "json"),
        ("a.json", b'[{"query": "q"}]', "json"),
        ("a.txt", b"PAR1....", "parquet"),
        ("a.txt", b"ARROW1\0\0", "arrow"),
        ("a.txt", b"\xff\xff\xff\xff\x00", "arrow"),
        ("a.parquet", b"junk", "parquet"),
    ],
)
def test_a_format_is_known_by_first_bytes_name_and_first_line(
    name: str, content: bytes, expected: str
) -> None:
    """First bytes win, then the name; a first line decides where names are ambiguous or say nothing."""
    stem, extension, _ = split_name(Path(name))

    assert detect(File(content, name, stem, extension)).name == expected


def test_a_compressed_file_needs_no_extension(here: Path) -> None:
    """Compression is known by the first bytes."""
    (here / "run.txt").write_bytes(gzip.compress(LINE) + gzip.compress(b"q2 Q0 d1 1 0.5 tag\n"))
    run = read_run("run.txt")

    assert run.to_arrow()["query"].to_pylist() == ["q1", "q2"]


def test_a_plain_run_stays_in_its_file(here: Path) -> None:
    """The lines of a run are read when they are scored."""
    (here / "bm25.run").write_bytes(LINE)
    run = read_run(Path("bm25.run"))

    assert isinstance(run.source, Text)
    assert isinstance(run.source.buffer, DiskFile)
    assert run.name == "bm25"


def test_a_mark_at_the_start_is_no_part_of_the_run(here: Path) -> None:
    """The text handed on begins after the mark of UTF-8."""
    (here / "bm25.run").write_bytes(b"\xef\xbb\xbf" + LINE)
    run = read_run("bm25.run")

    assert isinstance(run.source, Text)
    assert bytes(run.source.buffer[:]) == LINE


def test_an_empty_file_is_a_run_without_rows(here: Path) -> None:
    """An empty file cannot be mapped, and is a run all the same."""
    (here / "bm25.run").write_bytes(b"")
    run = read_run("bm25.run")

    assert run.to_arrow().num_rows == 0


def test_a_run_of_many_stretches_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, lines and problems do not depend on how a text is cut."""
    content = b"".join(b"q%d Q0 d%d 1 %d.5 tag\n" % (i // 10, i, i) for i in range(100)) + b"short\n"
    monkeypatch.setattr("judged.io.trec.STRETCH", 64)

    with pytest.raises(JudgedError, match="bytes:101: 1 column, expected 6"):
        read_run(content).to_arrow()
    table = read_run(content.removesuffix(b"short\n")).to_arrow()

    assert table["document"].to_pylist() == [f"d{i}" for i in range(100)]
    assert table["score"].to_pylist() == [i + 0.5 for i in range(100)]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` means standard input, compressed or not."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(LINE))))
    run = read_run("-")

    assert run.name == "stdin"
    assert run.to_arrow()["document"].to_pylist() == ["d1"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read(here: Path) -> None:
    """What cannot be mapped is read: `judged score qrels <(zcat run.gz)` works."""
    os.mkfifo(here / "pipe")
    writer = threading.Thread(target=lambda: (here / "pipe").write_bytes(LINE))
    writer.start()
    run = read_run("pipe", format="trec")
    writer.join()

    assert run.to_arrow()["document"].to_pylist() == ["d1"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read anything")
def test_a_file_that_may_not_be_read_is_reported(here: Path) -> None:
    """The reason of the operating system is passed on."""
    (here / "a.run").write_bytes(LINE)
    (here / "a.run").chmod(0)

    with pytest.raises(Unreadable, match=r"^a\.run cannot be read: permission denied$"):
        read_run("a.run")


def test_an_open_file_is_read_under_its_own_name(here: Path) -> None:
    """Who has opened a file need not open it again."""
    (here / "bm25.run.gz").write_bytes(gzip.compress(LINE))
    with Path("bm25.run.gz").open("rb") as file:
        run = read_run(file)

    assert run.name == "bm25"
    assert run.to_arrow()["document"].to_pylist() == ["d1"]


def test_arrow_streams_and_old_feather_files_are_read(here: Path) -> None:
    """Besides IPC files there are streams, and Feather's first version."""
    table = pa.table({"query": ["q"], "document": ["d"], "score": [0.5]})
    with pa.OSFile("a.arrows", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    pyarrow.feather.write_feather(table, "b.feather", compression="zstd")

    assert [read_run(here / name).to_arrow()["score"].to_pylist() for name in ("a.arrows", "b.feather")] == [
        [0.5]
    ] * 2


def test_results_may_be_nested_in_their_query() -> None:
    """A line of JSONL may hold all results of its query."""
    content = b'{"query": "q1", "results": [{"document": "a", "score": 2}, {"document": "b", "score": 1}]}\n'
    content += (
        b'{"query": "q2", "results": []}\n{"query": "q3", "results": [{"document": "a", "score": 3}]}\n'
    )
    run = read_run(content)

    assert [tuple(row.values()) for row in run.to_arrow().to_pylist()] == [
        ("q1", "a", 2.0),
        ("q1", "b", 1.0),
        ("q3", "a", 3.0),
    ]


def test_predictions_of_mteb_are_unwrapped() -> None:
    """MTEB puts predictions under a subset and a split, beside an account of the model."""
    content = b'{"mteb_model_meta": {"model_name": "m"}, "default": {"test": {"q1": {"d1": 0.5}}}}'
    run = read_run(content)

    assert [tuple(row.values()) for row in run.to_arrow().to_pylist()] == [("q1", "d1", 0.5)]


def test_predictions_of_several_subsets_are_refused() -> None:
    """Which subset is meant cannot be guessed."""
    content = b'{"mteb_model_meta": {}, "en": {"test": {"q1": {"d1": 1}}}, "de": {"test": {"q1": {"d1": 1}}}}'

    with pytest.raises(
        Unreadable, match=r"holds 2 sets of predictions \(en / test, de / test\), expected one"
    ):
        read_run(content)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (LINE, "run"),
        (b"q1 0 d1 1\n", "judgments"),
        (b"# note\nq1 0 d1 1 more\n", "judgments"),
        (b"query,document,score\n", "run"),
        (b"query,document,grade\n", "judgments"),
        (b"query-id\tcorpus-id\tscore\n", "judgments"),
        (b"qid,docno,label,score\n", None),
        (b'{"query": "q", "document": "d", "relevance": 1}\n', "judgments"),
        (b'{"query": "q", "results": [{"document": "d", "score": 1}]}\n', "run"),
        (b'{"q": {"d": 0.5}}', "run"),
        (b'{"q": {"d": 1}}', None),
        (b"", None),
    ],
)
def test_the_kind_of_a_file_is_known_where_it_shows(content: bytes, expected: str | None) -> None:
    """Six columns or a score are a run, four or a grade judgments; where both are possible, nothing is guessed."""
    assert kind_of(content) == expected


def make_beir(folder: Path, *splits: str) -> None:
    """The folder of a BEIR data set with these splits, each judging a document of its own name."""
    (folder / "qrels").mkdir(parents=True)
    for split in splits:
        (folder / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n1\t{split}\t2\n")


def test_the_folder_of_a_beir_data_set_is_its_test_split(here: Path) -> None:
    """Test is taken where it is there; which splits there are is reported if there are several."""
    make_beir(here / "scifact", "test")
    make_beir(here / "nfcorpus", "train", "dev", "test")
    one, many = read_judgments("scifact"), read_judgments("nfcorpus")

    assert (one.name, one.notes, one.table["document"].to_pylist()) == ("scifact", (), ["test"])
    assert many.table["document"].to_pylist() == ["test"]
    assert many.notes == ("of nfcorpus, the split test was taken; there: test, dev, train",)
    assert read_judgments("nfcorpus/qrels/dev.tsv").table["document"].to_pylist() == ["dev"]


def test_a_beir_data_set_without_test_is_its_dev_split(here: Path) -> None:
    """Another split is taken with a note."""
    make_beir(here / "msmarco", "train", "dev")
    judgments = read_judgments(here / "msmarco")

    assert judgments.table["document"].to_pylist() == ["dev"]
    assert judgments.notes == ("of msmarco, the split dev was taken; there: dev, train",)


class TrecQrel(NamedTuple):
    """As ir_datasets declares it."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class GenericScoredDoc(NamedTuple):
    """As ir_datasets declares it."""

    query_id: str
    doc_id: str
    score: float


class Dataset:
    """As much of a data set as is used."""

    def __init__(self, name: str, *, scored: bool = True) -> None:
        self.name = name
        self.scored = scored

    def dataset_id(self) -> str:
        """Its id."""
        return self.name

    def has_qrels(self) -> bool:
        """Whether it has judgments."""
        return True

    def has_scoreddocs(self) -> bool:
        """Whether it has a run."""
        return self.scored

    def qrels_iter(self) -> Any:
        """Its judgments."""
        yield TrecQrel("q1", "d1", 2, "0")

    def scoreddocs_iter(self) -> Any:
        """Its run."""
        yield GenericScoredDoc("q1", "d1", 0.5)


@pytest.fixture
def ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package, as if installed, with two data sets."""
    known = {"toy/test": Dataset("toy/test"), "toy/dev": Dataset("toy/dev", scored=False)}
    package = ModuleType("ir_datasets")
    package.__spec__ = SimpleNamespace()  # type: ignore[assignment] # find_spec asks whether it is there
    package.load = known.__getitem__  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ir_datasets", package)


@pytest.mark.usefixtures("ir_datasets", "here")
@pytest.mark.parametrize("source", ["irds:toy/test", "ir_datasets:toy/test", "toy/test", Dataset("toy/test")])
def test_a_data_set_is_read_by_its_id(source: Any) -> None:
    """With a prefix always, without one where no file is called so."""
    judgments, run = read_judgments(source), read_run(source)

    assert [tuple(row.values()) for row in judgments.table.to_pylist()] == [("q1", "d1", 2.0)]
    assert [tuple(row.values()) for row in run.to_arrow().to_pylist()] == [("q1", "d1", 0.5)]
    assert (judgments.name, run.name) == ("toy/test", "toy/test")


@pytest.mark.usefixtures("ir_datasets")
def test_a_file_wins_over_a_data_set_of_its_name(here: Path) -> None:
    """What lies on disk is what is meant."""
    (here / "toy").mkdir()
    (here / "toy" / "test").write_bytes(b"q1 0 mine 1\n")
    judgments = read_judgments("toy/test")

    assert judgments.table["document"].to_pylist() == ["mine"]


@pytest.mark.usefixtures("ir_datasets", "here")
def test_data_sets_that_are_not_there_are_reported() -> None:
    """An unknown id, and a data set without a run, are mistakes in words."""
    with pytest.raises(Unreadable, match="ir_datasets has no data set `toy/tset`"):
        read_judgments("irds:toy/tset")
    with pytest.raises(Unreadable, match="the data set `toy/dev` has no scored documents"):
        read_run("irds:toy/dev")
    with pytest.raises(Unreadable, match="toy/tset does not exist"):
        read_run("toy/tset")


def test_a_data_set_without_the_package_is_reported_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra that brings the package."""
    monkeypatch.setitem(sys.modules, "ir_datasets", None)

    with pytest.raises(MissingExtra, match="install the extra `ir-datasets`"):
        read_judgments("irds:toy/test")


def test_opening_keeps_the_label_that_the_user_wrote(here: Path) -> None:
    """Messages name the file as it was given, not as it was resolved."""
    (here / "a.run").write_bytes(LINE)

    assert open_file("./a.run").label == "./a.run"
