"""ir_measures: a provider that computes its measures by judged.

    import ir_measures
    import judged.compat.ir_measures
    ir_measures.judged_toolkit.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)

Importing this module registers the provider `judged_toolkit`; the provider `judged` of ir_measures, the share of judged
results, stays. Values are those of the profile `ir_measures`: each measure under the conventions of the tool that
ir_measures would choose for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from judged._optional import need
from judged.compat.evaluator import ProfileEvaluator
from judged.errors import BadMeasure, UnknownName, WrongKind
from judged.profiles.profile import PROFILES, Reading

__all__ = ["JudgedToolkitProvider", "provider"]

ir_measures: Any = need("ir_measures", extra="ir-measures", needed_by="`judged.compat.ir_measures`")


class JudgedToolkitProvider(ir_measures.providers.Provider):  # type: ignore[misc] # it has no types
    """The measures of ir_measures that the profile `ir_measures` has, computed by judged."""

    NAME = "judged_toolkit"

    def supports(self, measure: Any) -> bool:
        """Return whether judged computes the measure with these parameters."""
        measure.validate_params()
        try:
            _read(measure)
        except BadMeasure:
            return False
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:
        judged = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
        # `NumRelRet` and `NumRet(rel=1)` are one measure, and a value that is yielded twice would count twice
        return _ToolkitEvaluator(list(dict.fromkeys(measures)), judged)


class _ToolkitEvaluator(ir_measures.providers.Evaluator):  # type: ignore[misc] # it has no types
    """Judgments and measures, each under its protocol."""

    def __init__(self, measures: list[Any], qrels: dict[str, dict[str, int]]) -> None:
        _check_ids(qrels, "judgments")
        super().__init__(measures, set(qrels))
        graded = {query: grades for query, grades in qrels.items() if grades}
        self._judged = graded
        readings = {repr(measure): _read(measure) for measure in measures}
        self._evaluator = ProfileEvaluator(graded, readings) if graded else None

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield the value of each query that is judged; the base class fills in those without results."""
        scores = ir_measures.util.RunConverter(run).as_dict_of_dict()
        _check_ids(scores, "run")
        known = {query: documents for query, documents in scores.items() if query in self._judged}
        if self._evaluator is None or not known:
            return
        values = self._evaluator.per_query(known)
        for query in self._judged:
            for measure in self.measures:
                yield ir_measures.Metric(query, measure, values[repr(measure)][query])


def _read(measure: Any) -> Reading:
    """Return what ir_measures means by a measure; raise `BadMeasure` if judged cannot compute it."""
    try:
        return PROFILES["ir_measures"].read(repr(measure))
    except (BadMeasure, UnknownName) as error:
        msg = f"unsupported measure {measure}"
        raise BadMeasure(msg, hint=error.hint) from error


def _check_ids(table: dict[Any, Any], subject: str) -> None:
    """Raise `WrongKind` for ids that are not text: in other tables they would be other ids."""
    for query, documents in table.items():
        for name in (query, *list(documents)[:1]):
            if not isinstance(name, str):
                msg = f"the {subject} have an id of type `{type(name).__name__}`: {name!r}, expected a string"
                raise WrongKind(
                    msg, hint='convert the columns: `frame.astype({"query_id": str, "doc_id": str})`'
                )


provider = ir_measures.providers.register(JudgedToolkitProvider())
ir_measures.judged_toolkit = provider
