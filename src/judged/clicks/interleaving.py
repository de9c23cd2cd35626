"""`interleave`: one list of two runs, in which every document belongs to a team; and logs joined with such lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from judged.arrays import Flags, Floats, Ints
from judged.blocks import Block, Display, Notes, Sentence, Table
from judged.clicks.columns import encode_names, parse_numbers
from judged.clicks.logs.read import list_texts
from judged.clicks.policy import RankedRun, rank_run
from judged.clicks.tables import Clicks, Names
from judged.errors import BadInput, BadSample, UnknownName, WrongKind, check_kind
from judged.io.table import read_table
from judged.problem import Note, Problem
from judged.result import Provenance, Result, observe_files, tabulate
from judged.store.hashing import hash_text
from judged.tables.columns import to_numpy
from judged.tables.schema import QUERY_COLUMNS, Field, Schema
from judged.wording import counted

InterleavingMethod: TypeAlias = Literal["team-draft", "probabilistic"]
STEEPNESS = 3
"""The exponent of the ranks in probabilistic interleaving, as published."""
LISTS = Schema(
    "lists",
    (
        Field("query", QUERY_COLUMNS),
        Field("list", ("list", "list_id"), required=False),
        Field("document", ("document", "docno", "doc_id", "docid")),
        Field("team"),
        Field("common", ("common", "common_prefix"), "text", required=False),
    ),
    nested=("query", "document", "team"),
)
"""Interleaved lists: the team of every document, and whether both runs begin with it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of an interleaved list."""

    query: str
    list: str
    rank: int
    document: str
    team: str
    common: int
    """1 if both runs have the document at this rank, in the part with which both begin."""


@dataclass(frozen=True, eq=False, repr=False)
class InterleavedLists(Result):
    """Lists of two runs; save them as CSV, Parquet or JSON Lines, and show them to users."""

    kind: ClassVar[str] = "interleaved"

    teams: tuple[str, str]
    method: InterleavingMethod
    entries: tuple[Entry, ...]
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    def tables(self) -> Mapping[str, pa.Table]:
        """Return a row for each document of each list."""
        return {
            "lists": tabulate(
                [
                    {name: getattr(entry, name) for name in Entry.__dataclass_fields__}
                    for entry in self.entries
                ]
            )
        }

    def summary(self) -> Mapping[str, object]:
        """Return the method and the teams."""
        return {"method": self.method, "teams": list(self.teams)}

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return how many lists there are, the first of them, and the notes."""
        lists = dict.fromkeys((entry.query, entry.list) for entry in self.entries)
        first, second = self.teams
        share = np.mean([entry.common for entry in self.entries]) if self.entries else 0.0
        yield Sentence(
            f"{counted(len(lists), 'list')} of {first} and {second} by {self.method}; {100 * share:.0f} % of the documents are in a common beginning"
        )
        most = len(self.entries) if display.per_query else 10
        rows = tuple(
            (entry.query, entry.list, entry.rank, entry.document, entry.team, entry.common)
            for entry in self.entries[:most]
        )
        title = f"Lists (first {len(rows):,} of {counted(len(self.entries), 'document')})"
        yield Table(("query", "list", "rank", "document", "team", "common"), rows, title=title, keys=2)
        if display.notes and self.notes:
            yield Notes(self.notes)


