"""One test for all engines: what every adapter does, on real data, against exact search."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from judged.errors import EngineFailed, UnknownName, WrongKind
from judged.index.engine import (
    ENGINES,
    Engine,
    Filter,
    IndexSpec,
    Metric,
    Search,
    check_effective,
    complete_settings,
    find_engine,
    list_engines,
)
from support.engines import (
    Digits,
    K,
    Place,
    build,
    find_distances,
    find_recall,
    in_metric,
    open_searcher,
)

EVERY = pytest.mark.parametrize("name", list(ENGINES))


@EVERY
@pytest.mark.parametrize("metric", ["l2", "ip", "cosine", "hamming"])
def test_an_engine_finds_the_neighbours_that_exact_search_finds(
    engine: Engine, metric: Metric, digits: Digits, place: Place
) -> None:
    """Exact engines find the same distances; approximate ones most of the neighbours, at their defaults."""
    if metric not in engine.capabilities.metrics:
        pytest.skip(f"{engine.name} has no {metric}")
    vectors, queries = (in_metric(array, metric) for array in digits)
    build(engine, vectors, place, metric)

    recall = find_recall(open_searcher(engine), queries, find_distances(vectors, queries, metric))

    if engine.capabilities.exact:
        assert recall == 1
    else:
        # signs of pixels, which are never below 0, say little
        coarse = any(word in engine.name for word in ("pq", "rabitq", "coded"))
        assert recall > (0.2 if coarse else 0.8)


@EVERY
def test_an_engine_reports_every_setting_that_was_asked_for(
    engine: Engine, digits: Digits, place: Place
) -> None:
    """What `effective_config` reads back equals what was set, for the index and for the search."""
    asked = build(engine, digits[0], place)
    check_effective(engine, asked)
    for name, setting in engine.query_settings.items():
        for value in setting.values[:2] or (setting.default,):
            query = complete_settings(engine.query_settings, {name: value}, what="query setting")
            engine.searcher(K, query)
            effective = check_effective(engine, {**asked, **query})

            if name not in engine.capabilities.unverified:
                assert effective[name] == value


@EVERY
def test_raising_the_effort_never_loses_much_recall(engine: Engine, digits: Digits, place: Place) -> None:
    """The setting that buys recall with time does so: the most effort finds more than the least."""
    efforts = {name: setting for name, setting in engine.query_settings.items() if setting.effort}
    if not efforts:
        pytest.skip(f"{engine.name} has no setting that trades recall for time")
    vectors, queries = digits
    build(engine, vectors, place)
    distances = find_distances(vectors, queries, "l2")
    for name, setting in efforts.items():
        values = setting.values[0], setting.values[-1]
        least, most = (
            find_recall(open_searcher(engine, **{name: int(value)}), queries, distances) for value in values
        )

        assert least <= most


@EVERY
def test_a_filter_returns_only_what_meets_it(engine: Engine, digits: Digits, place: Place) -> None:
    """Every result of a filtered search has the attribute that was asked for."""
    if not engine.capabilities.filters:
        pytest.skip(f"{engine.name} has no filter")
    vectors, queries = digits
    group = np.arange(len(vectors), dtype=np.int64) % 10
    build(engine, vectors, place, attribute=group)
    for condition in (Filter("group", "<", 3), Filter("group", "==", 7)):
        ids = np.flatnonzero(condition.matches({"group": group}))
        filter_ = Filter(condition.field, condition.operator, condition.value, ids)
        search = open_searcher(engine, filter_)
        found = {int(number) for query in queries for number in search(query) if number >= 0}

        assert found
        assert found <= set(ids.tolist())
        if engine.capabilities.exact:
            distances = find_distances(vectors, queries, "l2")
            distances[:, np.setdiff1d(np.arange(len(vectors)), ids)] = np.inf

            assert find_recall(search, queries, distances) == 1


@EVERY
def test_deleted_vectors_are_not_found_and_inserted_ones_are(
    engine: Engine, digits: Digits, place: Place
) -> None:
    """After a deletion and an insertion, the nearest neighbour of a vector is itself, or gone."""
    if not engine.capabilities.deletes:
        pytest.skip(f"{engine.name} deletes nothing")
    vectors = digits[0]
    build(engine, vectors, place)
    gone = np.arange(0, 200, dtype=np.int64)
    engine.delete(gone)
    search = open_searcher(engine)

    assert not {int(number) for row in gone[:50] for number in search(vectors[row])} & set(gone.tolist())

    engine.insert(gone[:100], vectors[gone[:100]], {})
    engine.finish()
    search = open_searcher(engine)
    assert np.mean([row in {int(number) for number in search(vectors[row])} for row in range(50)]) > 0.9


@EVERY
def test_several_searchers_at_once_find_what_one_finds(engine: Engine, digits: Digits, place: Place) -> None:
    """Each thread has a searcher of its own, and all find neighbours as near as those that one found alone."""
    if not engine.capabilities.concurrent:
        pytest.skip(f"{engine.name} answers one query at a time")
    vectors, queries = digits
    build(engine, vectors, place)
    distances = find_distances(vectors, queries, "l2")

    def run(search: Search) -> list[list[float]]:
        rows = zip(distances, queries, strict=True)
        return [near[[int(number) for number in search(query)]].tolist() for near, query in rows]

    alone = run(open_searcher(engine))
    searches = [open_searcher(engine) for _ in range(4)]
    with ThreadPoolExecutor(len(searches)) as pool:
        assert list(pool.map(run, searches)) == [alone] * len(searches)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in ENGINES
        if "M" in ENGINES[name].build_settings and "code" not in ENGINES[name].build_settings
    ],
)
def test_graphs_with_the_same_settings_find_the_same_share(
    engine: Engine, digits: Digits, place: Place
) -> None:
    """HNSW graphs with M = 16 and ef = 64 are within two points of recall of each other: all find nearly everything."""
    vectors, queries = digits
    built = build(engine, vectors, place)
    recall = find_recall(open_searcher(engine), queries, find_distances(vectors, queries, "l2"))
    settings = {**built, **{name: one.default for name, one in engine.query_settings.items()}}

    assert (settings["M"], settings["ef_construction"], settings["ef"]) == (16, 200, 64)
    assert recall >= 0.98


@pytest.mark.parametrize(
    ("name", "built", "factor"),
    [
        ("faiss-ivf-rabitq", {"full": True, "lists": 16}, 8),
        ("faiss-ivf-pq", {"full": True, "lists": 16, "parts": 8, "bits": 4}, 8),
        ("faiss-hnsw-sq", {"full": True, "code": "SQ4"}, 4),
        ("pgvector-hnsw-coded", {"code": "bit"}, 6),
    ],
)
def test_full_vectors_rank_the_candidates_of_codes_again(
    engine: Engine, built: dict[str, object], factor: int, digits: Digits, place: Place
) -> None:
    """With several times as many candidates recall rises, and the answers are sorted by their true distance."""
    vectors, queries = (array - 8 for array in digits)  # signs say something
    settings = complete_settings(engine.build_settings, built, what="build setting")  # type: ignore[arg-type]
    engine.prepare()
    engine.create(IndexSpec(64, "l2", len(vectors), folder=place.folder, url=place.url), settings)
    engine.insert(np.arange(len(vectors)), vectors, {})
    engine.finish()
    distances = find_distances(vectors, queries, "l2")
    effort = {
        name: 16 if name == "probes" else 128 for name, one in engine.query_settings.items() if one.effort
    }
    alone, again = (
        find_recall(open_searcher(engine, rerank=rerank, **effort), queries, distances)
        for rerank in (1, factor)
    )
    found = np.asarray(open_searcher(engine, rerank=factor, **effort)(queries[0]))

    assert again > alone + 0.02
    assert again > 0.9
    assert (np.diff(distances[0][found]) >= 0).all()
    assert engine.effective_config()["rerank"] == factor


def test_candidates_cannot_be_ranked_by_vectors_that_are_not_kept(digits: Digits, tmp_path: Path) -> None:
    """The error says which build setting keeps them."""
    pytest.importorskip("faiss")
    engine = ENGINES["faiss-ivf-sq"]()
    build(engine, digits[0], Place(tmp_path))
    with pytest.raises(EngineFailed, match="`rerank` is 4, and the full vectors are not kept"):
        open_searcher(engine, rerank=4)


class Mine:
    """An engine of one's own: exact, with two settings that do nothing."""

    def __init__(self, leaves: int = 10) -> None:
        self.leaves = leaves

    def build(self, vectors: NDArray[np.float32]) -> None:
        """Keep the vectors."""
        self.vectors = vectors

    def search(self, query: NDArray[np.float32], k: int, probes: int = 1) -> NDArray[np.int64]:
        """Return the nearest rows."""
        del probes
        return np.argsort(((self.vectors - query) ** 2).sum(axis=1), kind="stable")[:k]


