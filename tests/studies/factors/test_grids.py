"""Grids: lists of values become systems, named by what differs, that share what they have in common."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as limits, strategies as st

from judged.errors import BadProtocol
from judged.stats.corrections import holm
from judged.stats.paired_tests import paired_t
from judged.studies.collections.collection import read_collection
from judged.studies.factors.effects import match_systems
from judged.studies.factors.grids import MOST_SYSTEMS, expand_grids
from judged.studies.passages.chunking import chunk_collection
from judged.studies.running.run import run_study
from judged.studies.specification import CollectionSpec, read_study
from judged.studies.stages.chunkers import SentenceChunks, WordChunks
from support.studies import DOCUMENTS, QUERIES, own

WORDS = {"name": "words", "search": {"type": "bm25", "k1": [0.9, 1.2], "b": [0.4, 0.75]}}


def names(*systems: dict[str, Any]) -> list[str]:
    """Return the names of the systems of a study."""
    return [system.name for system in read_study({"collection": "demo", "systems": list(systems)}).systems]


def test_a_list_where_one_setting_is_expected_is_a_factor() -> None:
    """Every combination is a system, named by its values."""
    spec = read_study({"collection": "demo", "systems": [WORDS]})

    assert [system.name for system in spec.systems] == [
        *(
            "words (k1=0.9, b=0.4)",
            "words (k1=0.9, b=0.75)",
            "words (k1=1.2, b=0.4)",
            "words (k1=1.2, b=0.75)",
        )
    ]
    assert [(system.search.k1, system.search.b) for system in spec.systems] == [  # type: ignore[union-attr]
        *((0.9, 0.4), (0.9, 0.75), (1.2, 0.4), (1.2, 0.75))
    ]
    assert spec.systems[1].factors == {"k1": "0.9", "b": "0.75"}
    assert {system.grid for system in spec.systems} == {"words"}


def test_a_list_where_lists_are_expected_is_none() -> None:
    """Rerankers in order stay one system; `grid` makes the list a factor."""
    chain = [{"type": "function", "function": "parts:backwards"}, {"type": "function", "function": "parts:x"}]
    plain = {"name": "plain", "search": "bm25", "rerank": chain}
    grid = {"name": "grid", "search": "bm25", "rerank": {"grid": [chain[0], chain, []]}}

    assert names(plain) == ["plain"]
    assert names(grid) == [
        *("grid (rerank=function)", "grid (rerank=function function=backwards+function function=x)"),
        "grid (rerank=none)",
    ]


def test_stages_are_values_too() -> None:
    """A stage with factors of its own counts once for each of its values."""
    encoders = [{"type": "lsa", "dimensions": [4, 8]}, {"type": "model2vec", "model": "hub/potion"}]
    system = {"name": "topics", "encoder": encoders, "search": ["exact", "faiss-flat"]}

    assert names(system)[::2] == [
        "topics (encoder=lsa, dimensions=4, search=exact)",
        "topics (encoder=lsa, dimensions=8, search=exact)",
        "topics (encoder=model2vec, search=exact)",
    ]


def test_systems_of_grids_are_grids() -> None:
    """A fusion multiplies with its parts; parts that share a grid agree on its values."""
    reranked = {
        "name": "turned",
        "base": "words",
        "rerank": {"type": "function", "function": "parts:backwards"},
    }
    hybrid = {"name": "hybrid", "fuse": {"of": ["turned", "words"], "method": ["rrf", "combsum"]}}
    spec = read_study({"collection": "demo", "systems": [hybrid, reranked, WORDS]})
    hybrids = [system for system in spec.systems if system.grid == "hybrid"]

    assert len(hybrids) == 2 * 4
    assert hybrids[0].name == "hybrid (k1=0.9, b=0.4, method=rrf)"
    for system in hybrids:
        turned, words = (part.partition(" ")[2].strip("()") for part in system.parts)

        assert turned == words
        assert words in system.name


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ({"name": "a", "search": {"type": "bm25", "k1": []}}, "`search.k1`: the list of values is empty"),
        ({"name": "a", "search": {"type": "bm25", "k1": [1.0, 1.0]}}, "`search.k1`: a value occurs twice"),
        ({"name": "a", "search": {"type": "bm25", "k1": [1.0, "x"]}}, "expected `float`, got `str`"),
        (
            {
                "name": "a",
                "search": {"type": "bm25", "k1": list(range(30)), "b": [n / 30 for n in range(30)]},
            },
            f"is a grid of 900 systems, expected {MOST_SYSTEMS} or fewer",
        ),
    ],
)
def test_what_cannot_be_a_factor_is_said_with_its_place(system: dict[str, Any], message: str) -> None:
    """Before anything is built."""
    with pytest.raises(BadProtocol, match=message.replace("(", r"\(")):
        read_study({"collection": "demo", "systems": [system]})


def test_a_baseline_is_one_system() -> None:
    """The name of a grid is refused, with the name of one of its systems."""
    with pytest.raises(BadProtocol, match="a grid of 4 systems") as caught:
        read_study({"collection": "demo", "systems": [WORDS], "baseline": "words"})

    assert caught.value.hint == "for example `words (k1=0.9, b=0.4)`"


def test_a_long_chain_and_a_circle_end() -> None:
    """Neither recursion nor an endless loop: a circle is refused as ever, by its names."""
    chain = [{"name": f"s{n}", "base": f"s{n + 1}"} for n in range(3000)]

    assert len(expand_grids([*chain, {"name": "s3000", "search": "bm25"}], "study")[0]) == 3001
    with pytest.raises(BadProtocol, match="a grid of 504 systems"):
        expand_grids([*chain, {**WORDS, "name": "s3000"}], "study")
    with pytest.raises(BadProtocol, match="in a circle"):
        read_study(
            {"collection": "demo", "systems": [{"name": "a", "base": "b"}, {"name": "b", "base": "a"}]}
        )


@limits(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_a_grid_has_the_product_of_its_factors(sizes: list[int]) -> None:
    """All names differ, and every system has every factor that has more than one value."""
    settings = {f"p{number}": [float(n) for n in range(size)] for number, size in enumerate(sizes)}
    system = {"name": "a", "fuse": {"of": ["x", "y"], "parameters": settings}}
    expanded, _ = expand_grids([system, {"name": "x"}, {"name": "y"}], "study")
    members = [one for one in expanded if one.get("grid") == "a"]  # type: ignore[attr-defined]

    assert len(members) in {int(np.prod(sizes)), 0 if int(np.prod(sizes)) == 1 else -1}
    assert len({one["name"] for one in members}) == len(members)  # type: ignore[index]


def test_a_system_without_counterparts_does_not_count() -> None:
    """Means are over the same values of the other factors, whatever failed."""
    grid = {f"{k}{b}": {"k": k, "b": b} for k in "12" for b in "345" if (k, b) != ("2", "4")}

    assert match_systems(grid, "k") == {"1": ["13", "15"], "2": ["23", "25"]}
    assert match_systems(grid, "b") == {"3": ["13"], "4": ["14"], "5": ["15"]}


@pytest.mark.slow
def test_a_grid_of_24_encodes_each_text_once_for_each_model(desk: Path) -> None:
    """Two encoders, three depths and four fusions: each document and each query reaches each encoder once."""
    pytest.importorskip("bm25s")
    (desk / "counting.py").write_text(
        "import parts\nseen = []\n"
        "def make(name):\n"
        "    def encode(texts):\n"
        "        seen.extend((name, text) for text in texts)\n"
        "        return parts.encode(texts)\n"
        "    return encode\n"
        "first, second = make('first'), make('second')\n"
    )
    encoders = [{"type": "function", "function": f"counting:{name}"} for name in ("first", "second")]
    hybrid = {
        "name": "hybrid",
        "fuse": {"of": ["words", "own"], "method": ["rrf", "combsum", "combmnz", "isr"]},
        "depth": [3, 5, 8],
    }
    systems = [
        {"name": "words", "search": "bm25"},
        {"name": "own", "encoder": encoders, "search": "exact"},
        hybrid,
    ]
    found = run_study({"collection": "pets", "systems": systems, "measures": ["nDCG@5"], "warmup": 0})
    import counting

    counts = Counter(counting.seen)
    texts = [f"{title}\n{text}" if title else text for title, text in DOCUMENTS.values()]

    assert sum(record.grid == "hybrid" for record in found.systems) == 24
    assert {count for (_, text), count in counts.items() if text in texts} == {1}
    assert {count for (_, text), count in counts.items() if text in QUERIES.values()} == {1}
    assert len([text for _, text in counts if text in {*texts, *QUERIES.values()}]) == 2 * (8 + 6)


def test_a_grid_of_24_encodes_each_text_once_for_each_model_and_chunking(desk: Path) -> None:
    """Two encoders, three chunkings and four depths: counted, the few texts that show whether a cache is right among them."""
    (desk / "counting_parts.py").write_text(
        "import parts\nseen = []\n"
        "def make(name):\n"
        "    def encode(texts):\n"
        "        seen.extend((name, text) for text in texts)\n"
        "        return parts.encode(texts)\n"
        "    return encode\n"
        "first, second = make('first'), make('second')\n"
    )
    chunks = [2, 3, {"type": "sentences", "size": 1}]
    system = {
        "name": "grid",
        "encoder": [
            {"type": "function", "function": f"counting_parts:{name}"} for name in ("first", "second")
        ],
        "chunk": chunks,
        "search": "exact",
        "depth": [3, 4, 5, 6],
    }
    found = run_study({"collection": "pets", "systems": [system], "measures": ["nDCG@3"], "warmup": 0})
    import counting_parts

    collection = read_collection(CollectionSpec(folder="pets"))
    specs = [WordChunks(size=2), WordChunks(size=3), SentenceChunks(size=1)]
    chunkings = [set(chunk_collection(collection, spec).collection.texts) for spec in specs]
    counts = Counter(counting_parts.seen)

    assert not found.failures
    assert len(found.systems) == 24
    for name in ("first", "second"):
        for text in set().union(*chunkings) - set(QUERIES.values()):
            assert 1 <= counts[name, text] <= sum(text in texts for texts in chunkings), text
        assert {counts[name, text] for text in set(QUERIES.values()) - set().union(*chunkings)} == {1}


def test_effects_are_paired_means_over_the_other_factors(desk: Path) -> None:
    """Recomputed from the scores of the systems: means, differences, Student's p, Holm over the grid's comparisons."""
    pytest.importorskip("bm25s")
    study = {"collection": "pets", "systems": [WORDS, {"name": "own", "encoder": own(), "search": "exact"}]}
    found = run_study({**study, "measures": ["nDCG@5", "RR"], "test": "t"}, output=desk / "out")
    values = {
        record.name: np.array(list(found[record.name].scores.by_query("nDCG@5").values()))
        for record in found.systems
        if record.grid
    }

    def mean(part: str) -> np.ndarray[Any, Any]:
        return np.mean([value for name, value in values.items() if part in name], axis=0)

    pairs = [(mean("k1=1.2"), mean("k1=0.9")), (mean("b=0.75"), mean("b=0.4"))]
    expected = holm([paired_t(*pair).p for pair in pairs])
    effects = [effect for effect in found.effects if effect.mean.measure == "nDCG@5"]
    contrasts = [effect.contrast for effect in effects if effect.contrast is not None]

    assert [(effect.factor, effect.value, effect.systems) for effect in effects] == [
        *(("k1", "0.9", 2), ("k1", "1.2", 2), ("b", "0.4", 2), ("b", "0.75", 2))
    ]
    assert [contrast.difference for contrast in contrasts] == pytest.approx(
        [float((new - old).mean()) for new, old in pairs]
    )
    assert [contrast.corrected for contrast in contrasts] == pytest.approx(expected)
    assert found.tables()["effects"].num_rows == 2 * 4
    assert any(figure.name == "effects-words" for figure in found.charts())
