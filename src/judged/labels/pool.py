"""The pool: the results to be labelled, each once, with the texts that a model reads; from runs or from traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from judged.agents.dedup.find import find_duplicates
from judged.agents.dedup.label_index import LabelIndex, name_tasks, task_key
from judged.agents.dedup.rules import Rules, Unit
from judged.agents.tables import Hit, Session, Sessions
from judged.agents.traces import TurnChoice
from judged.agents.traces.context import TraceProblems
from judged.agents.traces.read import stream_sessions
from judged.agents.traces.results.tools import Tools
from judged.errors import BadProtocol, JudgedError, Unusable
from judged.io.open import is_file, is_number_text
from judged.io.read import kind_of, read_judgments, read_labels, read_run
from judged.io.table import open_path
from judged.io.texts import Text, TextSource, read_documents, read_queries
from judged.labels.task import Item, Pool
from judged.problem import Note, Place, Problems
from judged.result import observe_files
from judged.tables.inputs import JudgmentsLike, LabelsLike, RunLike
from judged.tables.labels import Label
from judged.tables.run import Run
from judged.tables.schema import RUN

SourceKind: TypeAlias = Literal["run", "trace"]
Source: TypeAlias = RunLike | Sessions
"""A run, or a trace: a file, sessions, or objects in memory."""
PoolSource: TypeAlias = Source | Sequence[str | PathLike[str] | bytes | Run | Sessions]
Judged: TypeAlias = JudgmentsLike | LabelsLike


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """Options that select the results of runs or traces for the pool, and say how the sources are read."""

    kind: SourceKind | None = None
    """Whether the sources are runs or traces; None detects it."""
    depth: int | None = None
    """Only the first results of each query or search."""
    relabel: bool = False
    """Whether to label results of a trace that have a gain already."""
    unit: Unit = "document"
    """Unit of deduplication in a trace."""
    tools: Tools | str | Path | None = None
    """The tools of a trace that are searches."""
    format: str | None = None
    """Format of the traces; None detects it."""
    turn: TurnChoice = "last"
    """The turn of a conversation that counts."""
    strict: bool = False
    """Whether to refuse traces with malformed parts, instead of leaving these out."""
    lenient: bool = False
    """Whether to leave out and count results and queries without a text, instead of raising an error."""

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 1:
            msg = f"the depth is {self.depth}, expected 1 or more"
            raise BadProtocol(msg)


def build_pool(
    source: PoolSource,
    *,
    queries: TextSource | None = None,
    documents: TextSource | None = None,
    judged: Judged | None = None,
    options: PoolOptions | None = None,
) -> Pool:
    """Collect the results of runs or traces that are not judged yet, each once.

    `source` is one run or trace, or a list or tuple of several. `queries` and `documents` are texts by id; runs need
    both. For a trace, the text of a task in `queries` replaces the question of the session, and `documents` fills in
    for results without a text. `judged` holds judgments or labels of results to leave out.
    """
    chosen = options or PoolOptions()
    sources = _split_sources(source)
    detected: dict[SourceKind, None] = {}
    for part in sources:
        detected[chosen.kind or ("trace" if chosen.format else _detect_kind(part))] = None
    if len(detected) > 1:
        raise BadProtocol("runs and traces cannot be labelled together", hint="set the kind with `--kind`")
    files = [
        *(("results", part) for part in sources),
        ("queries", queries),
        ("documents", documents),
        ("judged", judged),
    ]
    inputs = observe_files(files)
    if "trace" in detected:
        return replace(_pool_traces(sources, queries, documents, judged, chosen), inputs=inputs)
    for name, texts in (("queries", queries), ("documents", documents)):
        if texts is None:
            msg = f"a run contains only ids, and the texts of its {name} are missing"
            raise BadProtocol(msg, hint="give the texts: `--queries FILE --documents FILE`")
    return replace(_pool_runs(sources, queries or {}, documents or {}, judged, chosen), inputs=inputs)


def _split_sources(source: PoolSource) -> list[Any]:
    """Return the sources as a list; a list of plain objects is one trace in memory."""
    if not isinstance(source, list | tuple):
        return [source]
    several = all(isinstance(part, str | bytes | PathLike | Run | Sessions) for part in source)
    return list(source) if several else [source]


def _detect_kind(source: object) -> SourceKind:
    """Return what a source is: a run if it can be read as one, else traces."""
    if isinstance(source, Run | Mapping | Sessions):
        return "trace" if isinstance(source, Sessions) else "run"
    if not is_file(source) or hasattr(source, "read"):  # an open file can be read only once
        return "trace"
    if isinstance(source, str | PathLike) and Path(fspath(source)).is_dir():
        return "trace"
    try:
        return "run" if kind_of(source) == "run" and not _is_prose(source) else "trace"
    except JudgedError:  # no format of runs
        return "trace"


def _is_prose(source: object) -> bool:
    """Return whether a text without any other format has words in place of scores, like the logs of agents."""
    opened = open_path(source, RUN)
    if not isinstance(opened, tuple) or opened[1].name != "trec":
        return False
    rows = (line.split() for line in opened[0].head().splitlines())
    first: list[bytes] = next((row for row in rows if row), [])
    return len(first) < 5 or not is_number_text(first[4])


# Runs


def _pool_runs(
    sources: Sequence[RunLike],
    queries: TextSource,
    documents: TextSource,
    judged: Judged | None,
    options: PoolOptions,
) -> Pool:
    """Collect the documents of runs down to the depth, without those judged already."""
    runs = [read_run(source) for source in sources]
    retrieved = [pair for run in runs for pair in _take_top(run.to_arrow(), options.depth)]
    distinct = dict.fromkeys(retrieved)
    known = _judged_pairs(judged)
    wanted = [pair for pair in distinct if pair not in known]
    query_texts = read_queries(queries, lenient=options.lenient)
    texts = read_documents(documents, {document for _, document in wanted}, lenient=options.lenient)
    name = ", ".join(run.name for run in runs)
    left_out = tuple(_check_texts(name, wanted, query_texts, texts, lenient=options.lenient))
    items = tuple(
        Item.of_result(
            query_texts[query],
            texts[document].title,
            texts[document].text,
            {"query": query, "document": document},
        )
        for query, document in wanted
        if query in query_texts and document in texts
    )
    notes = (*(Note("run", "info", note) for run in runs for note in run.notes), *left_out)
    return Pool(items, len(retrieved), judged=len(distinct) - len(wanted), notes=notes)


def _take_top(table: pa.Table, depth: int | None) -> Iterator[tuple[str, str]]:
    """Yield query and document of every row down to a depth, in the order of trec_eval."""
    # queries in the order in which they come; documents by their bytes, as trec_eval compares them
    codes = table["query"].combine_chunks().dictionary_encode().indices
    keys = pa.table(
        {"query": codes, "score": table["score"], "document": table["document"].cast(pa.large_binary())}
    )
    order = [("query", "ascending"), ("score", "descending"), ("document", "descending")]
    ranked = table.take(pc.sort_indices(keys, order))
    seen: Counter[str] = Counter()
    for query, document in zip(ranked["query"].to_pylist(), ranked["document"].to_pylist(), strict=True):
        seen[query] += 1
        if depth is None or seen[query] <= depth:
            yield query, document


def _judged_pairs(judged: Judged | None) -> set[tuple[str, str]]:
    """Return query and document of every judgment, including those of grade 0."""
    if judged is None:
        return set()
    table = read_judgments(judged).to_arrow()
    return set(zip(table["query"].to_pylist(), table["document"].to_pylist(), strict=True))


def _check_texts(
    name: str,
    pairs: Sequence[tuple[str, str]],
    queries: Container[str],
    documents: Container[str],
    *,
    lenient: bool,
) -> Iterator[Note]:
    """Raise Unusable naming every id without a text; if lenient, yield notes that count them."""
    missing = [
        *(
            ("query", f"query `{query}`")
            for query in dict.fromkeys(q for q, _ in pairs)
            if query not in queries
        ),
        *(
            ("document", f"document `{doc}`")
            for doc in dict.fromkeys(d for _, d in pairs)
            if doc not in documents
        ),
    ]
    problems = Problems(name, lambda row: Place(missing[row][1]))
    for row, (kind, _) in enumerate(missing):
        problems.add(f"{kind}-without-text", row, "is in the run but has no text")
    if not lenient:
        problems.raise_if_any(hint="give their texts, or leave them out with `--lenient`", error=Unusable)
    yield from _note_left_out(problems)


# Traces


@dataclass(frozen=True, slots=True)
class _Found:
    """A result, the tool that its id belongs to, the query that found it, and its place for messages."""

    result: Hit
    tool: str | None
    query: str | None
    place: str
    names: tuple[str, ...] = ()
    """The names under which it may be labelled."""


@dataclass(slots=True)
class _Task:
    """Everything found for one task, by any system."""

    question: str | None = None
    earlier: tuple[str, ...] = ()
    """The user's earlier questions."""
    named: bool = True
    """Whether it has a name besides its place in a file."""
    found: list[_Found] = field(default_factory=list)

    @property
    def intent(self) -> str | None:
        """Information need: the question, with those before it."""
        if not self.question or not self.earlier:
            return self.question
        return f"{self.question}\n\nAsked earlier in the same conversation: {' / '.join(self.earlier)}"


