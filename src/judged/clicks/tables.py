"""Clicks: what was shown in every impression, and what was clicked, as flat arrays cut by impression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from judged.arrays import Flags, Floats, Ints
from judged.clicks.columns import encode_names, parse_counts, parse_numbers, parse_ranks, parse_times
from judged.errors import BadInput
from judged.problem import Note, Problem, Problems
from judged.result import InputFile
from judged.tables.columns import one_array, take, to_strings
from judged.tables.schema import QUERY_COLUMNS, Field, Schema
from judged.wording import counted

CLICKS = Schema(
    "clicks",
    (
        Field("query", ("user_query", *QUERY_COLUMNS, "query_md5"), required=False),
        Field(
            "impression",
            ("impression", "impression_id", "display_id", "serp_id", "query_id"),
            required=False,
            within={"query_id": ("user_query",)},
        ),
        Field(
            "document",
            (
                *("document", "doc", "docno", "doc_id", "document_id", "object_id", "item_id", "ad_id"),
                *("url", "url_md5", "product_id"),
            ),
        ),
        Field("rank", ("rank", "position", "ordinal"), "text", required=False),
        Field("click", ("click", "clicked", "clicks", "label"), "text", required=False),
        Field("time", ("time", "timestamp"), "text", required=False),
        Field("click_time", ("click_time", "click_timestamp", "clicked_at"), "text", required=False),
        Field("dwell", ("dwell", "dwell_s", "dwell_seconds", "dwell_time"), "text", required=False),
        Field("dwell_ms", ("dwell_ms", "dwell_milliseconds"), "text", required=False),
        Field("user", ("user", "user_id", "client_id", "visitor_id", "uuid"), required=False),
        Field("session", ("session", "session_id"), required=False),
        Field("system", ("system", "variant", "arm", "group", "run"), required=False),
        Field("propensity", ("propensity", "pscore", "propensity_score"), "text", required=False),
        Field("list", ("list", "list_id"), required=False),
        Field("team", required=False),
        Field("common", ("common", "common_prefix"), "text", required=False),
    ),
)
"""What was shown, a row for each document, and whether it was clicked."""

Column: TypeAlias = Any
"""A list, an array of NumPy, or a column of Arrow."""
WHOLE_LOG = "all"
"""The query of all impressions of a log that has none."""


class Names(NamedTuple):
    """Names of rows or impressions: a number for each, −1 where there is none, and the names by number."""

    codes: Ints
    names: pa.Array

    def take(self, rows: Ints) -> Names:
        """Return the names of some of them."""
        return Names(self.codes[rows], self.names)

    def to_array(self) -> pa.Array:
        """Return the name of each; null where there is none."""
        known = take(self.names, np.maximum(self.codes, 0)) if len(self.names) else pa.nulls(len(self.codes))
        if (self.codes >= 0).all():
            return known
        import pyarrow.compute as pc

        return pc.if_else(pa.array(self.codes >= 0), known, pa.scalar(None, pa.large_string()))


@dataclass(frozen=True, eq=False)
class Clicks:
    """A log of clicks: `offset` cuts the rows, which are documents shown, by impression, and ranks ascend in each.

    Read one with `judged.read_clicks`.
    """

    family: ClassVar[str] = "click"
    """The measures that score this table."""

    impressions: pa.Array
    """The id of every impression, in the order of the log."""
    offset: Ints
    query: Names
    """The query of each impression."""
    document: Names
    """The document of each row."""
    click: Flags
    rank: Ints | None = None
    """The rank of each row, from 1; None: the log has none."""
    time: Floats | None = None
    """When each impression was shown, in seconds."""
    click_time: Floats | None = None
    """When each row was clicked, in seconds; NaN where it was not."""
    dwell: Floats | None = None
    """Seconds that were spent on each row after a click; NaN where that is not known."""
    user: Names | None = None
    session: Names | None = None
    system: Names | None = None
    """The system of each impression."""
    propensity: Floats | None = None
    """Probability with which the document of each row was shown there."""
    list: Names | None = None
    """The interleaved list that each impression showed."""
    team: Names | None = None
    """The system that each row was taken from, in interleaved lists."""
    common: Flags | None = None
    """Whether each row is in the part that both systems begin with."""
    name: str = "clicks"
    form: str = "columns"
    """The format it was read from."""
    missing_queries: bool = False
    """Whether the log has no queries, so that all impressions are of one."""
    notes: tuple[Note, ...] = ()
    input_files: tuple[InputFile, ...] = field(default=(), repr=False)
    """The files it was read from."""

    def __len__(self) -> int:
        return len(self.offset) - 1

    def __repr__(self) -> str:
        rows = counted(len(self.click), "document")
        return f"Clicks({self.name}: {counted(len(self), 'impression')} of {rows}, {int(self.click.sum()):,} clicked)"

    @property
    def clusters(self) -> Names | None:
        """The independent draws: users, else sessions; None: neither is known."""
        return self.user if self.user is not None else self.session

    @cached_property
    def owner(self) -> Ints:
        """The number of the impression of each row."""
        return np.repeat(np.arange(len(self)), np.diff(self.offset))

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Ints]:
        """The number of the query and document of each row, and the query and the document of each of these pairs."""
        width = max(len(self.document.names), 1)
        key = self.query.codes[self.owner] * width + self.document.codes
        known, pair = np.unique(key, return_inverse=True)
        return pair.reshape(-1), known // width, known % width

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order in which they first occur; empty if the log names none."""
        return () if self.system is None else tuple(self.system.names.to_pylist())

    def select(self, impressions: Ints) -> Clicks:
        """Return some of the impressions, in their order."""
        from judged.kernels.segments import take_segments

        rows, offset = take_segments(self.offset, impressions)
        by_row: dict[str, Any] = {
            name: None if (column := getattr(self, name)) is None else column[rows] for name in _BY_ROW
        }
        named = {name: _take(getattr(self, name), rows) for name in ("document", "team")}
        by_impression = {
            name: _take(getattr(self, name), impressions)
            for name in ("query", "user", "session", "system", "list")
        }
        return replace(
            self,
            impressions=take(self.impressions, impressions),
            offset=offset,
            time=None if self.time is None else self.time[impressions],
            **by_row,
            **named,
            **by_impression,
        )

    def split(self) -> Mapping[str, Clicks]:
        """Return the impressions of each system; the whole log under its own name if it names none."""
        if self.system is None:
            return {self.name: self}
        return {
            name: replace(self.select(np.flatnonzero(self.system.codes == code)), system=None, name=name)
            for code, name in enumerate(self.systems)
        }

    def to_arrow(self) -> pa.Table:
        """Return a row for each document shown."""
        columns: dict[str, Any] = {
            "impression": take(self.impressions, self.owner),
            "query": self.query.take(self.owner).to_array(),
            "document": self.document.to_array(),
        }
        for name in ("user", "session", "system", "list"):
            if (names := getattr(self, name)) is not None:
                columns[name] = names.take(self.owner).to_array()
        if self.team is not None:
            columns["team"] = self.team.to_array()
        for name in _BY_ROW:
            if (values := getattr(self, name)) is not None:
                columns[name] = pa.array(values)
        if self.time is not None:
            columns["time"] = pa.array(self.time[self.owner])
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