def interleave(
    run_a: object,
    run_b: object,
    method: InterleavingMethod = "team-draft",
    *,
    k: int = 10,
    seed: int = 0,
    lists: int = 1,
    names: Sequence[str] | None = None,
) -> InterleavedLists:
    """Make lists of two runs to show to users: each document belongs to the team that placed it.

    With `team-draft`, both runs choose in turn, who goes first being drawn in every round, the best document that is not
    there yet. With `probabilistic`, a run is drawn for every place, and a document from it with a probability that falls
    with the third power of its rank, so that every list is possible. `k` is the length, `lists` the number of lists for each
    query, `names` those of the teams. The lists of a query depend on `seed` and the query alone.

    Show every impression a list, log its id with the clicks, and judge the outcome by
    `judged.evaluate_clicks(judged.read_clicks(log, lists=lists), "Interleaving")`.

    >>> made = interleave({"q": ["a", "b"]}, {"q": ["a", "b"]}, k=2, names=["old", "new"])
    >>> [entry.document for entry in made.entries], sum(entry.common for entry in made.entries)
    (['a', 'b'], 2)
    """
    check_kind("method", method, str, "the name of a method")
    for name, value in (("k", k), ("seed", seed), ("lists", lists)):
        check_kind(name, value, int, "a whole number")
    if method not in get_args(InterleavingMethod):
        raise UnknownName("method of interleaving", str(method), list(get_args(InterleavingMethod)))
    if k < 1 or lists < 1 or seed < 0:
        msg = (
            f"`k` is {k}, `lists` {lists} and `seed` {seed}, expected whole numbers from 1, and a seed from 0"
        )
        raise BadSample(msg)
    inputs = observe_files([("run", run_a), ("run", run_b)])
    runs = rank_run(run_a), rank_run(run_b)
    teams = _name_teams(runs, names)
    first, second = (_list_results(run, k) for run in runs)
    draw = _draft if method == "team-draft" else _sample
    entries: list[Entry] = []
    for query in sorted(first.keys() & second.keys(), key=str.encode):
        both = first[query], second[query]
        prefix = _count_common(*both)
        rng = np.random.default_rng([seed, int(hash_text(query)[:15], 16)])
        for number in range(1, lists + 1):
            entries += [
                Entry(
                    query,
                    str(number),
                    rank,
                    document,
                    teams[team],
                    int(rank <= prefix and both[0][rank - 1] == document),
                )
                for rank, (document, team) in enumerate(draw(both, k, rng), start=1)
            ]
    if not entries:
        msg = f"{teams[0]} and {teams[1]} have no query in common"
        raise BadSample(msg)
    alone = len(first.keys() ^ second.keys())
    message = f"{counted(alone, 'query')} with results of one run only: left out"
    notes = (Note("one-run", "warning", message),) if alone else ()
    settings = {"method": method, "k": k, "seed": seed, "lists": lists}
    return InterleavedLists(
        teams, method, tuple(entries), notes, Provenance(inputs=inputs, settings=settings)
    )


def _name_teams(runs: tuple[RankedRun, RankedRun], names: Sequence[str] | None) -> tuple[str, str]:
    given = [run.name for run in runs] if names is None else list_texts("names", names)
    if len(given) != 2:
        msg = f"{counted(len(given), 'name')} of teams, expected two"
        raise BadSample(msg)
    if given[0] == given[1]:
        if names is not None:
            msg = f"both teams are called `{given[0]}`, expected two names"
            raise BadSample(msg)
        given = ["a", "b"]
    return given[0], given[1]


def _list_results(run: RankedRun, k: int) -> dict[str, list[str]]:
    """Return the documents of each query, best first; more than `k` are never needed by a draft."""
    queries, documents = run.query.names.to_pylist(), run.document.names.to_pylist()
    # a list takes at most k from either run, of which the other may have k − 1 already
    within = np.flatnonzero(run.rank < 2 * k)
    found: dict[str, list[str]] = {}
    for query, document in zip(
        run.query.codes[within].tolist(), run.document.codes[within].tolist(), strict=True
    ):
        found.setdefault(queries[query], []).append(documents[document])
    return found


