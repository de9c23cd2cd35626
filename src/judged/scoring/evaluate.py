"""`evaluate` and `evaluate_many`: truth, systems and measures in; scores, with their protocol and notes, out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from judged.errors import BadInput, check_kind
from judged.io.systems import System, name_systems
from judged.measures.measure import Measure
from judged.measures.parse import list_measures
from judged.problem import Problem
from judged.progress import Progress
from judged.protocol import BaseProtocol
from judged.result import observe_files
from judged.scoring.evaluation import Evaluation
from judged.scoring.evaluations import Evaluations
from judged.scoring.evaluator import (
    Backend,
    Convention,
    Evaluator,
    Plan,
    error_label,
    evaluate_table,
    is_spark_frame,
    make_plan,
)
from judged.scoring.family import Family, Measures, find_family

if TYPE_CHECKING:
    from judged.tables.inputs import SystemLike, TruthLike

Runs: TypeAlias = Mapping[str, Any] | Iterable[str | os.PathLike[str] | System] | str | os.PathLike[str]
"""Systems by name, files, a folder, or a pattern such as `runs/*.run`: `judged.io.systems` says what a path stands for."""
MOST_KEPT = 1 << 28
"""Bytes of files whose tables are kept in memory; larger ones are read again where they are needed."""


def evaluate(
    truth: TruthLike,
    system: SystemLike,
    measures: Measures | None = None,
    *,
    protocol: Convention = None,
    name: str | None = None,
    id_field: str | None = None,
    join: bool = False,
    backend: Backend | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Score one system, usually a run against judgments.

    `truth` and `system` may be paths, dicts of dicts, data frames, Arrow tables, id matrices, or the tables that
    `judged.read_judgments` and `judged.read_run` return; `measures` names or values. Measures of preferences take
    what `judged.read_preferences` reads as `truth`; where a measure looks at intents, the second column of TREC
    judgments is read as such. A table of sessions is scored against labels, and timings and decisions against nothing (`None`).

    `protocol` may be the name of a profile, by default `trec_eval-9`: then `measures` are read as that tool means
    them. `name` is the name of the system, by default that of the table or the file. With `join`, or with a name, the files
    of a folder or a pattern are parts of one run; of a table with a column `system`, a name chooses one.

    `system` may also be a dict from queries to search results: ids, pairs of id and score, or what LangChain, LlamaIndex,
    Haystack, Elasticsearch, OpenSearch, Qdrant, Weaviate, Chroma, Pinecone and Milvus return. `id_field` names the field of
    a result that has its id, such as `metadata.source`. Results are ranked in the order of the system.

    A Spark data frame is scored by Spark, and its rows stay there. Data sets of Arrow, joined files,
    URIs and large files are read as streams, which need no more memory than a block; `backend` says
    `local` or `streaming` for files of any size. The backend, `threads` (by default one for each processor) and
    `progress`, called with the work done and the whole, change no number.
    """
    evaluator = Evaluator(truth, measures, protocol=protocol, like=system)
    return evaluator.evaluate(
        system,
        name=name,
        id_field=id_field,
        join=join,
        backend=backend,
        threads=threads,
        progress=progress,
    )


def evaluate_many(
    truth: TruthLike,
    systems: Runs,
    measures: Measures | None = None,
    *,
    protocol: Convention = None,
    id_field: str | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    join: bool = False,
    progress: Callable[[str], AbstractContextManager[Progress]] | None = None,
    keep_inputs: bool = False,
) -> Evaluations:
    """Score several systems by the same measures; the truth is read once.

    `systems` is a mapping from names to systems, a list of files, a folder, or a pattern such as `"runs/*.run"`; or a Spark
    data frame or a data set of Arrow with a column `system`, all of which are scored in one pass. A folder or a pattern is
    several systems, one per file, unless `join` makes one of it, as a name in a mapping does. The other arguments are as in
    `evaluate`. `progress` is called with the name of each system and returns a context manager
    that gives the callback for it. `keep_inputs` keeps the tables in memory, up to a quarter of a gigabyte of files, so
    that a report with ranked lists need not read them again.

    >>> qrels = {"q1": {"a": 1, "b": 0}}
    >>> runs = {"old": {"q1": {"b": 2.0, "a": 1.0}}, "new": {"q1": {"a": 1.0}}}
    >>> evaluate_many(qrels, runs, "RR").to_frame().to_pydict()
    {'system': ['old', 'new'], 'RR': [0.5, 1.0]}
    """
    evaluations: dict[str, Evaluation] = {}
    evaluator: Evaluator | None = None
    measures = None if measures is None else list_measures(measures)
    for system in _list_systems(systems, measures, protocol, join=join):
        if evaluator is None:
            evaluator = Evaluator(truth, measures, protocol=protocol, like=system.source)
        with nullcontext() if progress is None else progress(system.name or "") as report:
            several = evaluator.evaluate_all(
                system,
                id_field=id_field,
                backend=backend,
                threads=threads,
                progress=report,
                keep_inputs=keep_inputs,
            )
        for evaluation in several:
            if evaluation.system in evaluations:
                where, message = f"system `{evaluation.system}`", "appears twice; names must be unique"
                raise BadInput("the systems", [Problem.error("repeated-name", where, message)])
            evaluations[evaluation.system] = evaluation
        if keep_inputs and _count_bytes(evaluations.values()) > MOST_KEPT:
            keep_inputs = False
            evaluations = {key: replace(known, inputs=None) for key, known in evaluations.items()}
    return Evaluations(evaluations)


def _count_bytes(evaluations: Iterable[Evaluation]) -> int:
    """Return the size of the files that evaluations were made from, each counted once."""
    files = {file.path: file.stamp for evaluation in evaluations for file in evaluation.provenance.inputs}
    return sum(stamp.size for stamp in files.values() if stamp is not None)


def evaluate_with(
    family: Family,
    truth: object,
    system: object,
    measures: Measures | None = None,
    *,
    protocol: BaseProtocol | None = None,
    name: str | None = None,
    **options: object,
) -> Evaluation:
    """Score one system by measures of a family; `options` go to the family's `align`."""
    chosen = family.parse_measures(family.default_measures if measures is None else measures)
    plan = Plan.of_family(family, chosen, protocol or family.protocol())
    inputs = observe_files([(family.input_roles[1], system)])
    read = (
        system if isinstance(system, family.view) else family.read_system(system, error_label(system, name))
    )
    return evaluate_table(plan, plan.read_truth(truth), read, name, inputs, options)


def read_truth(source: object, measures: Sequence[Measure]) -> Any:
    """Read what systems are evaluated against, as the measures need it: judgments or preferences."""
    return find_family(measures).read_truth(source, measures)


def _list_systems(
    systems: Runs,
    measures: Measures | None,
    protocol: Convention,
    *,
    join: bool,
) -> Iterable[System]:
    """Return the systems to evaluate; folders and patterns are looked into where the measures are of runs."""
    if is_spark_frame(systems) or hasattr(systems, "get_fragments"):
        return [System(None, systems)]
    check_kind("systems", systems, (Iterable, os.PathLike), "runs by name, files, a folder, or a pattern")
    return name_systems(systems, join=join, runs=lambda: make_plan(None, measures, protocol).family.of_runs)
