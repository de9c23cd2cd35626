"""The seam between the benchmark and the engines: what an engine does, and what it declares about itself.

An engine stores vectors and answers queries. It touches neither the clock nor threads, retries or scoring: those
belong to the benchmark. An adapter is a subclass of `Engine` in `judged.index.engines`, listed in `ENGINES`; other
packages announce theirs under the entry points `judged.engines`. A class with just `build` and `search` will do too:
see `OwnEngine`.

The life of an engine, in this order:

    prepare()                        work that is not part of building an index, such as compiling; not measured
    create(spec, settings)           an empty index
    insert(ids, vectors, attributes) once or more; measured as insertion
    finish()                         measured as indexing
    searcher(k, settings, filter)    once for each client; returns the function whose calls are measured
    effective_config()               every setting as the engine reports it, compared with what was asked for
    delete(ids), insert(…)           where churn is measured
    stats(), close()
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field as dataclass_field, replace
from pathlib import Path
from types import ModuleType
from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged._optional import need
from judged.errors import BadProtocol, EngineFailed, UnknownName, WrongKind
from judged.plugins import import_object, list_announced
from judged.registry import Registry
from judged.store.machine import find_version

Metric: TypeAlias = Literal["l2", "ip", "cosine", "hamming"]
METRICS: tuple[Metric, ...] = ("l2", "ip", "cosine", "hamming")
"""Euclidean distance, inner product, cosine distance, Hamming distance of bits."""

VectorArray: TypeAlias = NDArray[np.float32 | np.uint8]
"""Vectors as rows: 32-bit floats; for Hamming distance, bits packed into bytes."""
Attributes: TypeAlias = Mapping[str, NDArray[np.int64]]
"""Whole numbers by which vectors are filtered: a column for each field."""
SettingValue: TypeAlias = int | float | str | bool
Settings: TypeAlias = Mapping[str, SettingValue]
Ids: TypeAlias = Sequence[int] | NDArray[np.integer]
"""The ids of the neighbours of one query, nearest first; −1 stands for none."""
Search: TypeAlias = Callable[[VectorArray], Ids]
"""Takes one query and returns its neighbours."""
BatchSearch: TypeAlias = Callable[[VectorArray], Sequence[Ids] | NDArray[np.integer]]
"""Takes queries as rows and returns the neighbours of each."""

ENTRY_POINTS = "judged.engines"
"""The group of entry points under which installed packages announce engines: a name and a "module:attribute"."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An engine setting: its default and the values a sweep tries."""

    default: SettingValue
    help: str
    values: tuple[SettingValue, ...] = ()
    """Values that a sweep tries unless it says otherwise; empty: the default alone."""
    effort: bool = False
    """Whether raising it buys recall with time, so that a recall can be reached by a search over it."""
    scale: Callable[[int], SettingValue] | None = None
    """The default for that many vectors, where it follows their number."""

    def default_for(self, size: int | None) -> SettingValue:
        """Return the default, for that number of vectors if it is known."""
        return self.default if self.scale is None or size is None else self.scale(size)


