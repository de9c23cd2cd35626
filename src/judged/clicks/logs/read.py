"""`read_clicks`: a log of clicks in any known format, as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from judged.clicks.tables import CLICKS, Clicks, Log, join_logs, make_clicks
from judged.errors import BadInput, UnknownName, Unreadable, WrongKind, check_kind
from judged.io.open import File, is_file
from judged.io.table import RawTable, is_frame, open_path, read_file, read_raw
from judged.problem import Problem
from judged.result import observe_files
from judged.tables.columns import holds_lists
from judged.tables.mapping import Columns, map_schema
from judged.tables.schema import Schema
from judged.wording import name_setting

if TYPE_CHECKING:
    from judged.io.sniff import Format

HEAD = 65_536
"""First bytes of a file that show its format."""


class LogFormat(NamedTuple):
    """A format of logs that is not a table of columns, or that lacks some."""

    title: str
    lacks: tuple[str, ...]
    """What the format lacks."""


LOG_FORMATS: Mapping[str, LogFormat] = {
    "columns": LogFormat("columns", ()),
    "ubi": LogFormat("User Behavior Insights of OpenSearch", ("dwell",)),
    "yandex": LogFormat("Yandex", ("dwell", "times in seconds", "users")),
    "mind": LogFormat("MIND", ("queries", "ranks", "dwell", "times of clicks")),
    "outbrain": LogFormat("Outbrain", ("queries", "ranks", "users", "dwell", "times of clicks")),
    "baidu-ultr": LogFormat("Baidu-ULTR", ("users", "times of clicks")),
    "open-bandit": LogFormat("Open Bandit", ("queries", "users", "dwell", "times of clicks")),
}
"""Every format of logs by name."""


def read_clicks(
    source: object,
    *,
    queries: object = None,
    action: str | Sequence[str] = "click",
    lists: object = None,
    name: str | None = None,
    map: Columns | None = None,  # noqa: A002 - what users call it
) -> Clicks:
    r"""Return a log of clicks: a row for every document that was shown, clicked or not, by impression.

    `source` is a file or a table with `query`, `impression`, `document`, `rank`, `click` and perhaps `time`, `click_time`,
    `dwell` (seconds), `user`, `session`, `system` and `propensity`, in any format; a list in each row for an impression
    is read as well, as Baidu-ULTR has it. Logs of OpenSearch's User Behavior Insights (`ubi_events`, with `ubi_queries` as
    `queries`; `action` says which events count as a click), of Yandex, MIND, Outbrain and Open Bandit are recognised. A
    dict from names to logs is one log of several systems.

    `lists` are interleaved lists, as `judged.interleave` writes them, which the log showed: they say which system each
    document is from. Without ids of impressions, consecutive rows of a session and query are one. `map` names columns by field.

    >>> log = read_clicks(b"query,impression,document,rank,click\nq,1,a,1,0\nq,1,b,2,1\n")
    >>> log
    Clicks(clicks: 1 impression of 2 documents, 1 clicked)
    """
    if isinstance(source, Clicks):
        return source if name is None else replace(source, name=name)
    if isinstance(source, Mapping) and _is_by_system(source):
        read = {
            str(system): read_clicks(
                log, queries=queries, action=action, lists=lists, name=str(system), map=map
            )
            for system, log in source.items()
        }
        return join_logs(read)
    actions = list_texts("action", action)
    if isinstance(source, Mapping):
        source = _to_table(source)
    inputs = observe_files([("clicks", source), *([("queries", queries)] if queries is not None else [])])
    schema = map_schema(CLICKS, source, map)
    log, own = _open_log(source, schema, queries, actions)
    clicks = replace(make_clicks(log, name or own or "clicks"), input_files=inputs)
    if lists is None:
        return clicks
    from judged.clicks.interleaving import join_lists

    return join_lists(clicks, lists)


def _is_by_system(source: object) -> bool:
    """Return whether a source is a dict from systems to logs; a dict of columns is one log."""
    if not isinstance(source, Mapping) or not source:
        return False
    return all(
        isinstance(log, Clicks) or is_file(log) or is_frame(log) or _is_rows(log) for log in source.values()
    )


def _to_table(columns: Mapping[Any, Any]) -> pa.Table:
    """Return a dict of columns as a table; raise `WrongKind` for any other."""
    try:
        return pa.table({str(name): column for name, column in columns.items()})
    except (pa.ArrowException, TypeError, ValueError) as error:
        msg = "clicks cannot be read from this dict, expected columns by name, or logs by system"
        raise WrongKind(msg) from error


def list_texts(name: str, texts: str | Sequence[str]) -> list[str]:
    """Return one text, or several, as a list; raise `WrongKind` for anything else."""
    listed = [texts] if isinstance(texts, str) else texts
    check_kind(name, listed, (list, tuple), "a text, or several")
    for text in listed:
        check_kind(name, text, str, "a text, or several")
    return list(listed)


def _is_rows(log: object) -> bool:
    return isinstance(log, list) and bool(log) and all(isinstance(row, Mapping) for row in log)


def _open_log(source: object, schema: Schema, queries: object, actions: Sequence[str]) -> tuple[Log, str]:
    """Return the columns of a log, and the name of its file."""
    from judged.clicks.logs import text, ubi

    if is_file(source):
        opened = open_path(source, schema)
        if not isinstance(opened, tuple):
            msg = f"{source} is a folder or a data set, expected a file of clicks"
            raise Unreadable(msg)
        file, written = opened
        head = file.head(HEAD)
        found = None if schema.mapped else text.recognise(head)
        if found is not None:
            _refuse_queries(queries)
            return found(file), file.name
        if b"action_name" in head or _names_action(file, written):
            return ubi.read(source, queries, actions), file.name
        _refuse_queries(queries)
        return _read_columns(read_file(file, written, schema), schema, file.label), file.name
    if _is_ubi(source):
        return ubi.read(source, queries, actions), ""
    _refuse_queries(queries)
    return _read_columns(read_raw(source, schema, name="clicks"), schema, "clicks"), ""


def _names_action(file: File, written: Format) -> bool:
    """Return whether a column is called `action_name`; a file of Parquet does not show it in its first bytes."""
    return (
        written.name in {"parquet", "arrow"}
        and written.columns is not None
        and "action_name" in written.columns(file)
    )


def _is_ubi(source: object) -> bool:
    if is_frame(source):
        names = getattr(source, "column_names", None) or getattr(source, "columns", [])
        return "action_name" in list(names)
    if not isinstance(source, list) or not _is_rows(source):
        return False
    return "action_name" in (source[0].get("_source") or source[0])


def _refuse_queries(queries: object) -> None:
    if queries is not None:
        option = name_setting("--queries", "queries")
        msg = f"{option} is for the events of User Behavior Insights, and this is another log"
        raise WrongKind(msg)


def _read_columns(raw: RawTable | Mapping[str, Any], schema: Schema, label: str) -> Log:
    if not isinstance(raw, RawTable):
        message = "holds an object, expected rows with `query`, `document` and `click`"
        raise BadInput(label, [Problem.error("not-rows", label, message)])
    columns = dict(raw.columns)
    log = Log(columns, raw.problems)
    for sentence in raw.notes:
        log.note("columns", sentence)
    _recognise_columns(log, columns)
    if "query" not in columns and not log.missing_queries:
        message = f"{', '.join(f'`{name}`' for name in columns) or 'none'}; no query among them"
        hint = f"say which column it is: {schema.name_columns({'query': 'COLUMN'})}"
        raise BadInput(label, [Problem.error("missing-column", "columns", message)], hint=hint)
    if holds_lists(columns["document"]):
        log.columns = _explode(columns, label, log)
        if log.form == "columns":
            log.form = "baidu-ultr"
    return log


def _recognise_columns(log: Log, columns: Mapping[str, Any]) -> None:
    """Recognise the tables that have no queries by the columns that they do have."""
    if "query" in columns:
        return
    if "propensity" in columns and "impression" not in columns and "rank" in columns:
        log.form, log.missing_queries, log.row_is_impression = "open-bandit", True, True
    elif (
        "impression" in columns
        and "rank" not in columns
        and set(columns) <= {"impression", "document", "click"}
    ):
        log.form, log.missing_queries = "outbrain", True


def _explode(columns: Mapping[str, Any], label: str, log: Log) -> dict[str, Any]:
    """Return a row for each document of tables that have an impression in each row, with lists."""
    arrays = {name: _to_chunk(column) for name, column in columns.items()}
    lengths = pa.compute.list_value_length(arrays["document"]).fill_null(0)
    repeat = pa.array([row for row, many in enumerate(lengths.to_pylist()) for _ in range(many)], pa.int64())
    out: dict[str, Any] = {}
    for name, array in arrays.items():
        if not pa.types.is_nested(array.type):
            out[name] = array.take(repeat)
            continue
        own = pa.compute.list_value_length(array).fill_null(0)
        wrong = [
            row
            for row, (one, other) in enumerate(zip(own.to_pylist(), lengths.to_pylist(), strict=True))
            if one != other
        ]
        log.problems.add_rows(
            "unequal-lists",
            wrong,
            lambda row, name=name, own=own: (
                f"{name} has {own[row]} values, and {lengths[row]} documents were shown"
            ),  # type: ignore[misc]
        )
        log.problems.raise_if_any()
        out[name] = array.flatten()
    if "impression" not in out:
        out["impression"] = repeat
    log.problems = type(log.problems)(label)  # rows are of lists from here on
    return out


def _to_chunk(column: Any) -> pa.Array:
    import pyarrow.compute  # noqa: F401 - an attribute of `pa` from here on

    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column if isinstance(column, pa.Array) else pa.array(list(column))


def check_form(form: str) -> LogFormat:
    """Return what a format lacks; of several, what any of them does."""
    known = [LOG_FORMATS[part] for part in form.split(" and ") if part in LOG_FORMATS]
    if not known:
        raise UnknownName("format of logs", form, list(LOG_FORMATS))
    return LogFormat(
        " and ".join(k.title for k in known), tuple(dict.fromkeys(w for k in known for w in k.lacks))
    )
