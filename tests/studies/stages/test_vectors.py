"""Vectors: encoded once, cached by content, checked before anything is searched."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

from judged.errors import Unreadable
from judged.studies.stages.clock import Clock
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.stage import Query, StageFailed
from judged.studies.stages.vectors import VectorCache, _make_key, encode_collection
from support.pipelines import TEXTS, make_collection

COUNTED: list[str] = []
"""Texts that were encoded, documents and queries, since a test began."""


@pytest.fixture(autouse=True)
def _forget() -> None:
    COUNTED.clear()


class Counting(EncoderSpec, tag="counting", frozen=True, kw_only=True):
    """Vectors of the length of a text; queries are marked by their second number."""

    scale: float = 1.0
    identity_: str = "model"
    fitted: ClassVar[bool] = False

    def load(self, documents: Sequence[str]) -> Any:
        """Return the encoder."""
        del documents
        return CountingEncoder(self)


class FittedCounting(Counting, tag="fitted", frozen=True, kw_only=True):
    """The same, fitted to the documents."""

    fitted: ClassVar[bool] = True


class CountingEncoder:
    """Counts what it encodes; `spoil` changes what it returns."""

    dimensions, untrained = 2, False
    spoil: ClassVar[Callable[[Any], Any]] = staticmethod(lambda found: found)

    def __init__(self, spec: Counting) -> None:
        self.spec, self.identity = spec, {"model": spec.identity_}

    def encode_documents(self, texts: Sequence[str]) -> Any:
        """Return the length of each text."""
        COUNTED.extend(texts)
        return self.spoil(np.array([[len(text) * self.spec.scale, 0.0] for text in texts]))

    def encode_query(self, text: str) -> Any:
        """Return the length of the text, marked."""
        COUNTED.append(text)
        return self.spoil(np.array([len(text) * self.spec.scale, 1.0]))


def embed(space: Any, text: str, sample: int = 0) -> tuple[list[float], dict[str, int]]:
    """Return the vector of a query and the times that its clock has."""
    query = Query("q", text, Clock(), sample)
    return space.embed(query).tolist(), query.clock.stop()


def test_a_second_run_compares_a_few_documents_and_encodes_the_queries(tmp_path: Path) -> None:
    """In another process too: the file has the documents, while the times of queries belong to a run."""
    collection = make_collection([f"text {number}" for number in range(20)])
    first = encode_collection(Counting(), collection, VectorCache(tmp_path / "cache"))
    embed(first, "a query")
    assert [*collection.texts, "a query"] == COUNTED
    COUNTED.clear()
    second = encode_collection(Counting(), collection, VectorCache(tmp_path / "cache"))
    vector, _ = embed(second, "a query")

    assert len(COUNTED) == 3 + 1
    assert set(COUNTED[:3]) < set(collection.texts)
    assert vector == [7, 1]
    assert (second.documents == first.documents).all()
    assert (second.cached, second.seconds, second.encoded_queries) == (20, 0.0, 1)
    assert abs(second.made - time.time()) < 60
    assert "vectors of 20 texts are cached ones, the oldest of 2" in second.notes()[0]


@pytest.mark.parametrize("factor", [1.01, -1.0])
def test_a_model_that_changed_unseen_encodes_everything_again(
    factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind the same settings: its vectors of a few texts differ from those in the cache, which are replaced."""
    cache, collection = VectorCache(), make_collection(["one", "three"])
    encode_collection(Counting(), collection, cache)
    monkeypatch.setattr(CountingEncoder, "spoil", staticmethod(lambda found: found * factor))
    changed = encode_collection(Counting(), collection, cache)
    again = encode_collection(Counting(), collection, cache)

    assert changed.changed
    assert changed.cached == 0
    assert any("all documents were encoded again" in note for note in changed.notes())
    assert changed.documents[:, 0] == pytest.approx([3 * factor, 5 * factor])
    assert (again.documents == changed.documents).all()
    assert not again.changed