GRAPH_BUILD: Mapping[str, Setting] = {
    "M": Setting(16, "neighbours of a vector in the graph"),
    "ef_construction": Setting(200, "candidates considered while building"),
}
GRAPH_QUERY: Mapping[str, Setting] = {
    "ef": Setting(64, "candidates considered in a search", (16, 32, 64, 128, 256), effort=True)
}
"""Settings of HNSW graphs, with the same defaults in every engine, so that engines are compared at the same effort."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of an engine."""

    metrics: frozenset[Metric] = frozenset({"l2", "ip", "cosine"})
    exact: bool = False
    """Whether it always finds the true neighbours."""
    filters: bool = False
    deletes: bool = False
    """Whether vectors can be deleted, and others inserted, after `finish`."""
    concurrent: bool = True
    """Whether searchers may be called from several threads at once."""
    forks: bool = False
    """Whether a forked process can search, in the same index or over connections of its own."""
    remote: bool = False
    """Whether queries go over a connection to another process."""
    emulated: str = ""
    """Substitute for the product, where it is not the product itself that answers."""
    unverified: frozenset[str] = frozenset()
    """Settings that the engine gives no way to read back."""


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """Specification of an index."""

    dimensions: int
    """Numbers in a vector; for Hamming distance, bits."""
    metric: Metric
    capacity: int
    """The most vectors that it will ever hold."""
    fields: tuple[str, ...] = ()
    """The attributes that vectors have."""
    threads: int = 1
    """Threads that building and one search may use; the adapter passes it on and decides nothing itself."""
    folder: Path | None = None
    """An empty folder for an engine that writes files; the benchmark measures and removes it."""
    url: str | None = None
    """The address of a server, or its DSN."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that results must meet, all of them: each is an attribute and a whole number that bounds it or is its value."""

    field: str
    operator: Literal["<", "==", ">="]
    value: int
    ids: NDArray[np.int64] = dataclass_field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The vectors that meet them, ascending, for engines that filter by id and not by attribute."""
    also: tuple[Filter, ...] = ()
    """Further conditions."""

    @property
    def conditions(self) -> tuple[tuple[str, Literal["<", "==", ">="], int], ...]:
        """Every condition: its field, operator and value."""
        return tuple((one.field, one.operator, int(one.value)) for one in (self, *self.also))

    def matches(self, attributes: Attributes) -> NDArray[np.bool_]:
        """Return which rows meet the conditions."""
        tests = {"<": np.less, "==": np.equal, ">=": np.greater_equal}
        rows = [tests[operator](attributes[field], value) for field, operator, value in self.conditions]
        return np.asarray(np.logical_and.reduce(rows))

    def to_sql(self, columns: Mapping[str, str]) -> str:
        """Return the conditions in SQL, on the columns that store the attributes."""
        return " and ".join(
            f"{columns[field]} {'=' if operator == '==' else operator} {value}"
            for field, operator, value in self.conditions
        )

    def __str__(self) -> str:
        return " & ".join(f"{field}{operator}{value}" for field, operator, value in self.conditions)


@dataclass(frozen=True, slots=True)
class Stats:
    """Size of an index as reported by its engine, and where it runs."""

    disk: int | None = None
    """Bytes on disk; None: the benchmark sums up the files of the folder, if there are any."""
    processes: tuple[int, ...] = ()
    """The server's processes, where they run on this machine; their children count as well."""


class Engine:
    """One kind of index of a library or a database."""

    name: ClassVar[str]
    title: ClassVar[str]
    """Short description."""
    extra: ClassVar[str] = ""
    """The extra that installs it; empty if none is needed."""
    packages: ClassVar[tuple[str, ...]] = ()
    """The distributions that must be installed; the version of the first is that of the engine."""
    modules: ClassVar[tuple[str, ...]] = ()
    """What `prepare` imports, so that neither the time nor the memory of a build holds an import."""
    capabilities: ClassVar[Capabilities] = Capabilities()
    build_settings: ClassVar[Mapping[str, Setting]] = {}
    query_settings: ClassVar[Mapping[str, Setting]] = {}

    @classmethod
    def missing_packages(cls) -> tuple[str, ...]:
        """Return the distributions that are not installed."""
        return tuple(package for package in cls.packages if find_version(package) is None)

    @classmethod
    def version(cls) -> str:
        """Return the version of the library, or of the server once there is a connection."""
        return (find_version(cls.packages[0]) if cls.packages else np.__version__) or "?"

    @classmethod
    def identify(cls, url: str | None) -> str:
        """Return the version of what will answer: of the server at the address, or of the library."""
        del url
        return cls.version()

    def prepare(self) -> None:
        """Do work that is needed once and is not part of building, such as importing; it is not measured."""
        for module in self.modules:
            self.load(module)

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make an empty index; `settings` holds every one of `build_settings`."""
        raise NotImplementedError

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Add vectors under their ids; for cosine distance they have length 1."""
        raise NotImplementedError

    def finish(self) -> None:
        """Build the index over what was inserted; return when searches have their full speed."""

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002 - the word of every engine
        """Apply the settings, all of `query_settings`, and return the function that answers one query.

        It is called once for each client: an engine with connections opens one for each. What can be made ready
        before the first query is made ready here. For cosine distance queries have length 1.
        """
        raise NotImplementedError

    def batch_searcher(self, k: int, settings: Settings) -> BatchSearch | None:
        """Return the function that answers many queries at once; None if there is none."""
        del k, settings
        return None

    def delete(self, ids: NDArray[np.int64]) -> None:
        """Delete vectors."""
        raise NotImplementedError

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return every setting that the engine itself reports: of the index, and of the last searcher."""
        return {}

    def stats(self) -> Stats:
        """Return the engine's own numbers."""
        return Stats()

    def close(self) -> None:
        """Release everything, and remove what was made on a server."""

    def load(self, module: str) -> ModuleType:
        """Import a module of the engine's library; raise `MissingExtra` if it is not installed."""
        return need(module, extra=self.extra, needed_by=f"the engine `{self.name}`")

    def find_folder(self, spec: IndexSpec) -> Path:
        """Return the folder of the index; raise `EngineFailed` if there is none."""
        if spec.folder is None:
            msg = f"`{self.name}` needs a folder"
            raise EngineFailed(msg, hint="the benchmark makes one; give `IndexSpec(folder=…)` elsewhere")
        return spec.folder


