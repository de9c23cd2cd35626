"""pgvector on a real PostgreSQL server: filters, settings, plans, connections, and what it says when something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged.errors import EngineFailed
from judged.index.engine import Engine, Filter, IndexSpec, check_effective, complete_settings
from judged.index.engines.pgvector import PgvectorExact, PgvectorHnsw
from support.engines import Digits, K, Place, build, find_distances, find_recall
from support.postgres import PostgresServer

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("pgvector")

FIND_INDEX = "select indexname from pg_indexes where indexdef like '%hnsw%'"


@pytest.fixture
def run(postgres: str) -> Iterator[Callable[..., Any]]:
    """Run a statement as the superuser and return the first value of its answer."""
    with psycopg.connect(postgres, autocommit=True) as connection:

        def execute(statement: str) -> Any:
            cursor = connection.execute(statement)
            return cursor.fetchone()[0] if cursor.description else None

        yield execute


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Return an HNSW index on the server; it is removed afterwards."""
    made = PgvectorHnsw()
    yield made
    made.close()


@pytest.fixture
def place(postgres: str, tmp_path: Path) -> Place:
    """Return the server's address."""
    return Place(tmp_path, postgres)


def search_settings(engine: Engine, **given: int | str) -> dict[str, Any]:
    """Return all query settings, with some of them given."""
    return dict(complete_settings(engine.query_settings, given, what="query setting"))


def connect(address: str, kind: type[Engine] = PgvectorExact) -> None:
    """Connect to a server and make an empty table."""
    engine = kind()
    try:
        settings = complete_settings(engine.build_settings, {}, what="build setting")
        engine.create(IndexSpec(4, "l2", 10, url=address), settings)
    finally:
        engine.close()


def test_a_filter_leaves_fewer_than_k_rows_and_an_iterative_scan_finds_them(
    engine: Engine, digits: Digits, place: Place
) -> None:
    """A tenth of the rows meet the filter: of 64 candidates too few do, unless the scan goes on until there are k."""
    vectors, queries = digits
    group = np.arange(len(vectors), dtype=np.int64) % 10
    build(engine, vectors, place, attribute=group)
    distances = np.where(group == 7, find_distances(vectors, queries, "l2"), np.inf)
    condition = Filter("group", "==", 7, np.flatnonzero(group == 7))
    rows, recall = {}, {}
    for scan in ("off", "strict_order", "relaxed_order"):
        search = engine.searcher(K, search_settings(engine, ef=64, iterative_scan=scan), condition)
        rows[scan] = [len(search(query)) for query in queries]
        recall[scan] = find_recall(search, queries, distances)

    assert min(rows["off"]) < K
    assert recall["off"] < 0.8
    for scan in ("strict_order", "relaxed_order"):
        assert min(rows[scan]) == K
        assert recall[scan] > 0.97


def test_results_come_nearest_first_even_in_relaxed_order(
    engine: Engine, digits: Digits, place: Place
) -> None:
    """A relaxed scan finds rows out of order, and they are sorted before they are returned."""
    vectors, queries = digits
    build(engine, vectors, place, attribute=np.arange(len(vectors), dtype=np.int64) % 10)
    settings = search_settings(engine, ef=10, iterative_scan="relaxed_order")
    search = engine.searcher(K, settings, Filter("group", "<", 2))
    distances = find_distances(vectors, queries, "l2")

    for near, query in zip(distances, queries, strict=True):
        found = near[list(search(query))]
        assert (np.diff(found) >= -1e-4).all()


def test_a_search_that_does_not_use_the_index_is_refused(
    engine: Engine, digits: Digits, place: Place, run: Callable[..., Any]
) -> None:
    """Without its index the planner reads every row, and the message names what it does instead."""
    build(engine, digits[0], place)
    run(f"drop index {run(FIND_INDEX)}")

    with pytest.raises(EngineFailed, match="the planner does not use the index but: Limit, Sort, Seq Scan"):
        engine.searcher(K, search_settings(engine))


def test_an_index_with_another_parameter_than_asked_for_stops_the_run(
    engine: Engine, digits: Digits, place: Place, run: Callable[..., Any]
) -> None:
    """The catalogue is what is compared with the settings, not what was sent."""
    asked = build(engine, digits[0], place)
    run(f"alter index {run(FIND_INDEX)} set (m = 8)")

    with pytest.raises(EngineFailed, match="`M` was set to 16, and the engine reports 8"):
        check_effective(engine, asked)


def test_a_value_out_of_range_is_refused_in_the_words_of_the_server(
    engine: Engine, digits: Digits, place: Place
) -> None:
    """PostgreSQL knows the range of every parameter."""
    build(engine, digits[0], place)

    with pytest.raises(EngineFailed, match=r"refuses 5000 for `hnsw.ef_search`\n.*outside the valid range"):
        engine.searcher(K, search_settings(engine, ef=5000))


def test_half_precision_takes_less_space_and_finds_the_same(digits: Digits, place: Place) -> None:
    """Numbers of 16 bits are stored and indexed as such; recall is within two points."""
    vectors, queries = digits
    recall, size = {}, {}
    for half in (False, True):
        engine = PgvectorHnsw()
        settings = complete_settings(engine.build_settings, {"halfvec": half}, what="build setting")
        engine.create(IndexSpec(64, "l2", len(vectors), url=place.url), settings)
        engine.insert(np.arange(len(vectors)), vectors, {})
        engine.finish()
        search = engine.searcher(K, search_settings(engine))
        recall[half] = find_recall(search, queries, find_distances(vectors, queries, "l2"))
        size[half] = engine.stats().disk or 0
        effective = check_effective(engine, settings)
        engine.close()

        assert effective["halfvec"] is half
    assert recall[True] == pytest.approx(recall[False], abs=0.02)
    assert size[True] < 0.8 * size[False]