def _pool_traces(
    sources: Sequence[object],
    queries: TextSource | None,
    documents: TextSource | None,
    judged: Judged | None,
    options: PoolOptions,
) -> Pool:
    """Collect the results that agents saw, each distinct one once for its task."""
    skipped = TraceProblems()
    sessions = (
        session
        for source in sources
        for session in stream_sessions(
            source,
            format=options.format,
            tools=options.tools,
            turn=options.turn,
            strict=options.strict,
            problems=skipped,
        )
    )
    tasks = _group_by_task(sessions, options.depth)
    questions = {} if queries is None else read_queries(queries, lenient=options.lenient)
    for name, text in questions.items():
        if name in tasks:
            tasks[name].question, tasks[name].earlier = text, ()
    texts: dict[str, Text] = {}
    if documents is not None:
        results = [hit.result for task in tasks.values() for hit in task.found]
        ids = {key for result in results for key in (result.id, result.domain_id) if key is not None}
        texts = read_documents(documents, ids, lenient=options.lenient)
    labels = () if judged is None else read_labels(cast("LabelsLike", judged)).rows
    builder = _ItemBuilder(Rules(unit=options.unit), labels, texts, relabel=options.relabel)
    items = tuple(item for name, task in tasks.items() for item in builder.items(name, task))
    left_out = tuple(builder.notes(lenient=options.lenient))
    notes = (*(Note("trace", "warning", sentence) for sentence in skipped.sentences()), *left_out)
    results_seen = sum(len(task.found) for task in tasks.values())
    return Pool(items, results_seen, judged=builder.judged, column="gain", notes=notes)