_BY_ROW = ("click", "rank", "click_time", "dwell", "propensity", "common")


def _take(names: Names | None, rows: Ints) -> Any:
    return None if names is None else names.take(rows)


@dataclass
class Log:
    """Columns that a reader found, a value for each document shown, and what it has to say about them."""

    columns: dict[str, Column]
    problems: Problems
    form: str = "columns"
    notes: list[Note] = field(default_factory=list)
    missing_queries: bool = False
    row_is_impression: bool = False
    """Whether every row is an impression of its own."""

    def note(self, code: str, message: str, severity: Any = "info") -> None:
        """Add a note."""
        self.notes.append(Note(code, severity, message))


def make_clicks(log: Log, name: str) -> Clicks:
    """Return the log as a table, rows grouped by impression and sorted by rank; raise `BadInput` for what is wrong."""
    columns, problems = log.columns, log.problems
    lengths = {field: len(column) for field, column in columns.items()}
    if not lengths or not lengths["document"]:
        problems.raise_if_any()
        raise BadInput(problems.subject, [Problem.error("empty", problems.subject, "holds no impressions")])
    count = lengths["document"]
    document = _names(columns, "document", problems, required=True)
    query = _names(columns, "query", problems, required=True)
    click = _parse_clicks(columns, log, count)
    rank = parse_ranks(columns["rank"], problems) if "rank" in columns else None
    by_row = {field: _names(columns, field, problems) for field in ("user", "session", "system", "list")}
    times = {
        field: parse_times(columns[field], field, log) for field in ("time", "click_time") if field in columns
    }
    numbers: dict[str, Floats] = {
        field: parse_numbers(columns[field], field, problems)
        for field in ("dwell", "dwell_ms", "propensity", "common")
        if field in columns
    }
    _check_numbers(numbers, problems)
    problems.raise_if_any(hint=problems.hint)
    assert document is not None  # noqa: S101 - required
    if query is None:
        query = Names(np.zeros(count, dtype=np.int64), to_strings([WHOLE_LOG]))
    if rank is not None and int(rank.min()) == 0:
        rank = rank + 1
        log.note("ranks-from-0", "ranks begin at 0 in this log: 1 was added to each", "warning")
    impression, ids = _group(log, query, by_row, rank, count)
    order = np.lexsort((np.arange(count) if rank is None else rank, impression))
    order = _drop_repeats(order, impression, document.codes, click, log)
    if "click_time" in times and not click.all():
        times["click_time"] = np.where(click, times["click_time"], np.nan)
    sorted_impression = impression[order]
    starts = np.concatenate(([True], sorted_impression[1:] != sorted_impression[:-1]))
    offset = np.concatenate((np.flatnonzero(starts), [len(order)])).astype(np.int64)
    first = order[offset[:-1]]
    _check_impressions(query, by_row, impression, first, ids, problems)
    dwell = numbers.get("dwell")
    if dwell is None and "dwell_ms" in numbers:
        dwell = numbers["dwell_ms"] / 1000
    team = _names(columns, "team", problems)
    made = Clicks(
        impressions=ids,
        offset=offset,
        query=query.take(first),
        document=document.take(order),
        click=click[order],
        rank=None if rank is None else rank[order],
        time=times["time"][first] if "time" in times else None,
        click_time=times["click_time"][order] if "click_time" in times else None,
        dwell=None if dwell is None else dwell[order],
        propensity=numbers["propensity"][order] if "propensity" in numbers else None,
        common=numbers["common"][order] > 0 if "common" in numbers else None,
        team=None if team is None else team.take(order),
        name=name,
        form=log.form,
        missing_queries=log.missing_queries,
    )
    named = {field: None if names is None else names.take(first) for field, names in by_row.items()}
    return replace(made, notes=tuple(log.notes), **named)  # type: ignore[arg-type]  # of users, sessions, systems, lists