class BatchEngine(Engine):
    """An engine that builds its index from all vectors at once; their order is their id."""

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Keep the settings until all vectors are there."""
        self._spec, self._settings = spec, settings
        self._parts: list[VectorArray] = []

    def insert(self, ids: NDArray[np.int64], vectors: VectorArray, attributes: Attributes) -> None:
        """Keep the vectors."""
        del ids, attributes
        self._parts.append(vectors)

    def finish(self) -> None:
        """Build the index."""
        # a single part is passed on as it is: joining it would copy every vector
        self.build(self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts))
        self._parts = []

    def build(self, vectors: VectorArray) -> None:
        """Build the index over all vectors."""
        raise NotImplementedError


class OwnIndex(Protocol):
    """What a user-defined class has; further arguments of `search` are its query settings."""

    def build(self, vectors: VectorArray, /) -> object:
        """Build the index over all vectors."""

    def search(self, query: VectorArray, k: int, /, **settings: SettingValue) -> Ids:
        """Return the row numbers of the `k` nearest vectors."""


class OwnEngine(BatchEngine):
    """Any class with `build(vectors)` and `search(query, k)` as an engine.

    Arguments of the class are build settings and further arguments of `search` are query settings; each needs a
    default. `search` returns row numbers. `filter` and `delete` are not supported, and no setting is verified. An
    attribute `effort` names the argument of `search` that buys recall with time, for `at_recall`.

    >>> class Mine:
    ...     def __init__(self, leaves=10):
    ...         self.leaves = leaves
    ...     def build(self, vectors):
    ...         self.vectors = vectors
    ...     def search(self, query, k, probes=1):
    ...         return np.argsort(((self.vectors - query) ** 2).sum(axis=1))[:k]
    >>> engine = OwnEngine.wrap(Mine)
    >>> engine.name, list(engine.build_settings), list(engine.query_settings)
    ('Mine', ['leaves'], ['probes'])
    """

    title = "user-defined class"
    factory: ClassVar[Callable[..., OwnIndex]]

    @classmethod
    def wrap(cls, factory: object) -> type[Engine]:
        """Return the engine of a class, or of an object that is built once."""
        for method in ("build", "search"):
            if not callable(getattr(factory, method, None)):
                msg = f"`{factory!r}` has no method `{method}`, expected an engine with `build` and `search`"
                raise WrongKind(msg)
        make = factory if isinstance(factory, type) else lambda: factory
        signature = inspect.signature(getattr(factory, "search"))  # noqa: B009 - mypy knows nothing of an `object`
        search = list(signature.parameters.values())
        further = search[3:] if isinstance(factory, type) else search[2:]
        arguments = list(inspect.signature(make).parameters.values())
        name = factory.__name__ if isinstance(factory, type) else type(factory).__name__
        build, query = _read_settings(arguments), _read_settings(further)
        effort = getattr(factory, "effort", None)
        if isinstance(effort, str):
            if effort not in query or type(query[effort].default) is not int:
                msg = (
                    f"`{name}.effort` is `{effort}`, expected an argument of `search` that is a whole number"
                )
                raise BadProtocol(msg)
            query[effort] = replace(query[effort], effort=True)
        members = {
            "name": name,
            "factory": staticmethod(make),
            "capabilities": Capabilities(
                frozenset(METRICS), concurrent=False, forks=True, unverified=frozenset({*build, *query})
            ),
            "build_settings": build,
            "query_settings": query,
        }
        return type(name, (cls,), members)

    def create(self, spec: IndexSpec, settings: Settings) -> None:
        """Make the object."""
        super().create(spec, settings)
        self._index = self.factory(**settings)

    def build(self, vectors: VectorArray) -> None:
        """Call `build` of the object."""
        self._index.build(vectors)

    def searcher(self, k: int, settings: Settings, filter: Filter | None = None) -> Search:  # noqa: A002
        """Return `search` with k and the settings filled in."""
        del filter
        self._settings = {**self._settings, **settings}
        search, further = self._index.search, dict(settings)
        return lambda query: search(query, k, **further)

    def effective_config(self) -> Mapping[str, SettingValue]:
        """Return what was asked for: there is no way to ask the object."""
        return self._settings


ENGINES: Registry[type[Engine]] = Registry(
    "engine", group="judged.engines", check=lambda _name, thing: find_engine(thing)
)
"""Every engine by name, imported when it is used."""
for _name, _home in {
    "exact": "exact:Exact",
    "faiss-flat": "faiss:FaissFlat",
    "faiss-hnsw": "faiss:FaissHnsw",
    "faiss-ivf": "faiss:FaissIvf",
    "faiss-hnsw-sq": "faiss:FaissHnswSq",
    "faiss-ivf-pq": "faiss:FaissIvfPq",
    "faiss-ivf-sq": "faiss:FaissIvfSq",
    "faiss-ivf-rabitq": "faiss:FaissIvfRabitq",
    "hnswlib": "libraries:Hnswlib",
    "usearch": "libraries:Usearch",
    "voyager": "libraries:Voyager",
    "annoy": "libraries:Annoy",
    "scann": "libraries:Scann",
    "pynndescent": "libraries:Pynndescent",
    "sqlite-vec": "embedded:SqliteVec",
    "duckdb-vss": "embedded:DuckdbVss",
    "lancedb-hnsw": "embedded:LancedbHnsw",
    "qdrant-edge": "qdrant:QdrantEdge",
    "chroma": "chroma:Chroma",
    "chroma-http": "chroma:ChromaHttp",
    "pgvector-exact": "pgvector:PgvectorExact",
    "pgvector-hnsw": "pgvector:PgvectorHnsw",
    "pgvector-hnsw-coded": "pgvector:PgvectorHnswCoded",
    "pgvector-ivfflat": "pgvector:PgvectorIvfflat",
    "qdrant": "qdrant:Qdrant",
    "qdrant-quantised": "qdrant:QdrantQuantised",
    "qdrant-local": "qdrant:QdrantLocal",
    "milvus-hnsw": "milvus:MilvusHnsw",
    "milvus-lite": "milvus:MilvusLite",
}.items():
    ENGINES.add(_name, f"judged.index.engines.{_home}")


def find_engine(engine: object) -> type[Engine]:
    """Return the engine of a name, a "module:Class", or a class or object with `build` and `search`."""
    if isinstance(engine, str):
        if ":" not in engine:
            return ENGINES[engine]
        return find_engine(import_object(engine, kind="engine"))
    if isinstance(engine, type) and issubclass(engine, Engine):
        return engine
    return OwnEngine.wrap(engine)


def list_engines() -> Iterator[type[Engine]]:
    """Return every engine that is known here, and those that installed packages announce."""
    yield from (ENGINES[name] for name in dict.fromkeys((*ENGINES, *list_announced(ENGINES.group))))


def complete_settings(
    known: Mapping[str, Setting], given: Settings, *, what: str, size: int | None = None
) -> dict[str, SettingValue]:
    """Return all settings, those that are not given at their defaults; raise `UnknownName` for others.

    `size` is the number of vectors, which some defaults follow.
    """
    for name in given:
        if name not in known:
            raise UnknownName(what, name, list(known), hint=None if known else f"there is no {what}")
    return {name: given.get(name, setting.default_for(size)) for name, setting in known.items()}


def check_effective(engine: Engine, asked: Settings) -> dict[str, SettingValue]:
    """Return the effective settings; raise `EngineFailed` if one of those asked for did not take."""
    effective = dict(engine.effective_config())
    for name, value in asked.items():
        if name in engine.capabilities.unverified:
            continue
        got = effective.get(name, "nothing")
        if got != value:
            msg = f"`{engine.name}`: `{name}` was set to {value}, and the engine reports {got}"
            raise EngineFailed(msg, hint="results under another setting than the one asked for mean nothing")
    return effective


def _read_settings(parameters: Sequence[inspect.Parameter]) -> dict[str, Setting]:
    named = [
        item
        for item in parameters
        if item.kind not in {item.VAR_POSITIONAL, item.VAR_KEYWORD} and item.name != "self"
    ]
    without = [item.name for item in named if item.default is item.empty]
    if without:
        msg = f"the argument `{without[0]}` has no default"
        raise BadProtocol(msg, hint="every setting of an engine has a default")
    return {item.name: Setting(item.default, "") for item in named}
