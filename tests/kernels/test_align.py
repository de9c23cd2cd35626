"""`align` finds the rank of every judged document: both scanners, every way a run can be held, any cuts."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judged.kernels.scan import align as kernel
from judged.kernels.scan.align import (
    RULES,
    Aligned,
    JudgedIndex,
    TieRule,
    align_columns,
    align_mapping,
    align_text,
)
from judged.kernels.scan.compiled import load_compiled
from judged.kernels.scan.strings import Strings

Nested = dict[str, dict[str, float]]

IDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Z", "Cc"]), min_size=1, max_size=12
).filter(lambda name: not name.startswith("#") and not any(c.isspace() for c in name))
SCORES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=True),
    st.decimals(-100, 100, places=6, allow_nan=False).map(float),
)
RUNS = st.dictionaries(IDS, st.dictionaries(IDS, SCORES, min_size=1, max_size=12), max_size=5)


def index_of(judged: dict[str, list[str]]) -> JudgedIndex:
    """The index of some judged documents, queries in the order of their bytes."""
    queries = sorted(judged, key=str.encode)
    documents = [document for query in queries for document in judged[query]]
    rows = np.cumsum([0, *(len(judged[query]) for query in queries)])
    return JudgedIndex(*flat(queries), *flat(documents), rows)


def flat(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Strings as bytes and offsets."""
    raw = [name.encode() for name in names]
    return np.frombuffer(b"".join(raw), np.uint8), np.cumsum([0, *(len(name) for name in raw)])


def names(index: JudgedIndex) -> tuple[list[str], list[str]]:
    """Query ids, and document ids row by row."""
    return (
        Strings.from_offsets(index.query_bytes, index.query_offset).texts(),
        Strings.from_offsets(index.document_bytes, index.document_offset).texts(),
    )


def places(index: JudgedIndex, aligned: Aligned) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Rank, documents above and documents tied by query and document."""
    queries, documents = names(index)
    return {
        (queries[q], documents[aligned.row[i]]): (
            int(aligned.rank[i]),
            int(aligned.above[i]),
            int(aligned.tied[i]),
        )
        for q in range(len(queries))
        for i in range(aligned.offset[q], aligned.offset[q + 1])
    }


def by_definition(
    judged: dict[str, list[str]], run: Nested, ties: TieRule, *, single: bool
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """The same by sorting everything, as the tie rule is stated."""
    answer = {}
    for query, documents in judged.items():
        scores = {doc: as_single(s) if single else s for doc, s in run.get(query, {}).items()}
        listed = list(scores)
        if ties != "input-order":
            listed.sort(key=str.encode, reverse=ties == "document-descending")
        listed.sort(key=lambda doc: -scores[doc])
        for doc in documents:
            if doc in scores:
                above = sum(other > scores[doc] for other in scores.values())
                tied = sum(other == scores[doc] for other in scores.values())
                answer[query, doc] = (listed.index(doc) + 1, above, tied)
    return answer


def as_single(number: float) -> float:
    """The number as float32 holds it."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def text_of(run: Nested) -> bytes:
    """A run as lines of text, scores in full."""
    return "".join(f"{q} Q0 {d} 1 {s!r} tag\n" for q, row in run.items() for d, s in row.items()).encode()


def aligned_in_every_way(index: JudgedIndex, run: Nested, **options: Any) -> Iterator[Aligned]:
    """The alignment of the run held as text, as columns, and as dicts."""
    rows = [(q, d, s) for q, row in run.items() for d, s in row.items()]
    yield align_text(index, np.frombuffer(text_of(run), np.uint8), threads=2, **options)
    yield align_columns(
        index,
        flat([row[0] for row in rows]),
        flat([row[1] for row in rows]),
        np.array([row[2] for row in rows], dtype=np.float64),
        threads=2,
        **options,
    )
    yield align_mapping(*names(index), index.row_offset, run, **options)


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("single", [True, False], ids=["float32", "float64"])
@pytest.mark.usefixtures("implementation")
@settings(max_examples=60, deadline=None)
@given(run=RUNS, data=st.data(), stretch=st.integers(1, 200))
def test_every_rank_is_the_one_that_sorting_everything_gives(
    run: Nested, data: st.DataObject, stretch: int, ties: TieRule, single: bool
) -> None:
    """Text, columns and dicts agree with the definition, wherever the text is cut."""
    judged = {
        query: sorted(set(data.draw(st.lists(st.sampled_from([*row, "absent"]), max_size=6))))
        for query, row in run.items()
    } | {"nobody asked": ["x"]}
    index, expected = index_of(judged), by_definition(judged, run, ties, single=single)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "STRETCH_BYTES", stretch)
        patch.setattr(kernel, "STRETCH_ROWS", stretch)
        found = list(aligned_in_every_way(index, run, ties=ties, single=single))

    for aligned in found:
        assert places(index, aligned) == expected
        assert aligned.retrieved.tolist() == [len(run.get(query, {})) for query in names(index)[0]]
        assert aligned.counts == {}
        assert all(
            (np.diff(aligned.rank[i:j]) > 0).all()
            for i, j in zip(aligned.offset, aligned.offset[1:], strict=False)
        )


