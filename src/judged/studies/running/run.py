"""`run_study`: systems in, answers and times of every query out, then everything that follows from them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection as Names, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from time import time
from types import NoneType

import msgspec

from judged.errors import BadProtocol, JudgedError, check_kind
from judged.problem import Note
from judged.progress import Progress
from judged.result import observe_files
from judged.store.files import cache_folder
from judged.store.lock import lock_folder
from judged.store.machine import pin_blas
from judged.studies.collections.collection import Collection, list_inputs, read_collection, split_queries
from judged.studies.outcome.scoring import make_study
from judged.studies.result import Study
from judged.studies.running.answers import Asked, Built
from judged.studies.running.asker import Asker, Limits, Wanted
from judged.studies.running.learning import Learning
from judged.studies.running.load import LoadPoint, LoadSpec, load_system
from judged.studies.running.permissions import check_variables
from judged.studies.running.plan import (
    Keeping,
    PlannedSystem,
    RunMark,
    StudyInputs,
    check_folder,
    plan_systems,
    sign_folder,
)
from judged.studies.specification import StudySpec, read_study
from judged.studies.stages.chat import Replies
from judged.studies.stages.chunkers import load_tokeniser
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.stage import Workshop
from judged.studies.stages.tokens import sum_spent
from judged.studies.stages.vectors import VectorCache, VectorSpace, encode_collection
from judged.studies.systems.building import Systems
from judged.studies.systems.system import System


def open_study(
    source: str | os.PathLike[str] | Mapping[str, object] | StudySpec,
    folder: str | os.PathLike[str],
    *,
    collection: Collection | None = None,
    reuse: bool = False,
    fresh: bool | Names[str] = False,
    only: Names[str] = (),
    force: bool = False,
    allow_env: Names[str] = (),
) -> StudyInputs:
    """Read a study and its collection, unless that is given, and find out what an earlier run finished in the folder.

    `reuse`, `fresh`, `only`, `force` and `allow_env` are those of `run_study`.
    """
    spec = source if isinstance(source, StudySpec) else read_study(source)
    spec = spec.select(only) if only else spec
    if isinstance(source, str | os.PathLike):  # what is written in Python is the user's own
        check_variables(spec.systems, allow_env)
    if spec.collections:
        msg = f"the study has {len(spec.collections)} collections, expected one"
        raise BadProtocol(msg, hint="`judged.run_studies` takes several")
    if any(system.chunk is not None for system in spec.systems) or spec.context_measures():
        load_tokeniser(
            spec.tokeniser
        )  # one that cannot be read is better known before the work than after it
    files = list_inputs(spec.collection) if collection is None else ()
    if spec.answers is not None and spec.answers.references is not None:
        files += observe_files([("references", spec.answers.references)])
    chosen = read_collection(spec.collection) if collection is None else collection
    training, scored = split_queries(spec, chosen)
    place = Path(folder)
    if not force:
        check_folder(place, spec, chosen)
    plan = tuple(plan_systems(spec, chosen, place, Keeping(reuse=reuse, fresh=fresh)))
    return StudyInputs(spec, chosen, training, scored, plan, place, files)


def run_study(
    study: str | os.PathLike[str] | Mapping[str, object] | StudySpec | StudyInputs,
    *,
    output: str | Path | None = None,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    reuse: bool = False,
    fresh: bool | Names[str] = False,
    only: Names[str] = (),
    force: bool = False,
    allow_env: Names[str] = (),
) -> Study:
    """Run every system of a study on every query, then score, compare and time them.

    `study` is a YAML file, or a dict of the same layout. `output` is a folder: what an earlier run finished there is not
    done again, and runs and judgments are written to it. `cache` is the file of vectors, by default one for all studies
    in the user's cache folder. A system that fails does not stop the others: `Study.failures` says why it did.

    A system that asks a server or code of yours is asked again by every run that follows a finished one, since what it
    returns may have changed; `reuse` keeps its answers. `fresh` computes everything again, or the systems that it names
    and those that consist of them. `only` leaves the study with the systems that it names, and those that they consist
    of. Whatever is kept of an earlier run is dated in the tables. A folder with the results of another study, by name
    and collection, is refused unless `force`. A file may name environment variables other than the usual keys only if
    `allow_env` or the user's configuration allows them.

    >>> study = run_study({
    ...     "collection": "demo", "systems": [{"name": "bm25", "search": "bm25"}], "measures": ["RR(rel=3)"],
    ... })  # doctest: +SKIP
    """
    check_kind("output", output, (str, os.PathLike, NoneType), "a folder, or None")
    with tempfile.TemporaryDirectory(prefix="judged-study-") as temporary:
        folder = Path(output or temporary)
        inputs = (
            study
            if isinstance(study, StudyInputs)
            else open_study(
                study, folder, reuse=reuse, fresh=fresh, only=only, force=force, allow_env=allow_env
            )
        )
        if output is None and inputs.folder == folder:
            inputs = replace(inputs, temporary=True)
        with (
            ExitStack() as stack,
            lock_folder(inputs.folder),
            closing(VectorCache(find_cache(cache))) as vectors,
            # one thread for NumPy: several that wait for each other make the times of single queries depend on the load
            pin_blas(1, library="openblas"),
        ):
            learning, began = Learning(inputs), time()
            kept = stack.enter_context(closing(_open_replies(inputs, find_cache(cache))))
            mark = RunMark(inputs.folder, (planned.key for planned in inputs.plan))
            sign_folder(inputs.folder, inputs.spec, inputs.collection)
            mark.set()
            failures, points, notes = _answer_all(inputs, learning, vectors, kept, Path(temporary), progress)
            if not failures and all(planned.log.is_whole() for planned in inputs.plan):
                mark.clear()
        found = make_study(inputs, failures, learning, began)
        return replace(found, load=tuple(points), notes=(*found.notes, *notes))


def find_cache(cache: str | Path | None) -> Path:
    """Return the file of cached vectors: the one named, or one for all studies."""
    return Path(cache) if cache is not None else cache_folder() / "embeddings.sqlite"


def _open_replies(inputs: StudyInputs, cache: Path) -> Replies:
    """Return the kept replies of language models, in a file next to that of the vectors, if any stage may ask one."""
    stages = [(stage, planned.fresh) for planned in inputs.plan for stage in planned.spec.list_stages()]
    path = cache.with_name(f"{cache.stem}-replies{cache.suffix}")
    asks = any(hasattr(stage, "max_tokens") for stage, _ in stages)
    again = frozenset(msgspec.json.encode(stage) for stage, fresh in stages if fresh)
    return Replies(path if asks else None, fresh=again)


def _answer_all(
    inputs: StudyInputs,
    learning: Learning,
    cache: VectorCache,
    replies: Replies,
    temporary: Path,
    progress: Progress | None,
) -> tuple[dict[str, str], list[LoadPoint], list[Note]]:
    """Ask every system what it was not asked before; return the failures by system, the load tests, and notes on them."""
    counter = _Counter(inputs.done, inputs.total, progress)
    spaces: dict[tuple[bytes, str], VectorSpace] = {}
    fresh = {
        msgspec.json.encode(spec)
        for planned in inputs.plan
        if planned.fresh
        for spec in planned.spec.list_encoders()
    }

    def encode(spec: EncoderSpec, on: Collection = inputs.collection) -> VectorSpace:
        key = (msgspec.json.encode(spec), on.digest)
        if key not in spaces:
            space = encode_collection(spec, on, cache, counter.say, fresh=key[0] in fresh)
            # passages of another size, by the same model: one of it in memory, and each query encoded once
            space.share(next((other for other in spaces.values() if other.key == space.key), space))
            spaces[key] = space
        return spaces[key]

    scratch = temporary / "scratch"
    scratch.mkdir()
    workshop = Workshop(inputs.collection, encode, scratch, counter.say, replies)
    specs = {planned.spec.name: planned.spec for planned in inputs.plan}
    failures: dict[str, str] = {}
    with closing(Systems(specs, workshop, depth=inputs.spec.depth, learned=learning.learn)) as systems:
        for planned in inputs.plan:
            broken = [part for part in planned.spec.parts if part in failures]
            if broken:
                failures[planned.spec.name] = f"it consists of `{broken[0]}`, which failed"
            elif planned.finished:
                planned.log.finish()
            else:
                try:
                    _ask_all(systems.build(planned.spec.name), planned, inputs, counter)
                except JudgedError as error:
                    hint = f" (hint: {error.hint})" if error.hint else ""
                    failures[planned.spec.name] = f"{error.message}{hint}"
        return failures, *_load_all(systems, inputs, failures, counter)


def _load_all(
    systems: Systems, inputs: StudyInputs, failures: Names[str], counter: _Counter
) -> tuple[list[LoadPoint], list[Note]]:
    """Return the load tests of the systems that did not fail, and notes on those that fail under load."""
    points, notes = list[LoadPoint](), list[Note]()
    names = [planned.spec.name for planned in inputs.plan if planned.spec.name not in failures]
    for number, name in enumerate(names if inputs.spec.load else [], start=1):
        counter.say(number, len(names), "systems under load")
        try:
            points += load_system(
                systems.build(name), list(inputs.collection.queries.values()), inputs.spec.load or LoadSpec()
            )
        except JudgedError as error:
            notes.append(Note("load", "warning", f"{name} has no load test: {error.message}"))
    return points, notes


def _ask_all(system: System, planned: PlannedSystem, inputs: StudyInputs, counter: _Counter) -> None:
    """Ask a system every query that is not in its log, in passes, after a warm-up."""
    spec = inputs.spec
    asker = Asker(system, Limits.choose(spec, system.name), spec.concurrency)
    # training queries too: weights and best experts are learned from these answers
    queries = list(inputs.collection.queries.items())
    warm = asker.warm_up(Wanted(*query, sample=-1) for query in queries[: spec.warmup])
    system.forget()
    kept = _find_kept(system, planned, warm)
    asker.answered = len(kept)
    wanted = (
        Wanted(query, text, sample)
        for sample in range(spec.repeats)
        for query, text in queries
        if (query, sample) not in kept
    )
    with ExitStack() as stack:
        add: Callable[[Asked], None] | None = None
        stack.callback(
            lambda: planned.log.write_build(_describe_build(system, spec.tokeniser)) if add else None
        )
        for asked in asker.ask_all(wanted):
            if add is None:
                if not kept:
                    planned.log.restart()  # no sooner: a system that is down takes no answers with it
                planned.log.write_build(
                    _describe_build(system, spec.tokeniser)
                )  # a process that is killed leaves this
                add = stack.enter_context(planned.log.open())
            add(asked)
            counter.count(system.name)
    planned.log.write_build(_describe_build(system, spec.tokeniser, finished=not asker.failed))


def _find_kept(
    system: System, planned: PlannedSystem, warm: Mapping[str, tuple[str, ...]]
) -> frozenset[tuple[str, int]]:
    """Return the queries whose answers are kept: none if the system now answers some of them otherwise."""
    versions = system.versions()
    if not planned.answered or (versions and planned.log.read_build().versions != versions):
        return frozenset()
    before = {asked.query: asked.documents for asked in planned.log.first_pass() if asked.query in warm}
    changed = any(before[query] != warm[query] for query in before)
    return frozenset() if changed else planned.answered


class _Counter:
    """Counts queries, and passes on what is being done."""

    def __init__(self, done: int, total: int, progress: Progress | None) -> None:
        self.done, self.total, self._progress = done, total, progress

    def count(self, system: str) -> None:
        """Count one query of a system."""
        self.done += 1
        if self._progress is not None:
            self._progress(self.done, self.total, system)

    def say(self, done: int, total: int | None = None, detail: str = "", /) -> None:
        """Pass on the progress of what else is being done."""
        if self._progress is not None:
            self._progress(self.done, self.total, f"{detail}, {done:,} of {total:,}")


def _describe_build(system: System, tokeniser: str, *, finished: bool = False) -> Built:
    """Return the figures from building a system, to be kept next to its answers."""
    chunked = system.chunked
    return Built(
        passages=0 if chunked is None else len(chunked.passages),
        tokens={} if chunked is None else chunked.count_tokens(tokeniser),
        tokeniser=tokeniser,
        finished=finished,
        versions=system.versions(),
        untrained=system.untrained,
        dimensions=tuple(space.dimensions for space in system.spaces),
        build_seconds=system.seconds,
        encode_seconds=sum(space.seconds for space in system.spaces),
        cached_documents=sum(space.cached for space in system.spaces),
        encode_spent=sum_spent(spent for space in system.spaces for spent in space.spent),
        replies_of=system.date_replies(),
        vectors_of=min((space.made for space in system.spaces if space.cached), default=0),
        notes=tuple(system.notes()),
    )