def _count_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the part with which both lists begin."""
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return at
    return min(len(first), len(second))


def _draft(
    both: tuple[Sequence[str], Sequence[str]], k: int, rng: np.random.Generator
) -> list[tuple[str, int]]:
    """Return a list by team draft, with the team of each document."""
    shown: dict[str, int] = {}
    places, sizes = [0, 0], [0, 0]
    while len(shown) < k:
        for team in (0, 1):
            while places[team] < len(both[team]) and both[team][places[team]] in shown:
                places[team] += 1
        there = [places[team] < len(both[team]) for team in (0, 1)]
        if not any(there):
            break
        team = int(rng.random() < 0.5) if sizes[0] == sizes[1] else int(sizes[1] < sizes[0])
        if not there[team]:
            team = 1 - team
        shown[both[team][places[team]]] = team
        sizes[team] += 1
    return list(shown.items())


def _sample(
    both: tuple[Sequence[str], Sequence[str]], k: int, rng: np.random.Generator
) -> list[tuple[str, int]]:
    """Return a list by probabilistic interleaving, with the team of each document."""
    weights: list[Floats] = [np.arange(1, len(results) + 1, dtype=float) ** -STEEPNESS for results in both]
    place = [{document: at for at, document in enumerate(results)} for results in both]
    shown: dict[str, int] = {}
    while len(shown) < k and any(weight.any() for weight in weights):
        team = int(rng.random() < 0.5)
        if not weights[team].any():
            team = 1 - team
        weight = weights[team]
        document = both[team][int(rng.choice(len(weight), p=weight / weight.sum()))]
        shown[document] = team
        for other in (0, 1):
            if document in place[other]:
                weights[other][place[other][document]] = 0.0
    return list(shown.items())


def join_lists(clicks: Clicks, lists: object) -> Clicks:
    """Return a log with the team of every document, from the lists that it showed.

    A log that names its lists is joined by query, list and document; else every query has one list.
    """
    if isinstance(lists, InterleavedLists):
        lists = lists.to_arrow()
    inputs = observe_files([("lists", lists)])
    if isinstance(lists, Mapping):
        msg = "interleaved lists cannot be read from a dict, expected a file, a table or rows"
        raise WrongKind(msg)
    table = read_table(lists, LISTS)
    problems = table.problems
    codes = {
        name: Names(*encode_names(pa.chunked_array([table.columns[name]]), name, problems, required=True))
        for name in ("query", "document", "team")
    }
    problems.raise_if_any()
    by_list = clicks.list is not None and "list" in table.columns
    named = (
        Names(*encode_names(pa.chunked_array([table.columns["list"]]), "list", problems, required=True))
        if by_list
        else None
    )
    entry = _join_keys(codes["query"], codes["document"], named, clicks, own=True)
    row = _join_keys(codes["query"], codes["document"], named, clicks, own=False)
    known = np.flatnonzero(entry >= 0)
    distinct, first, times = np.unique(entry[known], return_index=True, return_counts=True)
    if len(times) and times.max() > 1:
        message = "a query has a document in several lists, and the log does not say which list it showed"
        raise BadInput(
            "lists", [Problem.error("several-lists", "lists", message)], hint="the log needs a column `list`"
        )
    at = np.minimum(np.searchsorted(distinct, row), max(len(distinct) - 1, 0))
    found: Flags = (distinct[at] == row) & (row >= 0) if len(distinct) else np.zeros(len(row), dtype=bool)
    place: Ints = known[first][at] if len(distinct) else np.zeros(len(row), dtype=np.int64)
    if not found.any():
        message = "none of the documents that the log shows is in these lists"
        raise BadInput("lists", [Problem.error("other-lists", "lists", message)])
    team = Names(np.where(found, codes["team"].codes[place], -1), codes["team"].names)
    common = None
    if "common" in table.columns:
        flags = parse_numbers(pa.chunked_array([table.columns["common"]]), "common", problems)
        problems.raise_if_any()
        common = found & (flags[place] > 0)
    stray = int((~found).sum())
    message = f"{counted(stray, 'document')} shown and in no list: without a team"
    notes = (*clicks.notes, Note("no-team", "warning", message)) if stray else clicks.notes
    return replace(clicks, team=team, common=common, notes=notes, input_files=(*clicks.input_files, *inputs))


def _join_keys(query: Names, document: Names, named: Names | None, clicks: Clicks, *, own: bool) -> Ints:
    """Return a number for each entry of the lists (`own`), or for each row of the log, the same where both agree."""
    if own:
        parts = [(query.codes, query.names), (document.codes, document.names)]
        if named is not None:
            parts.append((named.codes, named.names))
    else:
        parts = [
            (clicks.query.codes[clicks.owner], clicks.query.names),
            (clicks.document.codes, clicks.document.names),
        ]
        if named is not None and clicks.list is not None:
            parts.append((clicks.list.codes[clicks.owner], clicks.list.names))
    key = np.zeros(len(parts[0][0]), dtype=np.int64)
    missing = np.zeros(len(key), dtype=bool)
    known = [query.names, document.names, *([named.names] if named is not None else [])]
    for (codes, names), base in zip(parts, known, strict=True):
        number = _find(names, base)[codes]
        missing |= (number < 0) | (codes < 0)
        key = key * (len(base) + 1) + np.maximum(number, 0)
    return np.where(missing, -1, key)


def _find(names: pa.Array, known: pa.Array) -> Ints:
    import pyarrow.compute as pc

    return to_numpy(pc.index_in(names, value_set=known).fill_null(-1)).astype(np.int64)