def test_rounding_is_no_change_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last bits of a vector may depend on the texts that are encoded with it."""
    cache, collection = VectorCache(), make_collection(["one", "three"])
    encode_collection(Counting(), collection, cache)
    monkeypatch.setattr(CountingEncoder, "spoil", staticmethod(lambda found: found * (1 + 1e-5)))

    assert not encode_collection(Counting(), collection, cache).changed


def test_a_fresh_start_takes_nothing_from_the_cache() -> None:
    """And leaves its own vectors there."""
    cache, collection = VectorCache(), make_collection(["one", "three"])
    encode_collection(Counting(), collection, cache)
    COUNTED.clear()

    assert encode_collection(Counting(), collection, cache, fresh=True).cached == 0
    assert COUNTED == ["one", "three"]


def test_only_what_changed_is_encoded_again() -> None:
    """A changed text, and those that are new; the order of documents and their ids do not matter."""
    cache = VectorCache()
    encode_collection(Counting(), make_collection(["one", "two", "three"]), cache)
    COUNTED.clear()
    space = encode_collection(Counting(), make_collection(["three", "one", "two!", "four"]), cache)

    assert sorted(COUNTED[:2]) == ["one", "three"]  # compared with what is cached
    assert COUNTED[2:] == ["two!", "four"]
    assert space.documents[:, 0].tolist() == [5, 3, 4, 4]
    assert space.cached == 2


def test_equal_texts_are_encoded_once() -> None:
    """Each document has its row."""
    space = encode_collection(Counting(), make_collection(["one", "one", "three"]), VectorCache())

    assert COUNTED == ["one", "three"]
    assert space.documents[:, 0].tolist() == [3, 3, 5]


@pytest.mark.parametrize("other", [Counting(scale=2), Counting(identity_="changed")])
def test_other_settings_or_another_model_have_vectors_of_their_own(other: Counting) -> None:
    """And those of the first stay."""
    cache, collection = VectorCache(), make_collection(["one", "two"])
    encode_collection(Counting(), collection, cache)
    COUNTED.clear()
    encode_collection(other, collection, cache)
    assert COUNTED == ["one", "two"]

    assert encode_collection(Counting(), collection, cache).cached == 2


def test_the_size_of_a_batch_is_no_setting_of_vectors() -> None:
    """It may be changed without encoding anything again."""
    cache, collection = VectorCache(), make_collection(["one", "two", "three"])
    encode_collection(Counting(batch=1), collection, cache)

    assert encode_collection(Counting(batch=2), collection, cache).cached == 3


def test_a_fitted_encoder_depends_on_all_documents() -> None:
    """One changed document changes the vectors of all."""
    cache = VectorCache()
    encode_collection(FittedCounting(), make_collection(["one", "two"]), cache)
    COUNTED.clear()
    encode_collection(FittedCounting(), make_collection(["one", "two!"]), cache)

    assert COUNTED == ["one", "two!"]


def test_a_text_is_one_thing_as_a_query_and_another_as_a_document() -> None:
    """Models with prefixes encode it differently: neither takes the place of the other."""
    cache, collection = VectorCache(), make_collection(["same text", "other"])
    space = encode_collection(Counting(), collection, cache)
    assert embed(space, "same text")[0] == [9, 1]
    assert embed(space, "same text", sample=-1)[0] == [9, 1]
    again = encode_collection(Counting(), collection, cache)

    assert again.documents.tolist() == [[9, 0], [5, 0]]
    assert embed(again, "same text")[0] == [9, 1]


def test_a_killed_job_keeps_the_batches_that_were_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was encoded is written, whatever ends the job."""
    cache, collection = VectorCache(), make_collection(["one", "two", "three"])

    def die(found: Any) -> Any:
        if len(COUNTED) == 3:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(CountingEncoder, "spoil", staticmethod(die))
    with pytest.raises(KeyboardInterrupt):
        encode_collection(Counting(batch=1), collection, cache)
    monkeypatch.undo()

    assert encode_collection(Counting(batch=1), collection, cache).cached == 2