def _group_by_task(sessions: Iterable[Session], depth: int | None) -> dict[str, _Task]:
    """Return everything found for each task; its question is the first that any of its sessions has."""
    tasks: dict[str, _Task] = {}
    spelled: dict[str | None, str] = {}
    for session in sessions:
        name = spelled.setdefault(task_key(session.task), session.task)
        if session.task_from == "position":
            name = f"{session.place} {session.system}"
        task = tasks.setdefault(name, _Task(named=session.task_from != "position"))
        if task.question is None and session.question:
            task.question, task.earlier = session.question, session.earlier
        names = name_tasks(session)
        place = f"{session.place}, session `{session.conversation}`"
        task.found += [
            _Found(result, search.tool, search.query, place, names)
            for iteration in session.iterations
            for search in iteration.searches
            for result in search.results[:depth]
        ]
    return tasks


class _ItemBuilder:
    """Builds the items of tasks, and counts results that are judged or cannot be labelled."""

    def __init__(
        self, rules: Rules, labels: Iterable[Label], texts: Mapping[str, Text], *, relabel: bool
    ) -> None:
        self.judged = 0
        self._rules = rules
        self._labels = LabelIndex(labels, rules)
        self._texts = texts
        self._relabel = relabel
        self._places: list[str] = []
        self._problems = Problems("the trace", lambda row: Place(self._places[row]))

    def items(self, name: str, task: _Task) -> Iterator[Item]:
        """Yield an item for every distinct result of a task that has no gain yet."""
        clusters = find_duplicates(((hit.result, hit.tool) for hit in task.found), self._rules).of
        groups: dict[int, list[_Found]] = {}
        for number, hit in zip(clusters.tolist(), task.found, strict=True):
            groups.setdefault(number, []).append(hit)
        for group in groups.values():
            has_gain = any(hit.result.gain is not None for hit in group)
            if any(map(self._has_label, group)) or (has_gain and not self._relabel):
                self.judged += 1
            else:
                yield from self._build(name, task, group)

    def _has_label(self, hit: _Found) -> bool:
        return self._labels.find((*hit.names, hit.query, None), hit.result, hit.tool) is not None

    def _build(self, name: str, task: _Task, group: list[_Found]) -> Iterator[Item]:
        """Yield the item of a group of duplicates: the first, with fields it lacks taken from the others."""
        first = group[0]
        fields = {key: _first_value(group, key) for key in ("url", "title", "snippet")}
        text = self._texts.get(first.result.id or first.result.domain_id or "", Text("", ""))
        title, body = fields["title"] or text.title, text.text or fields["snippet"] or ""
        query = task.intent or next((hit.query for hit in group if hit.query), None)
        if not query:
            self._leave_out("result-without-question", first, "has neither a question nor a search query")
        elif not (title + body).strip():
            self._leave_out("result-without-text", first, "has neither a title nor a snippet")
        else:
            result = first.result
            row = {
                "task": name if task.named else query,
                "id": result.id,
                "tool": None if result.id is None else first.tool,
                "domain": result.domain,
                "domain_id": result.domain_id,
                **fields,
                "intent_from": "question" if task.intent else "search",
            }
            yield Item.of_result(
                query, title, body, {key: value for key, value in row.items() if value is not None}
            )

    def _leave_out(self, kind: str, hit: _Found, reason: str) -> None:
        result = hit.result
        key = result.id or result.domain_id or result.url or result.title
        name = "a result" if key is None else f"result `{key}`"
        self._places.append(hit.place)
        self._problems.add(kind, len(self._places) - 1, f"{name} {reason}")

    def notes(self, *, lenient: bool) -> Iterator[Note]:
        """Yield notes that count what was left out; raise Unusable unless lenient."""
        if not lenient:
            hint = "give texts with `--documents`, questions with `--queries`, or leave them out with `--lenient`"
            self._problems.raise_if_any(hint=hint, error=Unusable)
        yield from _note_left_out(self._problems)


def _note_left_out(problems: Problems) -> Iterator[Note]:
    for code, count in problems.counts.items():
        subject, _, lack = code.partition("-without-")
        subjects = {"query": "queries"}.get(subject, f"{subject}s")
        yield Note(code, "warning", f"left out: {subjects} without a {lack} ({count:,})")


def _first_value(group: list[_Found], name: str) -> str | None:
    return next((value for hit in group if (value := getattr(hit.result, name))), None)
