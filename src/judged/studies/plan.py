"""The plan of a study: which systems there are, on what each depends, and which are finished already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from judged.errors import JudgedError
from judged.plugins import search_current_folder
from judged.result import InputFile
from judged.store.hashing import hash_value
from judged.store.machine import list_versions
from judged.store.source import hash_module
from judged.studies.answers import AnswerLog
from judged.studies.collections import Collection
from judged.studies.specification import StudySpec
from judged.studies.stages.vectors import VectorCache
from judged.studies.system import SystemSpec
from judged.tables.judgments import Judgments
from judged.wording import counted

FORMAT = 1
"""Part of every key; raised when answers or times are made in another way."""
ANSWERS = "answers"
"""The folder, within that of a study, of what is finished."""
PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "bm25s", "tantivy", "faiss-cpu", "pgvector", "torch", "transformers"),
    *("tokenizers", "sentence-transformers", "model2vec", "wordllama"),
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
    """The queries that are answered already, each with its pass."""
    total: int

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


def plan_systems(spec: StudySpec, collection: Collection, folder: Path) -> list[PlannedSystem]:
    """Return the systems in the order in which they are run, parts before wholes."""
    subject = {
        "format": FORMAT,
        "documents": collection.digest,
        "queries": collection.query_digest,
        "depth": spec.depth,
        "versions": list_versions(*PACKAGES),
    }
    total = len(collection.queries) * spec.repeats
    keys: dict[str, str] = {}
    planned = []
    for system in spec.order():
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
        keys[system.name] = hash_value(
            {
                **subject,
                **learning,
                "system": system.to_dict(),
                "files": dict(_find_files(system.to_dict())),
                "parts": [keys[part] for part in system.parts],
            }
        )
        log = AnswerLog(folder / ANSWERS / f"{keys[system.name][:16]}.jsonl")
        # the log keeps later passes of an earlier run that had more of them
        known = {(asked.query, asked.sample) for asked in log.read() if asked.sample < spec.repeats}
        planned.append(PlannedSystem(system, keys[system.name], log, frozenset(known), total))
    return planned


def _find_files(settings: object) -> Iterator[tuple[str, str]]:
    """Yield the files and modules that settings name, with what tells their versions apart."""
    if isinstance(settings, Mapping):
        for value in settings.values():
            yield from _find_files(value)
    elif isinstance(settings, list | tuple):
        for value in settings:
            yield from _find_files(value)
    elif isinstance(settings, str) and settings:
        # longer texts are prompts or the like: `is_dir` raises an error for what is too long to be a path
        path = Path(settings)
        module = settings.partition(":")[0]
        if len(settings) < 4096 and path.is_dir():
            yield from (_stat(file) for file in sorted(path.rglob("*")) if file.is_file())
        elif len(settings) < 4096 and path.is_file():
            yield _stat(path)
        elif ":" in settings and module.replace(".", "").isidentifier():
            search_current_folder()
            yield settings, hash_module(module)


def _stat(path: Path) -> tuple[str, str]:
    status = path.stat()  # its size and time stand for a hash: models may take gigabytes
    return str(path), f"{status.st_size} {status.st_mtime_ns}"


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
        if encoder is not None:
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
    return " → ".join((*parts, *(stage.type for stage in spec.rerank_specs())))
