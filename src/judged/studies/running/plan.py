"""The plan of a study: which systems there are, on what each depends, and which are finished already."""

from __future__ import annotations

from collections.abc import Collection as Names, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from judged._version import __version__
from judged.errors import BadProtocol, JudgedError, UnknownName
from judged.result import InputFile
from judged.store.files import write_file
from judged.store.hashing import hash_value
from judged.store.machine import list_versions
from judged.studies.collections.collection import Collection
from judged.studies.running.answers import AnswerLog
from judged.studies.specification import StudySpec
from judged.studies.stages.vectors import VectorCache
from judged.studies.systems.declared import SystemSpec
from judged.tables.judgments import Judgments
from judged.wording import counted

FORMAT = 2
"""Part of every key; raised when answers or times are made in another way."""
ANSWERS = "answers"
"""The folder, within that of a study, of what is finished."""
OWNER = "study"
"""The file, within the folder of answers, that says of which study they are."""
PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "bm25s", "tantivy", "torch", "transformers", "tokenizers"),
    *(
        "sentence-transformers",
        "model2vec",
        "wordllama",
        "faiss-cpu",
        "pgvector",
        "psycopg",
        "hnswlib",
        "usearch",
    ),
    *("annoy", "apsw", "chromadb", "duckdb", "duckdb-extension-vss", "lancedb", "milvus-lite", "pymilvus"),
    *("pynndescent", "qdrant-client", "qdrant-edge-py", "scann", "sqlite-vec", "voyager"),
)
"""Packages on whose version answers may depend."""


@dataclass(frozen=True)
class PlannedSystem:
    """A system of the plan, and how much of it is finished."""

    spec: SystemSpec
    key: str
    """A hash of everything that its answers depend on."""
    log: AnswerLog
    answered: frozenset[tuple[str, int]]
    """The queries that are answered already, each with its pass, and whose answers are kept."""
    total: int
    fresh: bool = False
    """Whether everything of it is computed again, the vectors of documents too."""

    @property
    def done(self) -> int:
        """The number of queries that are answered already, over all passes."""
        return len(self.answered)

    @property
    def finished(self) -> bool:
        """Whether every query is answered."""
        return self.done >= self.total


@dataclass(frozen=True, eq=False)
class StudyInputs:
    """A study with its collection read and its plan made."""

    spec: StudySpec
    collection: Collection
    training: tuple[str, ...]
    scored: tuple[str, ...]
    """The queries that systems are scored on."""
    plan: tuple[PlannedSystem, ...]
    folder: Path
    """Folder of answers, runs and judgments."""
    files: tuple[InputFile, ...] = ()
    """Source of the collection."""
    temporary: bool = False
    """Whether the folder is removed at the end, so that no result may name its files."""

    @property
    def judgments(self) -> Judgments:
        """The judgments of the collection, training queries included; without any, a study cannot be scored."""
        if self.collection.judgments is None:
            msg = f"the collection `{self.collection.name}` has no judgments"
            raise JudgedError(msg)
        return self.collection.judgments

    @property
    def done(self) -> int:
        """Queries that are answered already, over all systems and passes."""
        return sum(planned.done for planned in self.plan)

    @property
    def total(self) -> int:
        """Queries of all systems and passes."""
        return sum(planned.total for planned in self.plan)


@dataclass(frozen=True)
class Keeping:
    """Results of earlier runs to keep."""

    reuse: bool = False
    """Whether finished answers of systems that a study does not build are kept too."""
    fresh: bool | Names[str] = False
    """Whether everything is computed again, or the systems for which it is."""

    def check(self, systems: Sequence[SystemSpec]) -> None:
        """Raise an error for what contradicts itself, and for a system that there is not."""
        if self.reuse and self.fresh is True:
            raise BadProtocol("`reuse` keeps answers and `fresh` none, expected one of them")
        names = [system.name for system in systems]
        for name in () if isinstance(self.fresh, bool) else self.fresh:
            if name not in names:
                raise UnknownName("system", name, names)


def plan_systems(
    spec: StudySpec, collection: Collection, folder: Path, keeping: Keeping | None = None
) -> list[PlannedSystem]:
    """Return the systems in the order in which they are run, parts before wholes."""
    keeping = keeping or Keeping()
    systems = spec.order()
    keeping.check(systems)
    keys = _make_keys(spec, systems, collection)
    foreign, fresh = _name_foreign(systems), _name_fresh(systems, keeping.fresh)
    unfinished = RunMark(folder, keys.values()).is_set()
    total = len(collection.queries) * spec.repeats
    planned = []
    for system in systems:
        log = AnswerLog(folder / ANSWERS / f"{keys[system.name][:16]}.jsonl")
        # what cannot be seen may have changed: only answers of the same run are gone on with, unless users say so
        again = system.name in foreign and not (keeping.reuse or unfinished) and log.read_build().finished
        # the log keeps later passes of an earlier run that had more of them
        known = (
            set()
            if again or system.name in fresh
            else {
                (asked.query, asked.sample)
                for asked in log.read()
                if asked.sample < spec.repeats and not asked.error
            }
        )
        planned.append(
            PlannedSystem(system, keys[system.name], log, frozenset(known), total, fresh=system.name in fresh)
        )
    return planned