def _names(
    columns: Mapping[str, Column], name: str, problems: Problems, *, required: bool = False
) -> Names | None:
    if name not in columns:
        return None
    found = Names(*encode_names(columns[name], name, problems, required=required))
    return found if required or (found.codes >= 0).any() else None


def _parse_clicks(columns: Mapping[str, Column], log: Log, count: int) -> Flags:
    if "click" not in columns:
        message = "no column says what was clicked"
        hint = (
            "a log has a row for every document shown, clicked or not; pairs that were clicked alone are judgments:"
            " read them with `judged score`"
        )
        raise BadInput(log.problems.subject, [Problem.error("missing-column", "columns", message)], hint=hint)
    counts = parse_counts(columns["click"], "click", log.problems)
    many = int((counts > 1).sum())
    if many:
        log.note(
            "repeated-clicks", f"{counted(many, 'document')} clicked more than once: counted as one click"
        )
    flags: Flags = counts > 0
    if len(flags) != count:  # lists of unequal lengths were refused
        raise AssertionError
    return flags


def _check_numbers(numbers: Mapping[str, Floats], problems: Problems) -> None:
    rules: dict[str, tuple[Callable[[Floats], Any], str]] = {
        "propensity": (lambda v: ~((v > 0) & (v <= 1)), "expected a probability above 0, up to 1"),
        "dwell": (lambda v: v < 0, "expected seconds from 0"),
        "dwell_ms": (lambda v: v < 0, "expected milliseconds from 0"),
    }
    for name, (is_wrong, expected) in rules.items():
        if name in numbers:
            values = numbers[name]
            wrong = np.flatnonzero(is_wrong(values))
            problems.add_rows(
                f"bad-{name}",
                wrong,
                lambda row, v=values, n=name, e=expected: f"{n} is {v[row]:g}, {e}",  # type: ignore[misc]
            )