def test_the_engine_knows_its_server(
    engine: Engine, digits: Digits, place: Place, postgres_server: PostgresServer
) -> None:
    """Its version, its size on disk and its process are those of the server; closing leaves nothing behind."""
    build(engine, digits[0], place)

    assert engine.version().startswith("pgvector 0.8")
    assert engine.stats().processes == (postgres_server.process,)
    assert (engine.stats().disk or 0) > digits[0].nbytes
    engine.close()
    with psycopg.connect(postgres_server.dsn) as connection:
        count = connection.execute("select count(*) from pg_tables where tablename like 'judged%'").fetchone()
        assert count == (0,)


def test_a_connection_that_is_closed_by_the_server_is_an_error_in_words(
    engine: Engine, digits: Digits, place: Place, run: Callable[..., Any]
) -> None:
    """A query on it fails with the reason that the server gave."""
    build(engine, digits[0], place)
    search = engine.searcher(K, search_settings(engine))
    run(
        "select pg_terminate_backend(pid) from pg_stat_activity where query like 'explain%' and state = 'idle'"
    )

    with pytest.raises(EngineFailed, match=r"the connection was lost\n.*administrator command(.|\n)*hint: "):
        search(digits[1][0])


def test_a_server_that_is_not_there_is_an_error_in_words(tmp_path: Path) -> None:
    """The message has the address without its password, and says what to do; without an address it asks for one."""
    with pytest.raises(EngineFailed, match=r"no server answers(.|\n)*hint: start it") as caught:
        connect(f"host={tmp_path} user=me password=hunter2")

    assert "hunter2" not in str(caught.value)
    with pytest.raises(
        EngineFailed, match="needs the address of a server\n\nhint: --url pgvector-exact=postgresql:"
    ):
        connect("")


def test_a_user_who_is_not_let_in_is_an_error_in_words(postgres: str, run: Callable[..., Any]) -> None:
    """A wrong password, a database that does not exist, and a user who may not create the extension."""
    run("drop database if exists plain")
    run("drop role if exists guest")
    run("create role guest login password 'right'")
    run("create database plain")
    host = postgres.split(maxsplit=1)[0]
    with pytest.raises(EngineFailed, match=r"access is denied\n.*guest(.|\n)*hint: give user and password"):
        connect(f"{host} user=guest password=wrong dbname=postgres")
    with pytest.raises(EngineFailed, match="does not exist"):
        connect(f"{host} user=postgres dbname=nowhere")
    with pytest.raises(
        EngineFailed, match=r"has no extension `vector`(.|\n)*hint: install pgvector on the server"
    ):
        connect(f"{host} user=guest password=right dbname=plain")


def test_an_extension_that_is_too_old_is_refused(postgres: str, run: Callable[..., Any]) -> None:
    """Iterative scans came with 0.8; the message has both versions and how to update."""
    run("drop database if exists old")
    run("create database old")
    address = postgres.replace("dbname=postgres", "dbname=old")
    with psycopg.connect(address) as connection:
        connection.execute("create extension vector")
        connection.execute("update pg_extension set extversion = '0.6.2' where extname = 'vector'")

    with pytest.raises(EngineFailed, match=r"pgvector is 0.6.2, expected 0.8 or later(.|\n)*alter extension"):
        connect(address)


def test_tables_of_killed_benchmarks_are_dropped(
    engine: Engine, place: Place, run: Callable[..., Any], digits: Digits
) -> None:
    """The next benchmark drops a table of ours whose session is gone; neither one in use, nor anybody else's."""
    left, other = "judged_00000000000000aa", "judged_00000000000000bb"
    for name in (left, other):
        run(f"create table {name} (id bigint)")
    run(f"comment on table {left} is 'made by judged index, which drops it'")
    build(engine, digits[0][:50], place)
    used = PgvectorHnsw()
    build(used, digits[0][:50], place)
    tables = "select string_agg(relname, ' ') from pg_class where relname like 'judged%' and relkind = 'r'"
    found = run(tables).split()
    used.close()
    run(f"drop table {other}")

    assert left not in found
    assert other in found
    assert len(found) == 3


def test_a_server_is_measured_as_it_was(postgres: str, digits: Digits) -> None:
    """New clients and a new index in each round; its version is part of the key, and a changed address is too."""
    benchmark = judged.benchmark_index(
        digits[0][:300],
        digits[1][:30],
        engines=["pgvector-hnsw"],
        sweep={"pgvector-hnsw": {"query": {"ef": 40, "iterative_scan": "relaxed_order"}}},
        urls={"pgvector-hnsw": postgres},
        rounds=2,
        repeats=1,
        filters=("0.2",),
        churn=0.1,
    )
    point = benchmark.points[0]

    assert len(point.rounds) == 2
    assert point.recall > 0.9
    assert point.has_cpu
    assert point.measured.query["iterative_scan"] == "relaxed_order"
    assert len(point.subsets) == 7
    assert "PostgreSQL" in PgvectorHnsw.identify(postgres)
    assert "same-server" in {note.code for note in benchmark.notes}