def test_progress_counts_texts_to_the_last() -> None:
    """Cached ones included."""
    cache, said = VectorCache(), []
    encode_collection(Counting(), make_collection(["one"]), cache)
    encode_collection(
        Counting(batch=2),
        make_collection(["one", "two", "three", "four"]),
        cache,
        lambda *what: said.append(what),
    )

    assert said == [(3, 4, "encoding documents"), (4, 4, "encoding documents")]


def test_the_time_of_a_query_is_measured_once_in_a_pass() -> None:
    """Another system that encodes it has the same time, added to stage and total; the next pass measures again."""
    space = encode_collection(Counting(), make_collection(), VectorCache())
    space._known["a query", (), "", 0] = np.array([7.0, 1.0], dtype=np.float32), 5_000_000_000, []
    _, times = embed(space, "a query")
    assert times["embedding"] == 5_000_000_000
    assert times["total"] >= 5_000_000_000
    assert list(TEXTS) == COUNTED
    _, times = embed(space, "a query", sample=1)

    assert 0 < times["embedding"] < 1_000_000_000
    assert [*TEXTS, "a query"] == COUNTED


def test_the_warm_up_is_neither_timed_nor_kept() -> None:
    """The first pass encodes the query again."""
    space = encode_collection(Counting(), make_collection([TEXTS[0]]), VectorCache())
    embed(space, "a query", sample=-1)
    embed(space, "a query", sample=0)

    assert [TEXTS[0], "a query", "a query"] == COUNTED


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda found: np.where(found == 3, np.nan, found), "returned NaN for document `d1`"),
        (lambda found: np.where(found == 3, np.inf, found), "returned infinity for document `d1`"),
        (lambda found: found[:-1], r"shape \(1, 2\) for 2 documents from `d0` on, expected \(2, 2\)"),
        (lambda found: found[:, :1], r"shape \(2, 1\) for 2 documents from `d0` on"),
        (lambda found: found[0], r"shape \(2,\) for 2 documents"),
    ],
)
def test_bad_vectors_of_documents_are_refused_and_not_cached(
    spoil: Callable[[Any], Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the document, or the batch."""
    cache, collection = VectorCache(), make_collection(["one!", "two"])
    monkeypatch.setattr(CountingEncoder, "spoil", staticmethod(spoil))
    with pytest.raises(StageFailed, match=message):
        encode_collection(Counting(), collection, cache)
    monkeypatch.undo()

    assert encode_collection(Counting(), collection, cache).cached == 0


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda found: found * np.nan, "returned NaN for the query `a query`"),
        (lambda found: found[:1], r"shape \(1,\) for a query, expected \(2,\) as for documents"),
        (lambda found: found[None], r"shape \(1, 2\) for a query"),
        (lambda found: found.no_such, "the encoder failed: AttributeError"),
    ],
)
def test_bad_vectors_of_queries_are_errors_of_the_stage_embedding(
    spoil: Callable[[Any], Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever stage asked for them."""
    space = encode_collection(Counting(), make_collection(), VectorCache())
    monkeypatch.setattr(CountingEncoder, "spoil", staticmethod(spoil))

    with pytest.raises(StageFailed, match=message) as caught:
        embed(space, "a query")
    assert caught.value.stage == "embedding"


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"123",
        msgspec.msgpack.encode((b"123", 0)),
        msgspec.msgpack.encode((b"", 0)),
        msgspec.msgpack.encode((np.ones(5, dtype="<f4").tobytes(), 0)),
        msgspec.msgpack.encode((np.array([np.nan, 1], dtype="<f4").tobytes(), 0)),
        *(msgspec.msgpack.encode((np.ones(2, dtype="<f4").tobytes(), made)) for made in (None, [5], "x")),
        msgspec.msgpack.encode((np.ones(2, dtype="<f4").tobytes(), 5))[:-1],
    ],
)
def test_a_damaged_row_is_encoded_again(value: bytes, tmp_path: Path) -> None:
    """That of one document."""
    path, collection = tmp_path / "cache", make_collection(["one", "two", "three"])
    space = encode_collection(Counting(), collection, VectorCache(path))
    whole = space.documents
    with sqlite3.connect(path) as database:
        changed = database.execute(
            "UPDATE entries SET value = ? WHERE key = ?", [value, _make_key(space.key, "two")]
        )
        assert changed.rowcount == 1
    database.close()
    again = encode_collection(Counting(), collection, VectorCache(path))

    assert again.cached == 2
    assert (again.documents == whole).all()