@pytest.mark.usefixtures("implementation")
@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.integers(0, 5)), max_size=40),
    stretch=st.integers(1, 400),
)
def test_rows_of_a_query_need_not_be_adjacent(rows: list[tuple[str, int, int]], stretch: int) -> None:
    """Interleaved queries score as if their rows stood together, and are counted."""
    run: Nested = {}
    for query, document, score in rows:
        run.setdefault(query, {}).setdefault(f"d{document}", float(score))
    unique = list({(query, f"d{document}"): None for query, document, _ in rows})
    text = "".join(f"{query} Q0 {doc} 0 {run[query][doc]} t\n" for query, doc in unique).encode()
    judged = {query: [f"d{i}" for i in range(0, 30, 3)] for query in "ab"}
    index = index_of(judged)
    order = [query for query, _ in unique]
    scattered = sum("".join(order).strip("abc".replace(q, "")).strip(q) != "" for q in "ab" if q in order)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "STRETCH_BYTES", stretch)
        found = align_text(index, np.frombuffer(text, np.uint8))

    assert places(index, found) == by_definition(judged, run, "document-descending", single=True)
    assert found.interleaved == scattered
    assert found.unjudged_queries == (("c",) if "c" in order else ())


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("judged", [1, 30, 200])
@pytest.mark.parametrize("kind", ["falling", "tied", "shuffled", "shuffled ties"])
def test_many_judged_documents_are_ranked_like_few(judged: int, kind: str) -> None:
    """Counting and sorting, between which the number of judged documents decides, give the same ranks."""
    rng = np.random.default_rng(7)
    names = [f"d{i:03}" for i in rng.permutation(500)]
    scores = np.sort(rng.random(500))[::-1]
    if "ties" in kind or kind == "tied":
        scores = np.round(scores, 1)
    if "shuffled" in kind:
        rng.shuffle(scores)
    run = {"q": dict(zip(names, scores.tolist(), strict=True))}
    chosen = {"q": sorted(names)[:judged]}
    index = index_of(chosen)

    for found in aligned_in_every_way(index, run):
        assert places(index, found) == by_definition(chosen, run, "document-descending", single=True)


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize(
    ("line", "kind", "detail"),
    [
        (b"q Q0 d1 1 9.0", "few-columns", 5),
        (b"q", "few-columns", 1),
        (b"q Q0 d1 1 high tag", "not-a-number", 4),
        (b"q Q0 d1 1 1_0 tag", "not-a-number", 3),
        (b"q Q0 d1 1 . tag", "not-a-number", 1),
        (b"q Q0 d1 1 1.2.3 tag", "not-a-number", 5),
        (b"q Q0 d1 1 0x1p3 tag", "not-a-number", 5),
        (b"q Q0 d1 1 nan tag", "score-nan", 3),
        (b"q Q0 d0 1 9.0 tag", "repeated-document", 5),
        (b"q Q0 other 1 9.0 tag\nq Q0 other 1 8.0 tag", "repeated-document", 24),
    ],
)
def test_a_bad_line_is_reported_at_its_position(line: bytes, kind: str, detail: int) -> None:
    """Each kind of fault is reported once, with its place and what was found there."""
    text = b"q Q0 d0 1 10.0 tag\n" + line + b"\nq Q0 d9 3 1 tag\n"

    found = align_text(index_of({"q": ["d0", "d1", "d9"]}), np.frombuffer(text, np.uint8))

    assert found.counts == {kind: 1}
    assert [(problem.kind, problem.detail) for problem in found.problems] == [(kind, detail)]
    assert text[: found.problems[0].position].count(b"\n") == line.count(b"\n") + 1


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize(
    "text",
    [
        b"q Q0 d1 1 2.5 tag\nq Q0 d2 2 1.5 tag\n",
        b"q Q0 d1 1 2.5 tag\nq Q0 d2 2 1.5 tag",
        b"q Q0 d1 1 2.5 tag\r\nq Q0 d2 2 1.5 tag\r\n",
        b"\xef\xbb\xbfq Q0 d1 1 2.5 tag\nq Q0 d2 2 1.5 tag\n",
        b"\n  \t\nq\tQ0  d1\x0b1 \x0c2.5 \t tag \n\n# a comment\n  # another\nq Q0 d2 2 +1.5e0 tag\n#",
        b"q Q0 d1 1 2.5 tag with words\nq Q0 d2 2 1.5 tag\n",
    ],
    ids=["plain", "no last line feed", "CRLF", "byte order mark", "any white space", "wide"],
)
def test_layout_changes_no_rank(text: bytes) -> None:
    """White space, line ends, blank lines, comments and further columns do not matter."""
    index = index_of({"q": ["d1", "d2"]})

    found = align_text(index, np.frombuffer(text, np.uint8))

    assert places(index, found) == {("q", "d1"): (1, 0, 1), ("q", "d2"): (2, 1, 1)}
    assert found.counts == {}
    assert found.wide == (1 if b"with words" in text else 0)


