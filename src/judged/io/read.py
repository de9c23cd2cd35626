"""`read_judgments`, `read_run` and the other readers: tables from files, data frames and dicts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judged.errors import BadInput, UnknownName, Unreadable, WrongKind, check_kind
from judged.io import beir, ir_datasets, trec
from judged.io.answer_shapes import is_plain
from judged.io.open import File, Joined, is_file, is_path, name_files
from judged.io.sheet import read_sheet
from judged.io.sniff import Format, Kind, find_kinds, kind_of_columns
from judged.io.systems import System, find_one_system, refuse_several
from judged.io.table import RawTable, Table, from_rows, open_path, read_file, read_raw, read_table
from judged.problem import Place, Problem, Problems
from judged.result import observe_files
from judged.tables.columns import MOST_DIGITS, as_ids, as_texts, encode, take, to_numpy
from judged.tables.judgments import Judgments
from judged.tables.mapping import Columns, map_schema, refuse_map
from judged.tables.run import Columns as RunColumns, Run
from judged.tables.schema import (
    GROUPS,
    ITERATION,
    JUDGMENTS,
    JUDGMENTS_BY_ITERATION,
    LABELS,
    PREFERENCES,
    RUNS,
    TARGETS,
    TIMINGS,
    Schema,
)

if TYPE_CHECKING:  # the tables below are loaded by the readers that return them
    from judged.tables.groups import Groups
    from judged.tables.inputs import (
        GroupsLike,
        JudgmentsLike,
        LabelsLike,
        PreferencesLike,
        RunLike,
        TimingsLike,
    )
    from judged.tables.labels import Labels
    from judged.tables.preferences import Preferences
    from judged.tables.timings import Timings


def read_judgments(
    source: JudgmentsLike,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
    intents: bool = False,
    map: Columns | None = None,  # noqa: A002 - what users call it
) -> Judgments:
    """Return the judgments of a file, a folder, a data set's id, or an object in memory, called `name`.

    Question sets are judgments too: a list of the ids or texts that a question expects, each of grade 1 unless it says
    another. `format` names the format of a file, where neither its name nor its first bytes show it. `map` names
    columns by field, where their own names are not known: `map={"query": "frage", "grade": "note"}`. A column called
    `intent` is always read; `intents` reads the second column of TREC judgments as such, or a column
    `iteration`, which are otherwise ignored.

    >>> read_judgments({"q1": {"d1": 1}})
    Judgments(judgments: 1 of 1 queries)
    """
    if isinstance(source, Judgments):
        return source if name is None else replace(source, name=name)
    if isinstance(source, Run):
        msg = "a run where judgments should be"
        raise WrongKind(msg, hint="judgments come first, then the run")
    schema = map_schema(JUDGMENTS_BY_ITERATION if intents else JUDGMENTS, source, map)
    judgments = _read_judgments(source, schema, format, name, intents=intents)
    if len(judgments) == 0:
        raise _empty(source, judgments.name, "judgments")
    return judgments


def read_run(
    source: RunLike,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
    join: bool = False,
    map: Columns | None = None,  # noqa: A002 - what users call it
    id_field: str | None = None,
    queries: Iterable[object] | None = None,
) -> Run:
    """Return the run of a file, a data set's id, or an object in memory, called `name`.

    `format` names the format of a file, where neither its name nor its first bytes show it. `join` reads the files of a
    folder or a pattern as parts of one run, as a `name` does; of a table with a column `system`, a name chooses one. `map`
    names columns by field, where their own names are not known: `map={"document": "stelle", "score": "wert"}`.

    An object may have search results by query: ids, pairs of id and score, or what LangChain, LlamaIndex, Haystack,
    Elasticsearch, OpenSearch, Qdrant, Weaviate, Chroma, Pinecone and Milvus return. `id_field` names the field of a
    result that has its id, such as `metadata.source`; by default the id of the result itself. `queries` has the ids of
    the queries whose results a batch, as of Chroma, has in their order.

    >>> read_run({"q1": ["d2", "d1"]}, name="bm25")
    Run(bm25)
    >>> read_run({"q1": [{"chunk": 7, "metadata": {"source": "d2"}}]}, id_field="metadata.source").to_arrow().to_pylist()
    [{'query': 'q1', 'document': 'd2', 'score': -1.0}]
    """
    if id_field is not None or queries is not None:
        return _read_results(source, name or "run", id_field, queries)
    check_kind("name", name, (str, NoneType), "the name of the run")
    found = find_one_system(source, name=name, join=join) if is_path(source) else System(name, source)
    named = replace(found, name=name, named=name is not None)
    runs: Mapping[str | None, Run] = named.select(read_runs(found.source, format=format, name=name, map=map))
    if len(runs) > 1:
        hint = "`name` chooses one, and `judged.evaluate_many` scores all of them"
        raise refuse_several(str(name or found.path), [str(system) for system in runs], hint=hint)
    (run,) = runs.values()
    return run if name is None else replace(run, name=name)


def read_runs(
    source: RunLike,
    *,
    format: str | None = None,  # noqa: A002 - what users call it
    name: str | None = None,
    map: Columns | None = None,  # noqa: A002 - what users call it
) -> Mapping[str | None, Run]:
    """Return the runs of a source by system: one, under None, unless a column `system` names them.

    >>> rows = [{"query": "q1", "document": "d1", "score": 1, "system": name} for name in ("bm25", "dense")]
    >>> list(read_runs(rows))
    ['bm25', 'dense']
    """
    if isinstance(source, Run):
        return {None: source if name is None else replace(source, name=name)}
    if isinstance(source, Judgments):
        msg = "judgments where a run should be"
        raise WrongKind(msg, hint="judgments come first, then the run")
    if isinstance(source, Joined):
        return _read_joined(source, format, name, map)
    schema = map_schema(RUNS, source, map)
    opened: Any = open_path(source, schema, format) if is_file(source) else source
    if isinstance(opened, Path):
        msg = f"{opened} is a folder, expected a file that holds a run"
        raise Unreadable(msg)
    if _is_opened(opened):
        file, written = opened
        if written.name == "trec":
            refuse_map(schema, file.label, written.title)
            runs: Mapping[str | None, Run] = {None: trec.read_run(file)}
        else:
            runs = _make_runs(read_file(file, written, schema), file)
        return {
            system: replace(run, name=name or system or run.name or "run") for system, run in runs.items()
        }
    called = name or _own_name(opened) or "run"
    if _is_matrix(opened) or _is_pair(opened):
        refuse_map(schema, called, "a matrix")
        ids, scores = opened if _is_pair(opened) else (opened, None)
        return {None: Run.from_matrix(ids, scores, name=called)}
    # loaded here, since no command needs it
    from judged.io.search_results import refuse_alone

    refuse_alone(opened, called)
    return _make_runs(_read_object(opened, schema, called), File(b"", called, called))


def _read_results(source: object, name: str, id_field: str | None, queries: Iterable[object] | None) -> Run:
    """Return the run of search results in memory, whose ids are in a field or whose queries are named in order."""
    from judged.io.search_results import Fields, make_run, split_batch

    answers = source if queries is None else split_batch(source, queries)
    if isinstance(source, str | os.PathLike | Run) or not isinstance(answers, Mapping):
        argument = "id_field" if queries is None else "queries"
        msg = f"`{argument}` is for search results in memory, and {name} is {type(source).__name__}"
        raise WrongKind(msg, hint="give results by query: `{query: results, …}`")
    return make_run(answers, name=name, fields=Fields(id=id_field))


def list_table_systems(source: RunLike) -> list[str]:
    """Return the systems that a column of a table names; none where it has no such column."""
    return [name for name in read_runs(source) if name is not None]


def _read_joined(
    source: Joined,
    format: str | None,  # noqa: A002
    name: str | None,
    map: Columns | None,  # noqa: A002
) -> Mapping[str | None, Run]:
    """Return the runs of files that are parts of one table."""
    from judged.io.stream import open_run_stream

    stream = None if format is not None or map is not None else open_run_stream(source)
    pieces: list[tuple[str | None, Run]]
    if stream is not None:
        pieces = [(system, read()) for system, read in stream.blocks()]
    else:
        parts = (read_runs(file.label, format=format, map=map) for file in source.files)
        pieces = [piece for part in parts for piece in part.items()]
    runs: dict[str | None, list[Run]] = {}
    for system, run in pieces:
        runs.setdefault(system, []).append(run)
    (own,) = name_files([source.label])
    return {system: join_runs(some, name=name or system or own) for system, some in runs.items()}


def join_runs(runs: Sequence[Run], *, name: str) -> Run:
    """Return the run that has the rows of several, which keep their places in messages."""
    columns = [run.to_columns() for run in runs]
    ends = np.cumsum([len(table.score) for table in columns])

    def locate(row: int) -> Place:
        part = int(np.searchsorted(ends, row, side="right"))
        return columns[part].place(row - (int(ends[part - 1]) if part else 0))

    whole = RunColumns(
        pa.concat_arrays([table.query.cast(pa.large_string()) for table in columns]),
        pa.concat_arrays([table.document.cast(pa.large_string()) for table in columns]),
        np.concatenate([table.score for table in columns]),
        place=locate,
    )
    return Run(whole, name=name, notes=tuple(dict.fromkeys(note for run in runs for note in run.notes)))


def read_preferences(
    source: PreferencesLike,
    *,
    columns: int | None = None,
    name: str | None = None,
    map: Columns | None = None,  # noqa: A002 - what users call it
) -> Preferences:
    r"""Return preferences, or the grades of several judges, of a file, a data frame, or nested dicts.

    Lines of TREC text are `query group subgroup document level` or, of four columns, `query group document
    level`; the first line decides, unless `columns` does. A dict goes from query to group to document to level. `map`
    names columns by field.

    >>> read_preferences(b"q1 ann d1 2\nq1 ann d2 1\nq1 bob d2 1\n")
    Preferences(preferences: 3 levels by 2 groups on 1 query)
    """
    from judged.tables.preferences import Preferences

    if isinstance(source, Preferences):
        return source if name is None else replace(source, name=name)
    if isinstance(source, Run | Judgments):
        kind = type(source).__name__
        msg = f"measures of preferences were given an object of type `{kind}`, expected preferences"
        raise WrongKind(msg, hint="`judged.read_preferences` reads them")
    if not (columns is None or (isinstance(columns, int) and columns in PREFERENCES.lines)):
        known = [str(count) for count in PREFERENCES.lines]
        raise UnknownName("number of columns of preferences", str(columns), known)
    schema = (
        PREFERENCES if columns is None else replace(PREFERENCES, lines={columns: PREFERENCES.lines[columns]})
    )
    schema = map_schema(schema, source, map)
    if is_file(source):
        file, written = _open_file(source, schema)
        raw, called = read_file(file, written, schema), file.name or "preferences"
    else:
        raw, called = read_raw(source, schema, name="preferences"), "preferences"
    if isinstance(raw, RawTable):
        made = Preferences.from_columns(**raw.columns, name=called, problems=raw.problems)
    else:
        made = Preferences.from_mapping(raw, name=called)
    if len(made) == 0:
        raise _empty(source, made.name, "preferences")
    return made if name is None else replace(made, name=name)


def read_labels(
    source: LabelsLike,
    *,
    name: str | None = None,
    map: Columns | None = None,  # noqa: A002 - what users call it
) -> Labels:
    r"""Return the labels of a file, a data frame, judgments, a dict of dicts, or an iterable of labels or dicts.

    A file of TREC judgments has `task 0 id gain`. A dict goes from task to id to gain. Every gain is a whole
    number from 0 to 4. `map` names columns by field.

    >>> [(label.task, label.url, label.gain) for label in read_labels(b'{"task": "t1", "url": "a.org", "gain": 3}')]
    [('t1', 'a.org', 3)]
    """
    from judged.tables.labels import Labels

    if isinstance(source, Labels):
        return source if name is None else replace(source, name=name)
    sheet = read_sheet(source) if map is None else None
    if sheet is not None:
        name = name or Path(str(source)).stem
        source = [{**row, "gain": _to_gain(row["gain"])} for row in sheet]
    table = read_table(source, LABELS, name=source.name if isinstance(source, Judgments) else None, map=map)
    labels = _check_labels(table)
    if len(labels) == 0:
        raise _empty(source, labels.name, "labels")
    return labels if name is None else replace(labels, name=name)


def _to_gain(text: str) -> int | str:
    """Return a gain that a person wrote; anything but a whole number stays, and is refused with its row."""
    return int(text) if text.strip().isdecimal() and len(text) <= MOST_DIGITS else text


def read_timings(
    source: TimingsLike,
    *,
    name: str | None = None,
    map: Columns | None = None,  # noqa: A002 - what users call it
) -> Timings:
    r"""Return the timings of a file, a data frame, rows, or a dict from system to samples in seconds.

    A column `system` and one whose name says the unit are needed, such as `seconds` or `milliseconds`. `map` names
    columns by field; one for `seconds` holds seconds.

    >>> read_timings(b"system,ms\nbm25,250\n").samples("bm25").tolist()
    [0.25]
    """
    from judged.tables.timings import Timings

    if isinstance(source, Timings):
        return source if name is None else replace(source, name=name)
    table = read_table(source, TIMINGS, name=name, map=map)
    return Timings.from_columns(**table.columns, name=table.name, problems=table.problems)


def read_groups(
    source: GroupsLike,
    *,
    target: str | Mapping[str, float] | os.PathLike[str] = "equal",
    judgments: JudgmentsLike | None = None,
    name: str | None = None,
    map: Columns | None = None,  # noqa: A002 - what users call it
) -> Groups:
    r"""Return the groups of documents of a file, a data frame, rows, or a dict from document to group, groups or shares.

    The columns are `document`, `group` and maybe `share`: a document of several groups has several rows, whose shares add
    up to 1; without the column they are equal. A document without a group is of unknown group.

    `target` is how much of the exposure each group should have: `equal`, `corpus` (its share of all documents of known
    group), a dict, or a file with columns `group` and `share`. `judgments` say which queries are scored, and which
    documents are relevant, for measures that look at that. `map` names columns by field.

    >>> read_groups({"d1": "small", "d2": {"small": 0.5, "large": 0.5}}, target="corpus").target.tolist()
    [0.25, 0.75]
    """
    from judged.tables.groups import Groups

    if isinstance(source, Groups):
        return source
    if isinstance(source, Run | Judgments):
        msg = f"groups of documents were expected, not an object of type `{type(source).__name__}`"
        raise WrongKind(msg, hint="a table of columns `document` and `group`, or a dict, says them")
    check_kind(
        "target",
        target,
        (str, os.PathLike, Mapping),
        "`equal`, `corpus`, a file, or a dict from group to share",
    )
    aim = target if isinstance(target, Mapping) or target in {"equal", "corpus"} else _read_target(target)
    files = [("groups", source), ("target", None if aim is target else target), ("judgments", judgments)]
    inputs = observe_files(files)
    rows = _list_groups(source) if isinstance(source, Mapping) else source
    table = read_table(rows, GROUPS, name=name, map=map)
    table.problems.raise_if_any()
    if len(table) == 0:
        raise _empty(source, table.name, "groups")
    if "group" not in table.columns:
        problem = Problem.error("missing-column", "columns", "none says the group of a document")
        raise BadInput(table.problems.subject, [problem], hint="call it `group`, or name it with `map`")
    made = Groups.from_columns(
        table.columns["document"],
        table.columns["group"],
        table.columns.get("share"),
        target=aim,
        problems=table.problems,
        name=table.name,
    )
    judged = None if judgments is None else read_judgments(judgments)
    return replace(made, judgments=judged, input_files=inputs)


def _list_groups(groups: Mapping[Any, Any]) -> list[dict[str, object]]:
    """Return the rows of a dict from document to group, groups or shares by group."""
    rows: list[dict[str, object]] = []
    for document, value in groups.items():
        if isinstance(value, Mapping):
            rows += [{"document": document, "group": group, "share": share} for group, share in value.items()]
            continue
        several = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
        rows += [{"document": document, "group": group, "share": 1 / len(several)} for group in several]
    return rows


def _read_target(source: Any) -> dict[str, float]:
    """Return the share of each group that a file names."""
    table = read_table(source, TARGETS)
    table.problems.raise_if_any()
    groups = table.columns["group"].to_pylist()
    repeated = next((group for group in groups if groups.count(group) > 1), None)
    if repeated is not None:
        problem = Problem.error("repeated-group", "rows", f"name group `{repeated}` twice, expected once")
        raise BadInput(table.problems.subject, [problem])
    return dict(zip(groups, table.columns["share"].to_pylist(), strict=True))


def kind_of(source: object, *, format: str | None = None) -> Kind | None:  # noqa: A002 - what users call it
    """Return whether a file holds judgments or a run, as far as it shows; None if it may be either."""
    opened = open_path(source, JUDGMENTS, format)
    if not _is_opened(opened):
        return "judgments"  # folders and data sets are known by their judgments
    file, written = opened
    if written.kind is not None:
        return written.kind(file)
    return None if written.columns is None else kind_of_columns(written.columns(file))


def holds_both(source: object) -> bool:
    """Return whether a file lists what each query expects, and what was retrieved for it."""
    opened = open_path(source, JUDGMENTS)
    if not _is_opened(opened):
        return False
    file, written = opened
    columns = [] if written.columns is None else written.columns(file)
    return all(find_kinds(columns))


def _read_judgments(
    source: object,
    schema: Schema,
    format: str | None,  # noqa: A002
    name: str | None,
    *,
    intents: bool,
) -> Judgments:
    opened: Any = open_path(source, schema, format) if is_file(source) else source
    notes: tuple[str, ...] = ()
    if isinstance(opened, Path):
        split, notes = beir.find_split(opened)
        name = name or opened.resolve().name
        opened = _open_file(split, schema)
    if _is_opened(opened):
        file, written = opened
        if written.name == "trec":
            refuse_map(schema, file.label, written.title)
            made = trec.read_judgments(file, intents=intents, forced=format is not None)
        else:
            made = _make_judgments(read_file(file, written, schema), file)
        return replace(made, name=name or made.name or "judgments", notes=(*made.notes, *notes))
    called = name or _own_name(opened) or "judgments"
    if _is_pair(opened):
        msg = "judgments are a pair of matrices, expected one matrix of relevant ids"
        raise WrongKind(msg, hint="give grades as a dict of dicts or as a data frame")
    if _is_matrix(opened):
        return Judgments.from_matrix(opened, name=called)
    return _make_judgments(_read_object(opened, schema, called), File(b"", called, called))


def _read_object(source: object, schema: Schema, name: str) -> RawTable | Mapping[object, object]:
    if ir_datasets.is_dataset(source):
        return from_rows(ir_datasets.iterate(source, schema), schema, subject=name)
    raw = read_raw(source, schema, name=name)
    if isinstance(raw, Mapping):
        refuse_map(schema, name, "a dict of dicts or lists")
    return raw


def _make_judgments(raw: RawTable | Mapping[Any, Any], file: File) -> Judgments:
    if isinstance(raw, RawTable):
        columns = dict(raw.columns)
        if ITERATION in columns:
            columns["intent"] = columns.pop(ITERATION)
        texts = _take_texts(columns, raw)
        made = Judgments.from_columns(**columns, name=file.name, notes=raw.notes, problems=raw.problems)
        if not texts and not raw.by_text:
            return made
        query_texts, documents = texts.get("query", {}), texts.get("document", {})
        return replace(made, query_texts=query_texts, texts=documents, by_text=raw.by_text)
    make = Judgments.from_mapping if _is_nested(raw) else Judgments.from_lists
    made = make(raw, name=file.label)
    return made if file.name == file.label else replace(made, name=file.name)


def _take_texts(columns: dict[str, Any], raw: RawTable) -> dict[str, dict[str, str]]:
    """Remove texts from the columns of a table, and return them by field and id."""
    found: dict[str, dict[str, str]] = {}
    for name, key in (("question", "query"), ("text", "document")):
        values = columns.pop(name, None)
        if values is None or (name == "text" and raw.by_text):
            continue
        ids, _ = as_ids(columns[key], name=key, problems=Problems(raw.problems.subject))
        texts = as_texts(values, name=name, problems=raw.problems)
        _, first = np.unique(encode(ids), return_index=True)
        pairs = zip(take(ids, first).to_pylist(), take(texts, first).to_pylist(), strict=True)
        found[key] = {identity: text for identity, text in pairs if text is not None}
    return found


def _make_runs(raw: RawTable | Mapping[Any, Any], file: File) -> Mapping[str | None, Run]:
    """Return the runs of a table by system; None where it has no column of them."""
    if not isinstance(raw, RawTable):
        return {None: _make_run(raw, file)}
    columns = dict(raw.columns)
    systems = columns.pop("system", None)
    texts = _take_texts(columns, raw).get("document", {})
    whole = Run.from_columns(**columns, name=file.name, notes=raw.notes, problems=raw.problems)
    if raw.empty:
        empty, _ = as_ids(list(raw.empty), name="query", problems=Problems(file.label))
        whole = replace(whole, source=replace(whole.to_columns(), empty=empty))
    if texts or raw.by_text:
        whole = replace(whole, texts=texts, by_text=raw.by_text)
    if systems is None:
        return {None: whole}
    ids, _ = as_ids(systems, name="system", problems=raw.problems)
    raw.problems.raise_if_any()
    encoded = ids.dictionary_encode()
    names, codes = encoded.dictionary.to_pylist(), to_numpy(encoded.indices)
    if len(names) < 2:
        return {name: replace(whole, name=name) for name in names} or {None: whole}
    return {name: _select_rows(whole, np.flatnonzero(codes == at), name) for at, name in enumerate(names)}


def _select_rows(whole: Run, rows: NDArray[np.intp], name: str) -> Run:
    source = whole.to_columns()
    at = pa.array(rows)
    some = RunColumns(
        source.query.take(at),
        source.document.take(at),
        source.score[rows],
        place=lambda row: source.place(int(rows[row])),
        empty=source.empty,
    )
    return replace(whole, source=some, name=name)


def _make_run(raw: Mapping[Any, Any], file: File) -> Run:
    if not all(map(is_plain, raw.values())):
        from judged.io.search_results import make_run

        return replace(make_run(raw, name=file.label), name=file.name)
    make = Run.from_mapping if _is_nested(raw) else Run.from_lists
    made = make(raw, name=file.label)
    return made if file.name == file.label else replace(made, name=file.name)


def _check_labels(table: Table) -> Labels:
    """Return labels; each needs exactly one kind of id, or another key."""
    from judged.tables.labels import KEYS, SCHEMA as LABEL_COLUMNS, Labels

    columns, problems = table.columns, table.problems
    rows = len(table)
    present = {key: columns[key].is_valid().to_numpy(zero_copy_only=False) for key in KEYS if key in columns}
    if "id" in present and "domain_id" in present:
        problems.add_rows(
            "two-ids",
            np.flatnonzero(present["id"] & present["domain_id"]),
            lambda row: (
                f"has both `id` ({columns['id'][row]}) and `domain_id` ({columns['domain_id'][row]}), "
                "expected one of them"
            ),
        )
    known = np.logical_or.reduce([*present.values(), np.zeros(rows, dtype=bool)])
    unknown = [row for row in np.flatnonzero(~known).tolist() if row not in problems.rows]
    problems.add_rows(
        "label-without-key", unknown, lambda _: f"names no result, expected one of {', '.join(KEYS)}"
    )
    problems.raise_if_any()
    held = {
        column.name: columns.get(column.name, pa.nulls(rows, pa.large_string())) for column in LABEL_COLUMNS
    }
    return Labels(pa.table(held, schema=LABEL_COLUMNS), name=table.name, notes=table.notes)


def _open_file(source: object, schema: Schema) -> tuple[File, Format]:
    opened = open_path(source, schema)
    if not _is_opened(opened):
        msg = f"{source} is not a file; expected a file of {schema.name}"
        raise Unreadable(msg)
    file, written = opened
    return file, written


def _is_opened(opened: object) -> bool:
    return isinstance(opened, tuple) and len(opened) == 2 and isinstance(opened[0], File)


def _is_matrix(source: object) -> bool:
    """Return whether this is an array of NumPy's or of a library that shares its memory (DLPack)."""
    return isinstance(source, np.ndarray) or hasattr(type(source), "__dlpack__")


def _is_pair(source: object) -> bool:
    return isinstance(source, tuple) and len(source) == 2 and all(_is_matrix(matrix) for matrix in source)


def _is_nested(mapping: Mapping[object, object]) -> bool:
    return any(isinstance(inner, Mapping) for inner in mapping.values()) or not mapping


def _own_name(source: Any) -> str | None:
    return str(source.dataset_id()) if ir_datasets.is_dataset(source) else None


def _empty(source: object, name: str, kind: str) -> BadInput:
    """Return the error that a file, called as the user wrote it, or a table holds nothing."""
    label = os.fsdecode(source) if isinstance(source, str | os.PathLike) and source != "-" else name
    return BadInput(label, [Problem.error("empty", label, f"holds no {kind}")])
