"""Folds of measures over dicts of scores and lists of ids: compiled, and without the arrays of a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from judged.arrays import Bytes, Flags, Floats
from judged.kernels.ranked.gains import LARGEST_EXPONENT, grade_gains
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.scan.align import RULES, Aligned
from judged.kernels.scan.compiled import load_compiled
from judged.measures.fold import Fold
from judged.measures.measure import Measure
from judged.protocol import Protocol
from judged.scoring.locate import find_relevant, read_grades, refuse_changed, to_rules
from judged.tables.judgments import Judgments

UNLIMITED = np.iinfo(np.int64).max
_NONE = np.zeros(0, dtype=np.int64)


class CompiledFolds:
    """The measures of one protocol over one set of judgments; None is returned for what only the long way can score."""

    def __init__(self, folds: Any, measures: Sequence[Measure], protocol: Protocol) -> None:
        self._folds = folds
        self._measures = measures
        self._averages_ties = protocol.ties == "expected"

    def means(self, run: object) -> dict[str, float] | None:
        """Return the mean of every measure of a run."""
        try:
            found: dict[str, float] | None = self._folds.means(run)
        except RuntimeError as error:
            raise refuse_changed("run", error) from None
        return found

    def by_query(self, run: object) -> dict[str, dict[str, float]] | None:
        """Return the values of every measure of a run by query."""
        try:
            found: dict[str, dict[str, float]] | None = self._folds.by_query(run)
        except RuntimeError as error:
            raise refuse_changed("run", error) from None
        return found

    def of_ranks(self, ranks: Aligned, keep: Flags, *, tied: bool) -> list[tuple[Measure, Floats]]:
        """Return every measure with its values for the queries to keep of a run that was aligned; empty likewise."""
        values = None if tied and self._averages_ties else self._folds.of_ranks(ranks, keep)
        return [] if values is None else list(zip(self._measures, values, strict=True))


def compile_folds(
    judgments: Judgments, protocol: Protocol, measures: Sequence[Measure]
) -> CompiledFolds | None:
    """Return what computes the measures in one pass over a dict; None where one of them, or the protocol, needs more."""
    compiled = load_compiled("_folds")
    # ranks of these are found in columns, where more is checked than in dicts
    by_columns = (
        protocol.order == "input"
        or protocol.self_matches == "removed"
        or protocol.negative == "removed"
        or judgments.by_text
    )
    # these need the grades of tied results, or the best order, which only a view has
    by_view = protocol.ties_by_grade or protocol.no_relevant == "one"
    if compiled is None or by_columns or by_view or not measures:
        return None
    view = _make_empty_view(judgments, protocol)
    if not all(_can_fold(measure, view) for measure in measures):
        return None
    folds = compiled.Folds(
        names=[measure.label for measure in measures],
        queries=judgments.query_names,
        documents=judgments.documents,
        row_offset=judgments.offset,
        kept=_find_kept(judgments, protocol),
        removed=protocol.unjudged == "removed",
        untied=protocol.ties == "expected",
        skip_missing=protocol.missing == "skip",
        complete=protocol.missing == "error",
        only_judged=protocol.unjudged_queries == "zero",
        depth=UNLIMITED if protocol.depth is None else protocol.depth,
        rule=RULES.index((rules := to_rules(protocol))["ties"]),
        single=rules["single"],
        **_list_measures(measures, view, read_grades(judgments, protocol), compiled.KINDS),
    )
    return CompiledFolds(folds, measures, protocol)


def _can_fold(measure: Measure, view: Ranking) -> bool:
    """Return whether a measure is its fold with these parameters and grades; others compute more, or raise."""
    parameters = measure.parameters
    plain = measure.aggregate == "mean" and measure.averaged is None and not measure.fixed
    large = parameters.get("gain") == "exp" and view.highest > LARGEST_EXPONENT
    forms = {"discount": "log2", "ideal": "judged", "interpolation": "none"}
    usual = all(parameters.get(name, value) == value for name, value in forms.items())
    return (
        measure.fold is not None
        and plain
        and usual
        and not large
        and len(parameters) == len(measure.defaults)
    )


def _make_empty_view(judgments: Judgments, protocol: Protocol) -> Ranking:
    """Return the view of a run without results; its best order is not sorted, as counts do not depend on it."""
    grades, offset = read_grades(judgments, protocol), judgments.offset
    nothing = np.zeros(len(offset), dtype=np.int64)
    return Ranking(
        rank=_NONE,
        grade=grades[:0],
        offset=nothing,
        retrieved=nothing[1:],
        best=grades,
        best_offset=offset,
        target=_NONE,
        best_target=_NONE,
        rel=float(protocol.rel),
        highest=float(grades.max(initial=0.0)),
        recall_points=protocol.recall_points,
    )


def _find_kept(judgments: Judgments, protocol: Protocol) -> Bytes:
    """Return which queries can be scored, as bytes."""
    if protocol.no_relevant == "zero":
        return np.ones(len(judgments.query_names), dtype=np.uint8)
    return find_relevant(judgments, protocol).view(np.uint8)


def _list_measures(
    measures: Sequence[Measure], view: Ranking, grades: Floats, kinds: Sequence[str]
) -> Mapping[str, object]:
    """Return the measures as columns."""
    gains: dict[tuple[Any, Any], int] = {}
    columns: dict[str, list[Any]] = {
        name: [] for name in ("kind", "limit", "rel", "gain_of", "shortened", "ideal", "divisor")
    }
    for measure in measures:
        fold, parameters = measure.fold, measure.parameters
        assert isinstance(fold, Fold)  # noqa: S101 - the others were left out
        limit, rel = parameters.get("cutoff"), parameters.get("rel")
        worth = parameters.get("gain", "linear"), parameters.get("gains")
        columns["kind"].append(kinds.index(fold.kind))
        columns["limit"].append(UNLIMITED if limit is None else limit)
        columns["rel"].append(view.threshold(rel))  # type: ignore[arg-type]
        columns["gain_of"].append(gains.setdefault(worth, len(gains)) if fold.kind == "gain" else 0)
        columns["shortened"].append(parameters.get("over") == "retrieved")
        columns["ideal"].append(fold.divisor == "ideal")
        columns["divisor"].append(fold.divisor(view, **parameters) if callable(fold.divisor) else 1.0)
    divisor = np.empty((len(measures), len(view)))
    for row, value in enumerate(columns.pop("divisor")):
        divisor[row] = value
    types = {"rel": np.float64, "shortened": np.uint8, "ideal": np.uint8}
    rows = [grade_gains(grades, *worth) for worth in gains] or [grades]
    return {
        "grade": grades,
        "gain": np.stack(rows),
        "divisor": divisor,
        **{name: np.array(values, dtype=types.get(name, np.int64)) for name, values in columns.items()},
    }
