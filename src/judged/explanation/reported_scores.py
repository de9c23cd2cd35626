"""Read what another tool reported for every query: text of three columns, CSV, JSON, nested dicts, data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from judged.errors import JudgedError, UnknownName
from judged.io.delimited import read_header
from judged.io.open import File, is_file, is_number_text, read_text
from judged.io.table import Table, is_frame, open_path, read_table
from judged.measures.measure import Measure
from judged.measures.parse import parse_measure
from judged.problem import Problems
from judged.tables.schema import ATTRIBUTES, SCORES

Rows: TypeAlias = list[tuple[str, str, str]]
"""Query, measure and value, as it is written."""
SUMMARIES = frozenset({"all", "amean", "mean", "average"})
"""Names that tools write in place of a query for the whole run."""
WIDE = replace(
    ATTRIBUTES,
    name="scores",
    fields=(ATTRIBUTES["query"]._replace(aliases=(*ATTRIBUTES["query"].names, "", "unnamed: 0")),),
)
"""A row for each query and a column for each measure; pandas leaves the name of its index empty."""
FEW_DECIMALS = 4
"""The number of decimals that most tools print."""
NEGLIGIBLE = 1e-6
"""Smaller differences are those of 32-bit floats."""


@dataclass(frozen=True)
class ReportedScores:
    """The values of one measure, query by query, as another tool reported them."""

    source: str
    """The file, as the user wrote it."""
    name: str
    """Name of the measure there."""
    values: Mapping[str, float]
    decimals: int
    """The number of decimals that were written."""

    @property
    def tolerance(self) -> float:
        """The largest difference that the digits leave open."""
        return 0.5 * 10.0**-self.decimals + NEGLIGIBLE


def read_reported(source: object, measure: Measure) -> ReportedScores:
    r"""Return the values of the measure; raise `UnknownName`, which lists the others, if there are none.

    >>> from judged.measures import AP
    >>> read_reported(b"map  q1  0.2500\nmap  all  0.2500\n", AP).values
    {'q1': 0.25}
    """
    rows, label = _read_rows(source)
    names = list(dict.fromkeys(name for _, name, _ in rows))
    meanings = {name: _parse(name) for name in names}
    known = [name for name, meaning in meanings.items() if meaning == measure]
    if not known and len(names) == 1 and meanings[names[0]] is None:
        known = names  # a single column of values, under any name
    if not known:
        listed = ", ".join(f"`{name}`" for name in names[:10]) or "none"
        kind = f"measure in {label}"
        raise UnknownName(kind, str(measure), names, hint=f"it has {listed}: choose one with `-m`")
    written = {
        query: text for query, name, text in rows if name == known[0] and query.lower() not in SUMMARIES
    }
    values = {query: float(text) for query, text in written.items()}
    return ReportedScores(label, known[0], values, _count_decimals(written.values()))


def _parse(name: str) -> Measure | None:
    try:
        return parse_measure(name)
    except JudgedError:
        return None


def _count_decimals(texts: Iterable[str]) -> int:
    """Return the number of decimals that were written; one at most, as in `1.0`, says nothing."""
    most = max((len(text.partition(".")[2]) for text in texts if "e" not in text.lower()), default=0)
    return most if most > 1 else FEW_DECIMALS


def _read_rows(source: object) -> tuple[Rows, str]:
    """Return all values, and the name of where they are from."""
    if not is_file(source):
        columns = list(getattr(source, "columns", ())) if is_frame(source) else []
        return _read_table(source, columns), "the reported scores"
    opened = open_path(source, SCORES)
    if not isinstance(opened, tuple):
        return _read_table(source, []), str(source)  # raises: it is a folder or a data set
    file, written = opened
    if written.name in {"csv", "tsv"}:
        header = read_header(file)
        if WIDE.recognises(header) and len(header) > 1:
            return _read_table(source, header), file.label
        return _orient(_read_lines(file)), file.label
    columns = [] if written.columns is None or written.name == "json" else list(written.columns(file))
    return _read_table(source, columns), file.label


def _read_table(source: object, columns: Iterable[str]) -> Rows:
    """Return the values of a table: by row, or by column if it names a query and neither measure nor value."""
    names = list(columns)
    if names and not SCORES.recognises(names, enough=3):
        return _unpivot(read_table(source, WIDE))
    return _orient(_list(read_table(source, SCORES)))


def _read_lines(file: File) -> Rows:
    """Return the values in lines of measure, query and value; those that are text, such as `runid`, are left out."""
    rows: Rows = []
    problems = Problems(file.label)
    for number, line in enumerate(bytes(read_text(file)).decode(errors="replace").splitlines(), start=1):
        parts = line.replace(",", " ").split()
        if len(parts) == 3 and is_number_text(parts[2].encode()):
            rows.append((parts[1], parts[0], parts[2]))
        elif len(parts) not in {0, 3}:
            message = f"{len(parts)} columns, expected three: measure, query and value"
            problems.add_line("malformed-line", number, message)
    problems.raise_if_any(hint="give what `trec_eval -q` prints, or a table of query, measure and value")
    return rows


def _list(table: Table) -> Rows:
    """Return the rows of a table of query, measure and value; missing values are left out."""
    table.problems.raise_if_any()
    columns = (table.columns[name].to_pylist() for name in ("query", "measure", "value"))
    rows = zip(*columns, strict=True)
    return [(query, measure, repr(value)) for query, measure, value in rows if value is not None]


def _unpivot(table: Table) -> Rows:
    """Return the rows of a table that has a column for each measure; cells that are not numbers are left out."""
    table.problems.raise_if_any()
    queries = table.columns["query"].to_pylist()
    cells = (
        (query, name, str(value))
        for name, values in table.others.items()
        for query, value in zip(queries, values, strict=True)
    )
    return [cell for cell in cells if is_number_text(cell[2].encode(errors="replace"))]


def _orient(rows: Rows) -> Rows:
    """Return rows with the query first: whichever of the two names measures is the measure."""
    swapped = not any(_parse(name) for _, name, _ in rows) and any(_parse(query) for query, _, _ in rows)
    return [(name, query, text) for query, name, text in rows] if swapped else rows
