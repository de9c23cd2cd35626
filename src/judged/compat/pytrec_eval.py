"""pytrec_eval: its evaluator, parsers and names, computed by judged.

    import judged.compat.pytrec_eval as pytrec_eval
    pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.10"}).evaluate(run)

Values are those of the profile `pytrec_eval`. Where pytrec_eval would end the interpreter or read a name as another
measure, an error says why.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

from judged.compat.evaluator import without_spelling
from judged.errors import BadInput, BadMeasure, WrongKind
from judged.measures.measure import Measure
from judged.measures.trec_eval import NICKNAMES, count_lines, expand, list_names
from judged.problem import Place, Problem
from judged.profiles.profile import PROFILES
from judged.scoring.evaluation import FLOOR
from judged.scoring.evaluator import Evaluator

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

__version__ = PROFILES["pytrec_eval"].version
"""The version of pytrec_eval-terrier whose interface this is; ir_measures looks for one."""

_KNOWN = set(list_names(9)) | {name for kind in ("prefs", "qrels_jg") for name in list_names(9, kind)}

supported_measures: set[str] = {name for name in NICKNAMES["all_trec"] if name in list_names(9)}
"""The names of measures, without parameters."""
supported_nicknames: dict[str, set[str]] = {
    nickname: {name for name in names if name in _KNOWN} for nickname, names in NICKNAMES.items()
}
"""The names of sets of measures; those of preferences cannot be computed, here as there."""

_PARAMETERS = re.compile(r"\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*")


class RepeatedDocument(BadInput, AssertionError):
    """Lines of a run or of judgments that list a document of a query twice."""


class _Column(NamedTuple):
    """A measure as pytrec_eval returns it."""

    key: str
    measure: Measure | None
    """The measure; None where pytrec_eval returns 0 for something that is not a number."""
    name: str
    """The measure as judged writes it, which takes long to make."""
    is_logarithm: bool
    """Whether the value is the logarithm that a geometric mean adds up."""


class RelevanceEvaluator:
    """Judgments and measures, kept to evaluate many runs.

    `query_relevance` maps queries to documents and their grades, `measures` are names or nicknames of trec_eval, with
    parameters as in `ndcg_cut_10` or `P.5,10`. From `relevance_level` a grade is relevant; `judged_docs_only_flag`
    removes unjudged documents from runs.

    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 0, "d2": 1}}, {"map", "P_1"})
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 2.0}})
    {'q1': {'map': 1.0, 'P_1': 1.0}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002 - the signature of pytrec_eval
    ) -> None:
        _check_judgments(query_relevance)
        if not isinstance(relevance_level, Integral) or relevance_level < 1:
            msg = "Argument relevance_level should be positive."
            raise WrongKind(msg, hint=f"it is {relevance_level!r}, expected a whole number from 1")
        names = list(measures)
        self._columns: list[_Column] = _read_measures(names)
        self._keys: list[str] = [column.key for column in self._columns]
        self._judged: dict[str, dict[str, int]] = {
            query: dict(grades) for query, grades in query_relevance.items() if grades
        }
        self._settings: tuple[list[str], int, bool] = names, int(relevance_level), bool(judged_docs_only_flag)
        chosen = [without_spelling(column.measure) for column in self._columns if column.measure is not None]
        self._evaluator: Evaluator | None = None
        if self._judged and chosen:
            protocol = PROFILES["pytrec_eval"].protocol.replace(
                rel=float(relevance_level), unjudged="removed" if judged_docs_only_flag else "nonrelevant"
            )
            self._evaluator = Evaluator(self._judged, chosen, protocol=protocol)

    def __reduce__(self) -> tuple[type[RelevanceEvaluator], tuple[Any, ...]]:
        """Return what makes a copy in another process, where compiled judgments are made again."""
        return type(self), (self._judged, *self._settings)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return the value of every measure for each query that is in the run and judged."""
        if not scores:
            return {}
        known = self._select(scores)
        if self._evaluator is None or not known:
            return {query: dict.fromkeys(self._keys, 0.0) for query in known}
        try:
            values = self._evaluator.per_query(known)
        except BadInput as error:
            raise _as_wrong_type(known) or error from error
        takes = [_take(column, values) for column in self._columns]
        keys = self._keys
        return {query: dict(zip(keys, [take(query) for take in takes], strict=True)) for query in known}

    def _select(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, Mapping[str, float]]:
        """Return the queries that are judged; raise `WrongKind` for keys and values of other types."""
        if not isinstance(scores, dict):
            msg = "Argument object scores should be of type dictionary."
            raise WrongKind(msg, hint=f"it is of type `{type(scores).__name__}`")
        known: dict[str, Mapping[str, float]] = {}
        for query, documents in scores.items():
            if not (isinstance(query, str) and isinstance(documents, dict)):
                raise _wrong_run(repr(query), "expected a string with a dict of documents and scores")
            try:
                "".join(documents)  # the quickest way to see that all keys are strings
            except TypeError:
                raise _wrong_run(repr(query), "expected strings as ids of documents") from None
            if query in self._judged:
                known[query] = documents
        return known


def _take(column: _Column, values: Mapping[str, Mapping[str, float]]) -> Callable[[str], float]:
    """Return the function from a query to the value of a column."""
    if column.measure is None:
        return lambda _: 0.0
    by_query = values[column.name]
    if column.is_logarithm:
        return lambda query: math.log(max(by_query[query], FLOOR))
    return by_query.__getitem__


def _read_measures(measures: Iterable[str]) -> list[_Column]:
    """Return the columns of names and nicknames, in the order of trec_eval; parameters of one name are collected."""
    texts: dict[str, set[str]] = {}
    for name in _expand(measures):
        if name in supported_measures:
            texts.setdefault(name, set())
            continue
        base, parameters = _split(name)
        if count_lines(base) == "none":
            msg = f"unsupported measure {name}"
            raise BadMeasure(msg, hint=f"`{base}` has no parameters, which pytrec_eval ignores")
        texts.setdefault(base, set()).update(parameters.split(","))
    columns = []
    for name in list_names(9):
        if name in texts:
            # sorted as text, as pytrec_eval does: `set_F` and `utility` read parameters by their position
            parameters = ",".join(sorted(texts[name]))
            columns += _make_columns(name, f"{name}.{parameters}" if parameters else name)
    return columns


def _split(name: str) -> tuple[str, str]:
    """Return the measure that a name begins with, and its parameters."""
    for known in supported_measures:
        rest = name.removeprefix(known)
        if rest[:1] in {".", "_"} and rest != name and _PARAMETERS.fullmatch(rest[1:]):
            return known, rest[1:]
    msg = f"unsupported measure {name}"
    raise BadMeasure(msg)


def _expand(measures: Iterable[str]) -> Iterable[str]:
    """Yield names for nicknames; refuse what is not a text."""
    for name in measures:
        if not isinstance(name, str):
            msg = f"expected the name of a measure, got {name!r} ({type(name).__name__})"
            raise WrongKind(msg)
        yield from supported_nicknames.get(name, (name,))


def _make_columns(name: str, request: str) -> list[_Column]:
    every_line = count_lines(name) == "each"
    return [
        _Column(
            line.name if every_line else name,
            None if line.kind in {"string", "runid"} else line.measure,
            str(line.measure),
            line.measure is not None and line.measure.aggregate == "geometric",
        )
        for line in expand(9, [request])
    ]


def _check_judgments(judgments: object) -> None:
    """Raise `WrongKind`, in the words of pytrec_eval, unless these are dicts of strings and whole numbers."""
    if not isinstance(judgments, dict):
        msg = "Argument query_relevance should be of type dictionary."
        raise WrongKind(msg, hint=f"it is of type `{type(judgments).__name__}`")
    for query, grades in judgments.items():
        if not isinstance(query, str):
            msg = "Expected string as key."
            raise WrongKind(msg, hint=f"the query {query!r} is of type `{type(query).__name__}`")
        if not isinstance(grades, dict):
            msg = "Expected dictionary as value."
            raise WrongKind(msg, hint=f"the value of query `{query}` is of type `{type(grades).__name__}`")
        for document, grade in grades.items():
            place = f"query `{query}`, document {document!r}: "
            if not isinstance(document, str):
                msg = "Expected mapping of document id to query relevance or matching score."
                raise WrongKind(msg, hint=f"{place}the id is of type `{type(document).__name__}`")
            if not isinstance(grade, Integral):
                msg = "Expected relevance to be integer."
                raise WrongKind(msg, hint=f"{place}the grade is {grade!r} ({type(grade).__name__})")


def _wrong_run(query: str, problem: str) -> WrongKind:
    return WrongKind("Unable to extract query/object scores.", hint=f"query {query}: {problem}")


def _as_wrong_type(run: Mapping[str, Mapping[str, object]]) -> WrongKind | None:
    """Return the error for the first score that is not a number, if there is one."""
    for query, documents in run.items():
        for document, score in documents.items():
            if not isinstance(score, Real):
                problem = f"document `{document}`: the score is {score!r} ({type(score).__name__})"
                return _wrong_run(repr(query), problem)
    return None


def parse_run(f_run: Iterable[str]) -> defaultdict[str, dict[str, float]]:
    """Return the scores of the lines of a TREC run, by query and document.

    >>> dict(parse_run(["1 Q0 a 1 0.5 demo"]))
    {'1': {'a': 0.5}}
    """
    return _parse(f_run, "run", 6, lambda fields: float(fields[4]), "score")


def parse_qrel(f_qrel: Iterable[str]) -> defaultdict[str, dict[str, int]]:
    """Return the grades of the lines of TREC judgments, by query and document.

    >>> dict(parse_qrel(["1 0 a 2"]))
    {'1': {'a': 2}}
    """
    return _parse(f_qrel, "judgments", 4, lambda fields: int(fields[3]), "grade")


def _parse(
    lines: Iterable[str], subject: str, columns: int, read: Callable[[Sequence[str]], Any], field: str
) -> defaultdict[str, dict[str, Any]]:
    """Return the values of lines, by query and document; raise one error for all lines that cannot be read."""
    table: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    problems: list[Problem] = []
    repeated: list[Problem] = []
    for number, line in enumerate(lines, start=1):
        fields, place = line.split(), Place(subject, line=number)
        if len(fields) != columns:
            problems.append(Problem.error("few-columns", place, f"{len(fields)} columns, expected {columns}"))
            continue
        query, document = fields[0], fields[2]
        if document in table[query]:
            message = f"document `{document}` appears twice for query `{query}`"
            repeated.append(Problem.error("repeated-document", place, message))
        try:
            table[query][document] = read(fields)
        except ValueError as error:
            problems.append(Problem.error("not-a-number", place, f"{field}: {error}"))
    if problems:
        raise BadInput(subject, [*problems, *repeated])
    if repeated:
        raise RepeatedDocument(subject, repeated)
    return table


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Return one number from the values of all queries: the sum of a `num_…`, the geometric mean of a `gm_…`, else the mean.

    >>> compute_aggregated_measure("num_rel", [1.0, 2.0]), compute_aggregated_measure("map", [0.5, 1.0])
    (3.0, 0.75)
    """
    import numpy as np

    if measure.startswith("num_"):
        return float(np.sum(values))
    if len(values) == 0:
        return math.nan
    return float(np.exp(np.sum(values) / len(values)) if measure.startswith("gm_") else np.mean(values))
