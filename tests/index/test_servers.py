"""Chroma, Qdrant and Milvus over a connection, and engines with traps of their own; run whole by `make test-engines`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judged.errors import EngineFailed
from judged.index.engine import ENGINES, Engine, Filter, IndexSpec, complete_settings
from judged.net.secrets import hide_secrets
from support.engines import Digits, K, Place, build, find_distances, find_recall, open_searcher
from support.servers import find_free_port

REMOTE = [name for name in ENGINES if ENGINES[name].capabilities.remote and "pgvector" not in name]


@pytest.mark.parametrize("name", REMOTE)
def test_a_server_that_is_not_there_is_an_error_in_words(engine: Engine) -> None:
    """Nothing listens on the port: the message names engine, address and what to do, and hides the password."""
    settings = complete_settings(engine.build_settings, {}, what="build setting")
    address = f"http://me:hunter2@127.0.0.1:{find_free_port()}"

    with pytest.raises(
        EngineFailed, match=rf"`{engine.name}`, server `http://me:\*\*\*@(.|\n)*hint: "
    ) as caught:
        engine.create(IndexSpec(4, "l2", 10, url=address), settings)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", REMOTE)
def test_a_server_needs_an_address(engine: Engine) -> None:
    """Without one, the hint shows what it looks like."""
    settings = complete_settings(engine.build_settings, {}, what="build setting")

    with pytest.raises(
        EngineFailed, match=f"needs the address of a server\n\nhint: --url {engine.name}=http:"
    ):
        engine.create(IndexSpec(4, "l2", 10), settings)


@pytest.mark.parametrize("name", REMOTE)
def test_the_version_is_that_of_the_server(engine: Engine, digits: Digits, place: Place) -> None:
    """A client of one version may speak to a server of another."""
    build(engine, digits[0], place)

    assert engine.version().split()[0] in {"chroma", "qdrant", "milvus"}


@pytest.mark.parametrize("name", ["duckdb-vss"])
def test_duckdb_filters_what_its_index_found(engine: Engine, digits: Digits, place: Place) -> None:
    """Of the k nearest rows a tenth meet the filter, so that fewer than k are returned, for some queries none."""
    vectors, queries = digits
    group = np.arange(len(vectors), dtype=np.int64) % 10
    build(engine, vectors, place, attribute=group)
    distances = np.where(group == 7, find_distances(vectors, queries, "l2"), np.inf)
    search = open_searcher(engine, Filter("group", "==", 7, np.flatnonzero(group == 7)))

    assert min(len(search(query)) for query in queries) < K
    assert find_recall(search, queries, distances) < 0.5


@pytest.mark.parametrize("name", ["duckdb-vss"])
def test_duckdb_reports_the_neighbours_of_its_graph(engine: Engine, digits: Digits, place: Place) -> None:
    """M is read from the statistics of the graph, which no setting of the session can change."""
    settings = complete_settings(engine.build_settings, {"M": 8}, what="build setting")
    engine.create(IndexSpec(64, "l2", 500, folder=place.folder), settings)
    engine.insert(np.arange(500), digits[0][:500], {})
    engine.finish()

    assert engine.effective_config()["M"] == 8


@pytest.mark.parametrize("name", ["duckdb-vss"])
def test_an_extension_for_another_duckdb_is_refused(engine: Engine) -> None:
    """The message has both versions and what to install."""
    with pytest.raises(
        EngineFailed, match=r"duckdb is 9.9.9, and the extension vss is built for 1\.(.|\n)*pip install"
    ):
        engine._find_extension("9.9.9")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["chroma"])
def test_the_effort_of_chroma_is_that_of_its_creation(engine: Engine, tmp_path: Path) -> None:
    """On random vectors a graph made with more candidates finds more: the setting takes where it is made."""
    rng = np.random.default_rng(0)
    vectors, queries = (rng.standard_normal((rows, 48), dtype=np.float32) for rows in (4000, 50))
    distances = find_distances(vectors, queries, "l2")
    found = []
    for ef in (10, 400):
        other = type(engine)()
        asked = complete_settings(other.build_settings, {"M": 8, "ef": ef}, what="build setting")
        folder = tmp_path / str(ef)
        folder.mkdir()
        other.create(IndexSpec(48, "l2", len(vectors), folder=folder), asked)
        other.insert(np.arange(len(vectors)), vectors, {})
        found.append(find_recall(other.searcher(K, {}), queries, distances))
        other.close()

    assert found[0] + 0.2 < found[1]


def test_secrets_of_addresses_are_hidden() -> None:
    """Passwords and keys are replaced, in URLs and in DSNs; the rest stays."""
    assert hide_secrets("https://host:6333?api_key=abc&x=1") == "https://host:6333?api_key=***&x=1"
    assert hide_secrets("dbname=a password='it is' port=1") == "dbname=a password=*** port=1"
    assert hide_secrets("http://127.0.0.1:8000/path") == "http://127.0.0.1:8000/path"