def _make_keys(spec: StudySpec, systems: Sequence[SystemSpec], collection: Collection) -> dict[str, str]:
    """Return for each system the hash of everything that its answers depend on, as far as it can be seen."""
    subject = {
        "format": FORMAT,
        "judged": __version__,
        "documents": collection.digest,
        "queries": collection.query_digest,
        "depth": spec.depth,
        "versions": list_versions(*PACKAGES),
    }
    keys: dict[str, str] = {}
    for system in systems:
        learning = (
            {
                "train": spec.train,
                "seed": spec.seed,
                "measures": spec.measure_names(),
                "protocol": spec.protocol,
            }
            if system.learns
            else {}
        )
        uses = (use for stage in system.list_stages() for use in stage.list_uses())
        keys[system.name] = hash_value(
            {
                **subject,
                **learning,
                "system": system.to_dict(),
                "uses": [use.identify() for use in uses],
                "parts": [keys[part] for part in system.parts],
            }
        )
    return keys


def check_folder(folder: Path, spec: StudySpec, collection: Collection) -> None:
    """Raise `JudgedError` if the folder is that of another study, whose results would be replaced."""
    try:
        owner = msgspec.json.decode((folder / ANSWERS / OWNER).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        return
    if owner != _name_owner(spec, collection):
        msg = f"`{folder}` has the results of the study `{owner.get('study')}` on `{owner.get('collection')}`"
        raise JudgedError(msg, hint="name another folder with `-o`, or replace them with `--force`")


def sign_folder(folder: Path, spec: StudySpec, collection: Collection) -> None:
    """Say whose folder it is."""
    (folder / ANSWERS).mkdir(parents=True, exist_ok=True)
    write_file(folder / ANSWERS / OWNER, msgspec.json.encode(_name_owner(spec, collection)))


def _name_owner(spec: StudySpec, collection: Collection) -> dict[str, str]:
    return {"study": str(spec.name), "collection": collection.name}


class RunMark:
    """A file that is there while a run of certain systems is unfinished, so that the same systems are gone on with."""

    def __init__(self, folder: Path, keys: Iterable[str]) -> None:
        self._path = folder / ANSWERS / "unfinished"
        self._content = hash_value(sorted(keys))

    def is_set(self) -> bool:
        """Return whether a run of these systems has begun and not ended."""
        try:
            return self._path.read_text(encoding="utf-8") == self._content
        except (OSError, UnicodeDecodeError):
            return False

    def set(self) -> None:
        """Say that the run begins."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_file(self._path, self._content)

    def clear(self) -> None:
        """Say that the run ended, with every query answered."""
        self._path.unlink(missing_ok=True)


def _name_foreign(systems: Sequence[SystemSpec]) -> set[str]:
    """Return the systems that ask what the study does not build, and those that consist of such; parts come first."""
    foreign: set[str] = set()
    for system in systems:
        if any(stage.foreign for stage in system.list_stages()) or not foreign.isdisjoint(system.parts):
            foreign.add(system.name)
    return foreign


def _name_fresh(systems: Sequence[SystemSpec], fresh: bool | Names[str]) -> set[str]:  # noqa: FBT001 - as users say it
    """Return the systems to compute again: those named and those that consist of them, or all; parts come first."""
    named = {system.name for system in systems} if fresh is True else set(fresh or ())
    for system in systems:
        if not named.isdisjoint(system.parts):
            named.add(system.name)
    return named


def describe_plan(inputs: StudyInputs, cache: VectorCache) -> Iterator[str]:
    """Yield the plan in lines: the collection, then each system with what of it is finished and cached."""
    collection, spec = inputs.collection, inputs.spec
    training = f", {len(inputs.training):,} more for training" if inputs.training else ""
    documents = f"{len(collection.documents):,} documents, " if collection.documents else ""
    yield f"{spec.name}: {collection.name}, {documents}{len(inputs.scored):,} queries{training}"
    yield f"measures: {', '.join(spec.measure_names())}; {counted(spec.repeats, 'pass')}; depth {spec.depth}"
    yield f"results: {inputs.folder}"
    for planned in inputs.plan:
        facts = [f"{planned.done:,} of {planned.total:,} queries answered"]
        encoder = planned.spec.encoder_spec()
        if encoder is not None and planned.spec.chunk is None:
            cached = cache.count(encoder, list(dict.fromkeys(collection.texts)))
            facts.append(f"{cached:,} of {len(set(collection.texts)):,} texts cached as vectors")
        yield f"  {planned.spec.name}: {describe_stages(planned.spec)} ({'; '.join(facts)})"


def describe_stages(spec: SystemSpec) -> str:
    """Return the stages of a system in a few words.

    >>> describe_stages(SystemSpec(name="lexical", search="bm25"))
    'bm25'
    """
    encoder, search, policy = spec.encoder_spec(), spec.search_spec(), spec.skip_spec()
    retriever = spec.retriever_spec()
    parts = [] if policy is None else [f"skip {policy.type}"]
    parts += [] if spec.rewrite is None else [f"rewrite {spec.rewrite.type}"]
    chunker = spec.chunk_spec()
    parts += [] if chunker is None else [f"chunks by {chunker.type}"]
    if search is not None:
        store = getattr(search, "engine", search.type)
        parts += ([] if encoder is None else [encoder.type]) + [store]
    elif retriever is not None:
        parts.append(retriever.type)
    elif spec.fuse is not None:
        parts.append(f"{spec.fuse.method}({', '.join(spec.fuse.of)})")
    elif spec.router is not None:
        parts.append(f"router {spec.router.type}({', '.join(spec.parts)})")
    else:
        parts.append(str(spec.base))
    parts += [stage.type for stage in spec.rerank_specs()]
    return " → ".join([*parts, *([] if spec.generate is None else [f"generate {spec.generate.type}"])])