@pytest.mark.usefixtures("implementation")
@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200) | st.text("q Q0d1.5e-+\n\r\t#\x00nainf", max_size=120).map(str.encode))
def test_any_bytes_are_aligned_or_refused(data: bytes) -> None:
    """No text, however broken, crashes the scanner; what it could not read is counted."""
    found = align_text(index_of({"q": ["d1"], "Q0": ["1"]}), np.frombuffer(data, np.uint8))

    assert (
        found.rows + sum(found.counts.values()) <= data.count(b"\n") + 1 + found.counts["repeated-document"]
    )


@pytest.mark.usefixtures("implementation")
@settings(max_examples=300, deadline=None)
@given(
    tokens=st.lists(
        st.one_of(
            st.floats(allow_nan=False).map(repr),
            st.from_regex(r"[+-]?[0-9]{1,22}(\.[0-9]{0,24})?", fullmatch=True),
            st.from_regex(r"[+-]?0\.[0-9]{15,19}", fullmatch=True),
        ),
        min_size=2,
        max_size=8,
    ),
    single=st.booleans(),
)
def test_scores_are_read_to_the_last_bit(tokens: list[str], single: bool) -> None:
    """Two scores are tied exactly where Python's reading of them, at the protocol's width, is equal."""
    text = "".join(f"q Q0 d{i} 0 {token} t\n" for i, token in enumerate(tokens)).encode()
    run = {"q": {f"d{i}": float(token) for i, token in enumerate(tokens)}}
    judged = {"q": list(run["q"])}
    index = index_of(judged)

    found = align_text(index, np.frombuffer(text, np.uint8), single=single)

    assert places(index, found) == by_definition(judged, run, "document-descending", single=single)


LINES = st.one_of(
    st.builds(
        "{} Q0 {} {} {} t".format,
        st.sampled_from(["q", "query-2", "é", "stranger"]),
        st.integers(0, 12).map("d{}".format) | st.integers(1, 20).map("x".__mul__),
        st.integers(0, 9),
        SCORES.map(repr) | st.decimals(0, 1000, places=9).map(str),
    ),
    st.lists(
        st.sampled_from(["q", "d1", "Q0", "1", "nan", "1e5", "#", "\x00", "\x1f", "9" * 25]), max_size=8
    ).map("\t".join),
)


@pytest.mark.skipif(load_compiled("_scan") is None, reason="the compiled scanners were not built here")
@settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(LINES, max_size=14),
    feed=st.sampled_from(["\n", "\r\n", "\n\n"]),
    ties=st.sampled_from(RULES),
    single=st.booleans(),
    stretch=st.sampled_from([1, 40, 1 << 20]),
)
def test_both_scanners_say_the_same_of_any_text(
    lines: list[str], feed: str, ties: TieRule, single: bool, stretch: int
) -> None:
    """Sound or faulty, cut or whole: the same ranks, or the same faults."""
    index = index_of({"q": ["d1", "d3", "xx"], "query-2": ["d1", "x" * 9], "é": ["d2"]})
    text = np.frombuffer(feed.join(lines).encode(), np.uint8)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "STRETCH_BYTES", stretch)
        quick = align_text(index, text, ties=ties, single=single)
        patch.setenv("JUDGED_COMPILED", "0")
        plain = align_text(index, text, ties=ties, single=single)

    assert quick.counts == plain.counts
    if not quick.counts:
        assert places(index, quick) == places(index, plain)
        assert (quick.unjudged_queries, quick.rows, quick.infinite) == (
            plain.unjudged_queries,
            plain.rows,
            plain.infinite,
        )
        assert (quick.interleaved, quick.wide) == (plain.interleaved, plain.wide)
        assert (quick.retrieved == plain.retrieved).all()


def test_documents_with_colliding_hashes_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash only finds candidates: with one hash for all, every rank and every repetition stays right."""
    monkeypatch.setenv("JUDGED_COMPILED", "0")
    monkeypatch.setattr(Strings, "hashes", property(lambda self: np.zeros(len(self), dtype=np.uint64)))
    run = {"q": {f"d{i}": float(i % 5) for i in range(20)}}
    judged = {"q": ["d3", "d11", "d19", "absent"]}
    index = index_of(judged)
    twice = np.frombuffer(b"q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n", np.uint8)

    found = align_text(index, np.frombuffer(text_of(run), np.uint8))
    refused = align_text(index, twice)

    assert places(index, found) == by_definition(judged, run, "document-descending", single=True)
    assert found.counts == {}
    assert [(problem.kind, problem.position, problem.detail) for problem in refused.problems] == [
        ("repeated-document", 31, 5)
    ]


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("stretch", [1, 1 << 20])
def test_what_is_not_scored_is_not_searched_for_repetitions(
    stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document twice in an unjudged query changes no number, wherever the text is cut."""
    monkeypatch.setattr(kernel, "STRETCH_BYTES", stretch)
    text = b"stranger Q0 d 1 2 t\nstranger Q0 d 2 1 t\nq Q0 d 1 1 t\nstranger Q0 d 3 0 t\n"

    found = align_text(index_of({"q": ["d"]}), np.frombuffer(text, np.uint8))

    assert found.counts == {}
    assert found.unjudged_queries == ("stranger",)