@pytest.mark.parametrize("given", [Mine, Mine(), f"{__name__}:Mine"], ids=["class", "object", "name"])
def test_a_class_with_build_and_search_is_an_engine(given: object, digits: Digits, place: Place) -> None:
    """A class, an object or the name of a class is taken as it is, with its arguments as settings."""
    if isinstance(given, str):
        pytest.importorskip(given.partition(":")[0])
    vectors, queries = digits
    engine = find_engine(given)()
    build(engine, vectors, place)

    assert find_recall(open_searcher(engine), queries, find_distances(vectors, queries, "l2")) == 1
    assert list(engine.query_settings) == ["probes"]


def test_what_is_no_engine_is_refused_in_words() -> None:
    """An unknown name gets a suggestion; an object without the two methods says which is missing."""
    with pytest.raises(UnknownName, match="did you mean `faiss-hnsw`"):
        find_engine("faiss-hnws")
    with pytest.raises(WrongKind, match="has no method `build`"):
        find_engine(object())
    with pytest.raises(UnknownName, match=r"no query setting of hnswlib is called `eff`(.|\n)*`ef`"):
        complete_settings(ENGINES["hnswlib"].query_settings, {"eff": 1}, what="query setting of hnswlib")


class Deaf(find_engine(Mine)):  # type: ignore[misc] # a class made at run time
    """An engine that ignores what it is asked for, and admits it."""

    capabilities = find_engine("exact").capabilities

    def effective_config(self) -> dict[str, int]:
        """Return what it does instead."""
        return {"leaves": 128}


def test_a_setting_that_did_not_take_stops_the_run(tmp_path: Path) -> None:
    """An engine that reports another value than the one asked for fails, with both values in the message."""
    engine = Deaf()
    build(engine, np.eye(8, dtype=np.float32), Place(tmp_path))

    with pytest.raises(EngineFailed, match="`leaves` was set to 10, and the engine reports 128"):
        check_effective(engine, {"leaves": 10})


def test_every_engine_says_what_it_is() -> None:
    """Names are those of the registry; titles and extras are there; every setting is explained."""
    for name in ENGINES:
        engine = ENGINES[name]

        assert engine.name == name
        assert engine.title
        assert bool(engine.extra) == bool(engine.packages)
        assert all(
            setting.help for setting in (*engine.build_settings.values(), *engine.query_settings.values())
        )
    assert {engine.name for engine in list_engines()} >= set(ENGINES)