def _group(
    log: Log, query: Names, by_row: Mapping[str, Names | None], rank: Ints | None, count: int
) -> tuple[Ints, pa.Array]:
    """Return the number of the impression of each row, and the ids of impressions."""
    if log.row_is_impression:
        return np.arange(count), to_strings(str(number) for number in range(1, count + 1))
    if "impression" in log.columns:
        named = _names(log.columns, "impression", log.problems, required=True)
        log.problems.raise_if_any()
        assert named is not None  # noqa: S101 - required
        return named.codes, named.names
    # consecutive rows of one session and query, as long as ranks ascend
    new = np.zeros(count, dtype=bool)
    new[0] = True
    for names in (query, by_row["session"] or by_row["user"], by_row["system"], by_row["list"]):
        if names is not None:
            new[1:] |= names.codes[1:] != names.codes[:-1]
    if rank is not None:
        new[1:] |= rank[1:] <= rank[:-1]
    impression = np.cumsum(new) - 1
    message = "no impressions are named: consecutive rows of a query are one, as long as ranks ascend"
    if by_row["session"] is not None or by_row["user"] is not None:
        message = message.replace(
            "of a query", f"of a {'session' if by_row['session'] else 'user'} and query"
        )
    if rank is None:
        message = message.removesuffix(", as long as ranks ascend")
    log.note("unnamed-impressions", message)
    return impression, to_strings(str(number) for number in range(1, int(impression[-1]) + 2))


def _drop_repeats(order: Ints, impression: Ints, document: Ints, click: Flags, log: Log) -> Ints:
    """Return the rows without documents that an impression has already shown, whose clicks go to the first."""
    key = impression[order] * (int(document.max()) + 1) + document[order]
    _, first, member = np.unique(key, return_index=True, return_inverse=True)
    if len(first) == len(order):
        return order
    log.note(
        "repeated-documents",
        f"{counted(len(order) - len(first), 'document')} shown twice in an impression: the first place counts",
        "warning",
    )
    kept = np.sort(first)
    clicked = np.bincount(member.reshape(-1), weights=click[order]) > 0
    click[order[first]] = clicked
    first_rows: Ints = order[kept]
    return first_rows


def _check_impressions(
    query: Names,
    by_row: Mapping[str, Names | None],
    impression: Ints,
    first: Ints,
    ids: pa.Array,
    problems: Problems,
) -> None:
    """Raise `BadInput` for impressions that have two queries, users, sessions or systems."""
    leader = np.zeros(int(impression.max()) + 1, dtype=np.int64)
    leader[impression[first]] = first
    own = leader[impression]
    for name, names in (("query", query), *by_row.items()):
        if names is None:
            continue
        other = np.flatnonzero(names.codes != names.codes[own])
        problems.add_rows(
            f"two-{name}s",
            other,
            lambda row, n=name, of=names: (  # type: ignore[misc]
                f"impression `{ids[int(impression[row])]}` has the {n} {_show(of, row)} here"
                f" and {_show(of, int(own[row]))} before, expected one"
            ),
        )
    problems.raise_if_any(hint="each showing of a list needs an id of its own")


def _show(names: Names, row: int) -> str:
    code = int(names.codes[row])
    return "nothing" if code < 0 else f"`{names.names[code]}`"


def join_logs(logs: Mapping[str, Clicks]) -> Clicks:
    """Return the logs of several systems as one, whose column `system` names them."""
    parts, tables = list(logs), []
    for name, clicks in logs.items():
        table = clicks.to_arrow()
        # impressions of two files are different, whatever their ids
        ids = pa.array(clicks.owner)
        columns = {column: table[column] for column in table.column_names if column != "system"}
        columns["impression"] = _prefix(name, table["impression"])
        tables.append(pa.table({**columns, "system": pa.array([name] * len(ids), pa.large_string())}))
    whole = pa.concat_tables(tables, promote_options="default")
    log = Log({column: whole[column] for column in whole.column_names}, Problems(", ".join(parts)))
    for column in ("dwell", "propensity", "click_time", "time", "common"):  # of some logs only
        if any(getattr(clicks, column) is None for clicks in logs.values()):
            log.columns.pop(column, None)
    made = make_clicks(log, ", ".join(parts))
    notes = dict.fromkeys(note for clicks in logs.values() for note in clicks.notes)
    files = tuple(file for clicks in logs.values() for file in clicks.input_files)
    forms = dict.fromkeys(clicks.form for clicks in logs.values())
    return replace(
        made,
        notes=(*notes, *made.notes),
        input_files=files,
        form=" and ".join(forms),
        missing_queries=any(clicks.missing_queries for clicks in logs.values()),
    )


def _prefix(name: str, ids: pa.ChunkedArray) -> pa.Array:
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(
        pa.scalar(name, pa.large_string()), one_array(ids), pa.scalar("/", pa.large_string())
    )
