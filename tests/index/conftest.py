"""What tests of index benchmarks share: a cache of their own, vectors, and engines with the servers that they need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from judged.index.engine import ENGINES, Engine
from support.engines import Digits, Place
from support.qdrant_stub import run_qdrant_stub
from support.servers import run_chroma

SERVERS = {
    "pgvector": "postgres",
    "chroma": "chroma_server",
    "milvus": "milvus_server",
    "qdrant": "qdrant_stub",
}
"""The fixture with the address of the server, for each extra whose engines need one."""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep exact neighbours out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGED_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(scope="session")
def vectors() -> NDArray[np.float32]:
    """Return 1,200 vectors in 40 clusters."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((40, 16)) * 2
    found: NDArray[np.float32] = (
        centres[rng.integers(0, 40, 1200)] + rng.standard_normal((1200, 16))
    ).astype(np.float32)
    return found


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder for results."""
    return tmp_path / "results"


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chroma server, run by the command that the package brings."""
    with run_chroma(tmp_path_factory.mktemp("chroma")) as address:
        yield address


@pytest.fixture(scope="session")
def milvus_server() -> str:
    """The address of a Milvus server that JUDGED_MILVUS_URL names: the packaged one listens on every interface."""
    address = os.environ.get("JUDGED_MILVUS_URL")
    if address is None:
        pytest.skip("JUDGED_MILVUS_URL names no Milvus server")
    return address


@pytest.fixture(scope="session")
def qdrant_stub() -> Iterator[str]:
    """The address of a stub that speaks Qdrant's documented protocol; no package brings a server."""
    with run_qdrant_stub() as address:
        yield address


@pytest.fixture(scope="session")
def digits() -> Digits:
    """Return scikit-learn's images of digits: 1,697 to search in, 100 to search for."""
    datasets = pytest.importorskip("sklearn.datasets")
    images = datasets.load_digits().data.astype(np.float32)
    return images[100:], images[:100]


@pytest.fixture
def engine(name: str) -> Iterator[Engine]:
    """Return an engine, or skip the test with the reason why there is none; it is closed afterwards."""
    kind = ENGINES[name]
    if kind.missing_packages():
        pytest.skip(f"{name} needs {', '.join(kind.missing_packages())}: pip install 'judged[{kind.extra}]'")
    made = kind()
    yield made
    made.close()


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Return where the engine under test works; its server is started with the first test that needs it."""
    name = request.getfixturevalue("name") if "name" in request.fixturenames else ""
    server = SERVERS.get(ENGINES[name].extra) if name and ENGINES[name].capabilities.remote else None
    return Place(tmp_path, request.getfixturevalue(server) if server else None)