def test_a_file_that_is_no_database_is_an_error_in_words(tmp_path: Path) -> None:
    """With the file and what to do; nothing is removed."""
    (tmp_path / "cache").write_bytes(b"something else entirely, and long enough " * 100)

    with pytest.raises(Unreadable, match="cannot be used") as caught:
        VectorCache(tmp_path / "cache")
    assert str(tmp_path / "cache") in str(caught.value)
    assert (tmp_path / "cache").stat().st_size == 4100


def test_a_database_that_is_damaged_later_is_an_error_in_words(tmp_path: Path) -> None:
    """Pages overwritten in the middle."""
    path, collection = tmp_path / "cache", make_collection([f"text {at}" for at in range(2000)])
    cache = VectorCache(path)
    encode_collection(Counting(batch=500), collection, cache)
    cache.close()
    data = bytearray(path.read_bytes())
    data[8192 : len(data) - 4096] = b"\xff" * (len(data) - 12288)
    path.write_bytes(bytes(data))

    with pytest.raises(Unreadable, match="cannot be used"):
        encode_collection(Counting(), collection, VectorCache(path))


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    """Neither waits in vain, and both find what the other has written."""
    code = (
        "import sys; from pathlib import Path; import numpy as np; "
        "from judged.studies.stages.vectors import CachedVector, VectorCache; "
        "cache = VectorCache(Path(sys.argv[1])); "
        "[cache.add(b'space', {f'{sys.argv[2]} {at}': CachedVector(np.full(2, at, np.float32))}) for at in range(200)]"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, tmp_path / "cache", name]) for name in ("one", "two")
    ]
    assert [process.wait(60) for process in processes] == [0, 0]
    texts = [f"{name} {at}" for name in ("one", "two") for at in range(200)]

    assert len(VectorCache(tmp_path / "cache").find(b"space", texts)) == 400


def test_a_plan_counts_what_is_cached_without_loading_a_model() -> None:
    """By the settings with which an encoder was loaded last."""
    cache, collection = VectorCache(), make_collection(["one", "two"])
    assert cache.count(Counting(), collection.texts) == 0
    encode_collection(Counting(), collection, cache)

    assert cache.count(Counting(), [*collection.texts, "new"]) == 2
    assert cache.count(Counting(scale=2), collection.texts) == 0


def test_texts_of_any_kind_have_keys(tmp_path: Path) -> None:
    """Half a surrogate pair, nothing, and more texts than are looked up at a time."""
    texts = ["\ud800", "", "🦜", *(f"text {at}" for at in range(1200))]
    cache = VectorCache(tmp_path / "cache")
    encode_collection(Counting(batch=400), make_collection(texts), cache)

    assert len(cache.find(encode_collection(Counting(), make_collection(texts), cache).key, texts)) == 1203


def test_a_collection_without_documents_is_an_error() -> None:
    """Before a model is loaded."""
    with pytest.raises(StageFailed, match="the collection `small` has no documents"):
        encode_collection(Counting(), make_collection([]), VectorCache())
