"""The family `score`: values of every query that other tools computed, under the names that they have there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal, cast

import numpy as np

from judged.arrays import Flags, Floats
from judged.errors import BadMeasure, BadSample, UnknownName
from judged.io.scores.assemble import mean_of_attempts
from judged.io.scores.read import read_scores
from judged.io.scores.wide import describe_cells
from judged.measures.measure import Measure
from judged.problem import MISSING_VALUES, NO_DIRECTION, Note
from judged.protocol import BaseProtocol, convention
from judged.scoring.alignment import Alignment
from judged.scoring.evaluation import Evaluation
from judged.scoring.family import Family, Measures
from judged.subject import NOTHING
from judged.tables.columns import shorten, to_strings
from judged.tables.scores import ScoreKind, Scores
from judged.wording import counted, join_words, name_setting, name_some

FIRST = 3
"""Number of queries that a note names."""
LONGEST = 40
"""Characters of a query, which may be known by its text alone, that a note shows."""


@dataclass(frozen=True, slots=True)
class ScoreProtocol(BaseProtocol):
    """Conventions for values that other tools computed."""

    family: ClassVar[str] = "score"
    subject: ClassVar[str] = "a protocol of scores"

    missing: Literal["skip", "zero"] = convention(
        "skip",
        help="Reading of a value that is missing: it is left out, or counts as 0.",
        words={"skip": "missing values left out", "zero": "missing values count as 0"},
        outcomes={"skip": "left out", "zero": "counted as 0"},
    )
    """A missing value is left out of means and pairs, or counts as 0."""

    @property
    def heading(self) -> str:
        """Prefix of its line."""
        return "scores"


@dataclass(frozen=True)
class ScoreCounts:
    """Counts taken while scores were read: the queries without a value, by measure."""

    missing: Mapping[str, int]
    first: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each of these measures, the first queries without a value."""
    attempts: Mapping[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """For each measure with repeated values, how many attempts lack one, and the queries these are of."""
    undirected: tuple[str, ...] = ()
    """Measures whose direction is not known."""
    input_notes: tuple[Note, ...] = ()

    def notes(self, protocol: ScoreProtocol) -> tuple[Note, ...]:
        """Return the values that are missing, then how the scores were read, and what is not known about them."""
        missing = [
            Note(
                MISSING_VALUES,
                "warning",
                f"{counted(count, 'query')} without a value of {name} ({_name_queries(self.first.get(name, ()), count)}): "
                f"{protocol.outcome('missing')}",
            )
            for name, count in self.missing.items()
        ]
        attempts = [
            Note(
                MISSING_VALUES,
                "warning",
                f"{counted(count, 'attempt')} without a value of {name} ({_name_queries(queries)}): "
                f"{protocol.outcome('missing')}",
            )
            for name, (count, queries) in self.attempts.items()
        ]
        return (*missing, *attempts, *self.input_notes, *self._note_directions())

    def _note_directions(self) -> tuple[Note, ...]:
        if not self.undirected:
            return ()
        names = name_some(self.undirected, FIRST)
        message = (
            f"whether more of {names} is better is not known, so that nothing wins by it; "
            f"{name_directions('NAME')} says so"
        )
        return (Note(NO_DIRECTION, "info", message),)


def _name_queries(queries: Sequence[str], count: int = 0) -> str:
    """Return the first of some queries, which are `count` or as many as there are."""
    some = ", ".join(shorten(query, LONGEST) for query in queries[:FIRST])
    return f"{some}, …" if max(count, len(queries)) > FIRST else some


@dataclass(frozen=True, eq=False)
class ScoreAlignment(Alignment):
    """Scores of one system under a protocol; the view is the table of scores."""

    source: Scores | None = None
    """The table as it was read."""

    def restrict(self, measures: Sequence[Measure]) -> ScoreAlignment:
        """Return the alignment of these measures alone, with what is known about them."""
        assert self.source is not None  # noqa: S101 - `align_scores` sets it
        kinds = {str(measure): describe_measure(measure) for measure in measures}
        described = replace(self.source, kinds={**self.source.kinds, **kinds})
        return align_scores(None, described, cast("ScoreProtocol", self.protocol), measures)

    def complete(self, scores: Scores) -> Scores:
        """Return the scores with what the table says besides the values."""
        table: Scores = self.view  # type: ignore[assignment]
        names = [name for name in scores.values if name in table.values]
        return replace(
            scores,
            repeats={name: table.repeats[name] for name in names if name in table.repeats},
            clusters=table.clusters,
            kinds={name: table.kinds.get(name, ScoreKind()) for name in names},
            texts=table.texts,
            attributes=table.attributes,
            numbered=table.numbered,
        )


def align_scores(
    truth: None,  # noqa: ARG001 - values are given, not computed
    scores: Scores,
    protocol: ScoreProtocol,
    measures: Sequence[Measure],
) -> ScoreAlignment:
    """Return the values of a table, missing ones as the protocol says."""
    names = [str(measure) for measure in measures]
    queries = scores.queries.to_pylist()
    absent = {name: np.flatnonzero(np.isnan(scores.values[name])).tolist() for name in names}
    counts = ScoreCounts(
        {name: len(rows) for name, rows in absent.items() if rows},
        {name: tuple(queries[row] for row in rows[:FIRST]) for name, rows in absent.items()},
        dict(_find_lacking(scores, names)),
        tuple(name for name in names if scores.kinds.get(name, ScoreKind()).higher_is_better is None),
        scores.notes,
    )
    table = fill_missing(scores) if protocol.missing == "zero" else scores
    present = np.ones(len(queries), dtype=bool)
    return ScoreAlignment(table, scores.queries, protocol, counts, present, name=scores.run, source=scores)


def _find_lacking(scores: Scores, names: Sequence[str]) -> Iterator[tuple[str, tuple[int, tuple[str, ...]]]]:
    """Yield how many attempts lack a value of each repeated measure, and of which queries that have others."""
    queries = scores.queries.to_pylist()
    for name in names:
        if name in scores.repeats:
            many = (~np.isnan(scores.repeats[name])).sum(axis=1)
            short = np.flatnonzero((many > 0) & (many < many.max(initial=0)))
            if len(short):
                lacking = int((many.max() - many[short]).sum())
                yield name, (lacking, tuple(queries[row] for row in short))


def fill_missing(scores: Scores) -> Scores:
    """Return the scores with 0 for every value that is missing, also of single attempts."""
    repeats = {name: _fill_attempts(grid) for name, grid in scores.repeats.items()}
    values = {
        name: mean_of_attempts(repeats[name]) if name in repeats else np.nan_to_num(values, nan=0.0)
        for name, values in scores.values.items()
    }
    return replace(scores, values=values, repeats=repeats)


def _fill_attempts(grid: Floats) -> Floats:
    """Return the attempts with 0 for those that a query lacks; all have as many as the query with the most.

    Labels of attempts may differ between queries, as freshly drawn seeds do: then no query has a value in every
    column.

    >>> _fill_attempts(np.array([[1.0, np.nan, np.nan], [np.nan, 0.5, 0.5]])).tolist()
    [[1.0, 0.0, nan], [nan, 0.5, 0.5]]
    """
    absent = np.isnan(grid)
    most = (~absent).sum(axis=1).max(initial=0)
    lacking = most - (~absent).sum(axis=1)
    filled: Floats = np.where(absent & (absent.cumsum(axis=1) <= lacking[:, None]), 0.0, grid)
    return filled


def make_measure(name: str, kind: ScoreKind | None = None) -> Measure:
    """Return the measure of another tool that has this name, whatever judged calls so."""
    known = kind or ScoreKind()
    return Measure(
        name,
        partial(_read_values, name),
        title=name,
        family="score",
        bounds=known.bounds,
        values="binary" if known.binary else "number",
        higher_is_better=known.higher_is_better,
        zero_if_missing=False,
    )


def describe_measure(measure: Measure) -> ScoreKind:
    """Return what is known about a measure."""
    return ScoreKind(measure.higher_is_better, measure.limits, measure.binary)


def _read_values(name: str, view: Scores) -> Floats:
    return view.values[name]


def _parse(measures: Measures) -> list[Measure]:
    """Return the measures of these names; a text is one name, since names may have blanks and commas."""
    listed = [measures] if isinstance(measures, Measure | str) else list(measures)
    for measure in listed:
        if isinstance(measure, Measure) and measure.family != "score":
            msg = f"`{measure}` is a measure of judged, expected the name of one of another tool"
            raise BadMeasure(msg, hint=f'give its name as text: `"{measure}"`')
    return [measure if isinstance(measure, Measure) else make_measure(str(measure)) for measure in listed]


def choose_measures(measures: Sequence[Measure], scores: Scores) -> list[Measure]:
    """Return the measures of a table that were named, with what is known about them; all of them if none was named.

    A text that is not a name may hold several, separated by blanks or commas.
    """
    known = scores.values
    others = {name: column.to_pylist() for name, column in scores.attributes.items()}
    names = [part for measure in measures for part in split_names(str(measure), known, others)]
    return [make_measure(name, scores.kinds.get(name)) for name in dict.fromkeys(names or known)]


def split_names(
    text: str,
    known: Iterable[str],
    others: Mapping[str, Iterable[object]] = NOTHING,
    *,
    kind: str = "measure of these scores",
) -> list[str]:
    """Return the name that a text is, or those that it lists; raise `UnknownName` if one is not known.

    `others` has the cells of columns that are not measures.

    >>> split_names("Answer Relevancy", ["Answer Relevancy", "map"]), split_names("map, AP", ["AP", "map"])
    (['Answer Relevancy'], ['map', 'AP'])
    """
    names = list(known)
    if text in names:
        return [text]
    parts = text.replace(",", " ").split()
    if len(parts) > 1 and all(part in names for part in parts):
        return parts
    if text in others:
        msg = f"`{text}` is not a {kind}: it holds {describe_cells(others[text])}, expected numbers"
        raise BadMeasure(msg)
    raise UnknownName(kind, text, names)


def _read(source: object, name: str | None) -> dict[str, Scores]:
    return read_scores(source, name=name)


def pair_systems(evaluations: Sequence[Evaluation]) -> tuple[list[Evaluation], list[Note]]:
    """Return systems whose queries have the same names: by id, or else by the text of the question."""
    tables = [evaluation.scores for evaluation in evaluations]
    notes: list[Note] = []
    if len(tables) > 1:
        by_text, why = _choose_key(tables)
        if by_text:
            evaluations = [rename_queries(evaluation) for evaluation in evaluations]
            notes.append(Note("pairing", "info", f"queries paired by the text of the question: {why}"))
        elif why:
            notes.append(Note("pairing", "warning", why))
    if all(getattr(known.protocol, "missing", None) == "zero" for known in evaluations):
        evaluations, added = _add_absent(evaluations)
        notes += added
    return list(evaluations), notes


def _choose_key(tables: Sequence[Scores]) -> tuple[bool, str]:
    """Return whether queries are paired by text, and why; else a reason for doubt, if there is one."""
    shared = set.intersection(*(set(table.queries.to_pylist()) for table in tables))
    texts = [_list_texts(table) for table in tables]
    usable = all(known is not None for known in texts)
    common = set.intersection(*(set(known or ()) for known in texts)) if usable else set()
    if not shared:
        if not common:
            raise BadSample(
                _describe_disjoint(tables),
                hint="systems are paired by the id of the query, else by the text of the question",
            )
        return True, "no id is shared"
    if usable and common and (other := _find_other_text(tables, shared)) is not None:
        return True, f"the same id has different texts, such as `{shorten(other, LONGEST)}`"
    if usable and len(common) > len(shared):
        return True, f"they share {len(common):,} texts and {counted(len(shared), 'id')}"
    if not usable and all(table.numbered for table in tables):
        return (
            False,
            "ids only number the rows of each file, and there are no texts to check them: files in another order would be paired wrongly",
        )
    return False, ""


def _describe_disjoint(tables: Sequence[Scores]) -> str:
    some = " and ".join(
        f"`{table.run}` (such as `{shorten(table.queries[0].as_py(), LONGEST)}`)"
        for table in tables[:2]
        if len(table.queries)
    )
    return f"{some} have no query in common"


def _list_texts(table: Scores) -> list[str] | None:
    """Return the texts of the queries, normalised; None unless each query has one of its own."""
    found = [
        query if text is None else text
        for query, text in zip(table.queries.to_pylist(), _texts(table), strict=True)
    ]
    if table.texts is None or table.texts.null_count:
        return None
    normal = [normalise_text(text) for text in found]
    return normal if len(set(normal)) == len(normal) else None


def _texts(table: Scores) -> list[str | None]:
    return [None] * len(table.queries) if table.texts is None else table.texts.to_pylist()


def normalise_text(text: str) -> str:
    """Return the text of a question as it is compared: blanks and letter case make no difference.

    >>> normalise_text(" Who wrote  Faust?")
    'who wrote faust?'
    """
    return " ".join(text.casefold().split())


def _find_other_text(tables: Sequence[Scores], shared: set[str]) -> str | None:
    """Return a shared id that has another text in another table; None if there is none."""
    first: dict[str, str] = {}
    for table in tables:
        for query, text in zip(table.queries.to_pylist(), _texts(table), strict=True):
            if (
                query in shared
                and text is not None
                and first.setdefault(query, normalise_text(text)) != normalise_text(text)
            ):
                return str(query)
    return None


def rename_queries(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with the normalised texts of the queries as their names."""
    texts = _list_texts(evaluation.scores) or []
    order = sorted(range(len(texts)), key=lambda row: texts[row].encode())
    return _take(evaluation, order, [texts[row] for row in order])


def _take(evaluation: Evaluation, rows: Sequence[int], names: Sequence[str]) -> Evaluation:
    """Return the evaluation of some rows under other names."""
    taken = replace(evaluation.scores.take(np.array(rows, dtype=np.int64)), queries=to_strings(names))
    return replace(evaluation, scores=taken, alignments={}, _totals={}, _ends={})


def _add_absent(evaluations: Sequence[Evaluation]) -> tuple[list[Evaluation], list[Note]]:
    """Return systems that all have every query, with 0 where one had none, and a note on how many these are."""
    every = sorted(
        {query for known in evaluations for query in known.scores.queries.to_pylist()}, key=str.encode
    )
    full, notes = [], []
    for evaluation in evaluations:
        place = {query: row for row, query in enumerate(evaluation.scores.queries.to_pylist())}
        lacking = [query for query in every if query not in place]
        if not lacking:
            full.append(evaluation)
            continue
        shown = _take(evaluation, [place.get(query, 0) for query in every], every)
        absent = np.array([query not in place for query in every])
        full.append(replace(shown, scores=_zero(shown.scores, absent)))
        message = f"{counted(len(lacking), 'query')} that other systems have ({', '.join(shorten(query, LONGEST) for query in lacking[:FIRST])}{', …' if len(lacking) > FIRST else ''}): counted as 0"
        notes.append(Note(MISSING_VALUES, "warning", message, subject=evaluation.system))
    return full, notes


def _zero(scores: Scores, absent: Flags) -> Scores:
    """Return the scores with 0 for some queries, which their tool has no row for."""
    return replace(
        scores,
        values={name: np.where(absent, 0.0, column) for name, column in scores.values.items()},
        repeats={name: np.where(absent[:, None], 0.0, grid) for name, grid in scores.repeats.items()},
        texts=None,
        attributes={},
        clusters=scores.clusters if not absent.any() or scores.clusters is None else None,
    )


def name_directions(measure: str) -> str:
    """Return how the caller says which way a measure is better."""
    ways = (name_setting(f'--{way} "{measure}"', f'{way}="{measure}"') for way in ("higher", "lower"))
    return " or ".join(ways)


def merge_kinds(name: str, kinds: Iterable[tuple[str, ScoreKind]]) -> ScoreKind:
    """Return what several systems say about a measure; raise `BadMeasure` if they say opposite things."""
    listed = list(kinds)
    directions = {kind.higher_is_better for _, kind in listed} - {None}
    if len(directions) > 1:
        up, down = (
            [system for system, kind in listed if kind.higher_is_better is wanted] for wanted in (True, False)
        )
        msg = f"more of {name} is better in {join_words(up)}, and less in {join_words(down)}"
        raise BadMeasure(msg, hint=f"say which: {name_directions(name)}")
    low = min(kind.bounds[0] for _, kind in listed)
    high = max(kind.bounds[1] for _, kind in listed)
    binary = all(kind.binary for _, kind in listed)
    return ScoreKind(next(iter(directions), None), (low, high), binary)


SCORE = Family(
    name="score",
    unit="query",
    protocol=ScoreProtocol,
    view=Scores,
    align=align_scores,
    parse=_parse,
    read_systems=_read,
    input_roles=("truth", "scores"),
    pair=pair_systems,
    choose=choose_measures,
    undirected="Whether more or less of {} is better is not known",
)
"""Values that other tools computed, by query."""
