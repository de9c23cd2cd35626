r"""Fusion: one run from several, by the ranks or the scores that they give to the same documents.

A method is a function from the candidates of all queries to one score for each. $r_i$ is the rank of a document in
run $i$, $s_i$ its normalised score, $w_i$ the run's weight (1 unless given), and $n$ the number of runs that
retrieved it; sums are over these runs, so a run that lacks the document adds nothing. Only Borda and Condorcet say
something about documents that a run lacks.

Contributions are added with twice the precision of a float, so that documents with the same contributions are tied
in any order of the runs; ties are in order of document id, descending.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from types import NoneType
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import BadInput, JudgedError, UnknownName, check_kind
from judged.kernels.elementary import map_distinct, powers
from judged.kernels.segments import divide, segment_max, segment_sum
from judged.problem import Problem
from judged.studies.fusion.candidates import Candidates, RankedList, collect_candidates, read_runs
from judged.tables.columns import take

if TYPE_CHECKING:
    from judged.tables.inputs import RunLike
    from judged.tables.run import Run

FusedRuns: TypeAlias = "Mapping[str, RunLike] | Iterable[RunLike]"
"""Runs by name, or a list of them."""
Weights: TypeAlias = "Mapping[str, float] | Sequence[float]"
"""The weight of each run, by its name or in the order of the runs."""


def fuse(
    runs: FusedRuns,
    *,
    method: str = "rrf",
    normalisation: str | None = None,
    weights: Weights | None = None,
    depth: int | None = None,
    name: str | None = None,
    **parameters: float,
) -> Run:
    """Return one run made of several.

    `method` is one of `rrf`, `combsum`, `combmnz`, `combanz`, `combmax`, `combmin`, `combmed`, `wsum`, `isr`,
    `logisr`, `rbc`, `borda` and `condorcet`; `parameters` are those of the method, such as `k` of `rrf`. Methods that
    add scores normalise them in each query: `min-max` (the default), `max`, `sum`, `z-score`, `rank` or `none`.
    `weights` are by name or in the order of the runs. `depth` keeps the first documents of each query.

    Ranks in a run are those that `evaluate` sees. Queries that some runs lack are fused from the others, and noted.

    >>> bm25, dense = {"q1": {"a": 9.0, "b": 7.0}}, {"q1": {"b": 0.8, "c": 0.4}}
    >>> fuse({"bm25": bm25, "dense": dense}).to_arrow()["document"].to_pylist()
    ['b', 'a', 'c']
    """
    fusion = Fusion.choose(method, normalisation=normalisation, **parameters)
    check_kind("depth", depth, (Integral, NoneType), "a whole number, or None")
    if depth is not None and depth < 1:
        msg = f"the depth is {depth}, expected a whole number from 1"
        raise JudgedError(msg)
    candidates = collect_candidates(read_runs(runs))
    weighted = fusion.check_weights(weights, candidates.names)
    return candidates.to_run(fusion.score(candidates, weighted), name=name or fusion.method.name, depth=depth)


@dataclass(frozen=True)
class Method:
    """One way of fusing: what it is computed from, and the parameters it takes."""

    name: str
    function: Callable[..., Floats]
    """`function(candidates, values, weights, **parameters)` returns the score of each candidate."""
    uses: Literal["scores", "ranks"]
    weighted: bool = True
    """Whether runs may have weights."""
    needs_weights: bool = False

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Its parameters with their defaults."""
        signature = inspect.signature(self.function).parameters.values()
        return {item.name: item.default for item in signature if item.kind is item.KEYWORD_ONLY}


@dataclass(frozen=True)
class Fusion:
    """A method with its normalisation and parameters, ready to be applied to candidates."""

    method: Method
    normalisation: str
    parameters: Mapping[str, float]

    @classmethod
    def choose(cls, method: str, *, normalisation: str | None = None, **parameters: float) -> Fusion:
        """Return the fusion that was named; raise an error for names and parameters that it does not have."""
        canonical = _find(method, METHODS, ALIASES, "method of fusion")
        chosen = METHODS[canonical]
        default = "min-max" if chosen.uses == "scores" else "none"
        scale = _find(normalisation or default, NORMALISATIONS, SCALE_ALIASES, "normalisation")
        if chosen.uses == "ranks" and scale != "none":
            msg = f"`{canonical}` fuses ranks, and takes no normalisation of scores"
            raise JudgedError(msg, hint=f"leave `{scale}` out, or choose `combsum`")
        for name, value in parameters.items():
            _check_parameter(chosen, name, value)
        return cls(chosen, scale, {**chosen.parameters, **parameters})

    def describe(self) -> str:
        """Return the fusion as it is printed: the method, its parameters, the normalisation."""
        numbers = ", ".join(f"{name}={value:g}" for name, value in self.parameters.items())
        text = f"{self.method.name}({numbers})" if numbers else self.method.name
        return text if self.normalisation == "none" else f"{text}, {self.normalisation} scores"

    def normalise(self, candidates: Candidates) -> list[Floats]:
        """Return the values of every list that the method is computed from."""
        if self.method.uses == "ranks":
            return [ranked.rank.astype(np.float64) for ranked in candidates.lists]
        function = NORMALISATIONS[self.normalisation]
        if self.normalisation == "max":
            _check_highest(candidates)
        return [function(ranked) for ranked in candidates.lists]

    def score(
        self, candidates: Candidates, weights: Sequence[float], values: Sequence[Floats] | None = None
    ) -> Floats:
        """Return the fused score of every candidate; `values` are normalised once for many weights."""
        with np.errstate(over="ignore", invalid="ignore"):
            given = self.normalise(candidates) if values is None else values
            fused = self.method.function(candidates, given, weights, **self.parameters)
        if not np.isfinite(fused).all():
            msg = "fused scores exceed the range of a float: the scores of the runs are too large to add"
            raise JudgedError(msg, hint="`rrf` and the normalisation `rank` use ranks in place of scores")
        return fused

    def check_weights(self, weights: Weights | None, names: Sequence[str]) -> tuple[float, ...]:
        """Return a weight for each run, in their order; raise an error unless all are finite and not negative."""
        if weights is None:
            if self.method.needs_weights:
                msg = f"`{self.method.name}` needs a weight for each run: {', '.join(names)}"
                raise JudgedError(msg, hint="without weights it is `combsum`")
            return (1.0,) * len(names)
        if not self.method.weighted:
            msg = f"`{self.method.name}` takes no weights"
            known = ", ".join(name for name, method in METHODS.items() if method.weighted)
            raise JudgedError(msg, hint=f"these do: {known}")
        return _read_weights(weights, names)


def _find(name: str, known: Mapping[str, object], aliases: Mapping[str, str], kind: str) -> str:
    """Return the canonical name, ignoring case, `_` and `-`."""
    check_kind(kind, name, str, "its name")
    folded = name.lower().replace("_", "").replace("-", "")
    by_fold = {canonical.replace("-", ""): canonical for canonical in known} | dict(aliases)
    if folded not in by_fold:
        raise UnknownName(kind, name, list(known))
    return by_fold[folded]


def _check_parameter(method: Method, name: str, value: float) -> None:
    if name not in method.parameters:
        known = ", ".join(f"`{parameter}`" for parameter in method.parameters) or "none"
        msg = f"`{method.name}` has no parameter `{name}`"
        raise JudgedError(msg, hint=f"its parameters: {known}")
    low, high = _RANGES[name]
    if not (low <= value <= high and math.isfinite(value)):
        most = f" to {high:g}" if math.isfinite(high) else ""
        msg = f"`{name}` of `{method.name}` is {value:g}, expected a number from {low:g}{most}"
        raise JudgedError(msg)


def _read_weights(weights: Weights, names: Sequence[str]) -> tuple[float, ...]:
    if isinstance(weights, str):
        msg = f"the weights are `{weights}`, expected numbers in a list, or by the names of the runs"
        raise JudgedError(msg)
    if isinstance(weights, Mapping):
        for name in weights:
            if name not in names:
                raise UnknownName("run", str(name), list(names))
        absent = [name for name in names if name not in weights]
        if absent:
            msg = f"weights are missing for {', '.join(absent)}, expected one for each run"
            raise JudgedError(msg)
        numbers = [float(weights[name]) for name in names]
    else:
        numbers = [float(weight) for weight in weights]
    if len(numbers) != len(names):
        msg = f"there are {len(numbers)} weights for {len(names)} runs, expected one for each"
        raise JudgedError(msg)
    for name, weight in zip(names, numbers, strict=True):
        if not (math.isfinite(weight) and weight >= 0):
            msg = f"the weight of {name} is {weight:g}, expected a finite number from 0"
            raise JudgedError(msg)
    if not any(numbers):
        msg = "every weight is 0, expected at least one above"
        raise JudgedError(msg)
    return tuple(numbers)


# Normalisations: the scores of a list, query by query, on one scale.


def _scale_min_max(ranked: RankedList) -> Floats:
    """(s - min) / (max - min): from 0 to 1; 0 for all where the scores of a query are equal."""
    low, high = _lowest(ranked), segment_max(ranked.score, ranked.offset)
    return divide(ranked.score - _spread(low, ranked), _spread(high - low, ranked))


def _scale_max(ranked: RankedList) -> Floats:
    """Divide by the highest score: up to 1."""
    return divide(ranked.score, _spread(segment_max(ranked.score, ranked.offset), ranked))


def _scale_sum(ranked: RankedList) -> Floats:
    """(s - min) / sum of (s - min): from 0, with sum 1; 0 for all where the scores of a query are equal."""
    above = ranked.score - _spread(_lowest(ranked), ranked)
    return divide(above, _spread(segment_sum(above, ranked.offset), ranked))


def _scale_z_score(ranked: RankedList) -> Floats:
    """(s - mean) / standard deviation; 0 for all where the scores of a query are equal."""
    mean = divide(segment_sum(ranked.score, ranked.offset), ranked.size)
    apart = ranked.score - _spread(mean, ranked)
    # rounding may leave equal scores a deviation just above 0, and dividing by it would set them far apart
    equal = _spread(_lowest(ranked) == segment_max(ranked.score, ranked.offset), ranked)
    deviation = np.sqrt(divide(segment_sum(apart * apart, ranked.offset), ranked.size))
    return np.where(equal, 0.0, divide(apart, _spread(deviation, ranked)))


def _scale_rank(ranked: RankedList) -> Floats:
    """1 - (r - 1) / number of results: 1 for the first, above 0 for the last."""
    return 1.0 - (ranked.rank - 1) / _spread(ranked.size, ranked)


def _keep(ranked: RankedList) -> Floats:
    """Return the scores as they are."""
    return ranked.score


NORMALISATIONS: dict[str, Callable[[RankedList], Floats]] = {
    "min-max": _scale_min_max,
    "max": _scale_max,
    "sum": _scale_sum,
    "z-score": _scale_z_score,
    "rank": _scale_rank,
    "none": _keep,
}
"""Normalisations of scores, in each query of each run."""
SCALE_ALIASES = {"zmuv": "z-score", "minmax": "min-max"}


def _lowest(ranked: RankedList) -> Floats:
    return -segment_max(-ranked.score, ranked.offset)


def _spread(values: Floats | Ints, ranked: RankedList) -> Floats:
    """Return the value of each query for each of its rows."""
    return np.repeat(values, ranked.size)


def _check_highest(candidates: Candidates) -> None:
    """Raise `BadInput` where the highest score is not positive: dividing by it would turn the order round."""
    for name, ranked in zip(candidates.names, candidates.lists, strict=True):
        high, low = segment_max(ranked.score, ranked.offset), _lowest(ranked)
        wrong = np.flatnonzero((high <= 0) & (low < 0) & (ranked.size > 0))
        if len(wrong):
            query = take(candidates.queries, wrong[:1])[0]
            message = f"the highest score is {high[wrong[0]]:g}, expected one above 0 to divide by"
            problem = Problem.error("score-not-positive", f"query `{query}`", message)
            raise BadInput(name, [problem], hint="`min-max`, `sum`, `z-score` and `rank` take any scores")


# Methods: one score for each candidate.


def _add(candidates: Candidates, values: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Return the weighted sum of each candidate's values in the lists that have it."""
    rows = [ranked.candidate for ranked in candidates.lists]
    return _sum_exactly(len(candidates), rows, values, weights)


def _sum_exactly(
    size: int, rows: Sequence[Ints | slice], values: Sequence[Floats], weights: Sequence[float]
) -> Floats:
    """Return sums of weighted values, each added at its rows, rounded once.

    The error of each addition is carried along (Knuth's two-sum), so that the order of the runs does not matter.
    """
    total, rest = np.zeros(size), np.zeros(size)
    for at, value, weight in zip(rows, values, weights, strict=True):
        more = value if weight == 1 else value * weight
        before = total[at]
        after = before + more
        part = after - before
        rest[at] += (before - (after - part)) + (more - part)
        total[at] = after
    return total + rest


def combine_sum(candidates: Candidates, values: Sequence[Floats], weights: Sequence[float]) -> Floats:
    r"""CombSUM, with weights WSUM: $\sum w_i s_i$ (Fox and Shaw 1993)."""
    return _add(candidates, values, weights)


def combine_mnz(
    candidates: Candidates, values: Sequence[Floats], weights: Sequence[float], *, gamma: float = 1.0
) -> Floats:
    r"""CombMNZ: $n^\gamma \sum w_i s_i$ (Fox and Shaw 1993; Lee 1997 for $\gamma$)."""
    return _add(candidates, values, weights) * map_distinct(lambda count: count**gamma, candidates.count)


def combine_anz(candidates: Candidates, values: Sequence[Floats], weights: Sequence[float]) -> Floats:
    r"""CombANZ: the mean of the scores, $\frac{1}{n} \sum s_i$ (Fox and Shaw 1993)."""
    return _add(candidates, values, weights) / candidates.count


def combine_max(candidates: Candidates, values: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """CombMAX: the highest score (Fox and Shaw 1993)."""
    del weights
    return _extreme(candidates, values)


def combine_min(candidates: Candidates, values: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """CombMIN: the lowest score among the runs that retrieved the document (Fox and Shaw 1993)."""
    del weights
    return -_extreme(candidates, [-value for value in values])


def _extreme(candidates: Candidates, values: Sequence[Floats]) -> Floats:
    highest = np.full(len(candidates), -np.inf)
    for ranked, value in zip(candidates.lists, values, strict=True):
        highest[ranked.candidate] = np.maximum(highest[ranked.candidate], value)
    return highest


def combine_med(candidates: Candidates, values: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """CombMED: the median score, the mean of the middle two of an even number (Fox and Shaw 1993)."""
    del weights
    owner = np.concatenate([ranked.candidate for ranked in candidates.lists])
    value = np.concatenate(values)
    value = value[np.lexsort((value, owner))]
    first = np.cumsum(candidates.count) - candidates.count
    low, high = first + (candidates.count - 1) // 2, first + candidates.count // 2
    middle: Floats = (value[low] + value[high]) / 2
    return middle


def fuse_reciprocal_ranks(
    candidates: Candidates, values: Sequence[Floats], weights: Sequence[float], *, k: float = 60.0
) -> Floats:
    r"""RRF: $\sum w_i / (k + r_i)$ (Cormack, Clarke and Büttcher 2009)."""
    return _add(candidates, [1.0 / (k + rank) for rank in values], weights)


def fuse_inverse_squares(
    candidates: Candidates, values: Sequence[Floats], weights: Sequence[float]
) -> Floats:
    r"""ISR: $n \sum w_i / r_i^2$ (Mourão, Martins and Magalhães 2015)."""
    return _add(candidates, [1.0 / (rank * rank) for rank in values], weights) * candidates.count


def fuse_log_inverse_squares(
    candidates: Candidates, values: Sequence[Floats], weights: Sequence[float], *, sigma: float = 0.0
) -> Floats:
    r"""LogISR: $\log(n + \sigma) \sum w_i / r_i^2$; without $\sigma$, 0 for what one run retrieved (Mourão et al. 2015)."""
    total = _add(candidates, [1.0 / (rank * rank) for rank in values], weights)
    fused: Floats = total * map_distinct(lambda count: math.log(count + sigma), candidates.count)
    return fused


def fuse_rank_biased(
    candidates: Candidates, values: Sequence[Floats], weights: Sequence[float], *, phi: float = 0.8
) -> Floats:
    r"""RBC: $\sum w_i (1 - \phi) \phi^{r_i - 1}$ (Bailey, Moffat, Scholer and Thomas 2017)."""
    return _add(candidates, [(1.0 - phi) * powers(phi)(rank - 1.0) for rank in values], weights)


def fuse_borda(candidates: Candidates, values: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """BordaFuse: of a query's $c$ candidates, a run gives $c - r_i + 1$ points to those it has (Aslam and Montague 2001).

    The points that are left are shared equally by the candidates that it lacks: $(c - m + 1) / 2$ each, where $m$ is
    the number of its results. A run without results for the query has no vote.
    """
    points = []
    for ranked, rank in zip(candidates.lists, values, strict=True):
        given = np.where(ranked.size > 0, (candidates.size - ranked.size + 1) / 2.0, 0.0)[candidates.query]
        given[ranked.candidate] = np.repeat(candidates.size, ranked.size) - rank + 1.0
        points.append(given)
    return _sum_exactly(len(candidates), [slice(None)] * len(points), points, weights)


def fuse_condorcet(candidates: Candidates, values: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Condorcet: the number of candidates that more of the runs rank below a document than above (Copeland's score).

    A run prefers what it ranks higher, and what it has to what it lacks; between two that it lacks it has no vote. A
    pair without majority counts ½ for both; weights are added exactly, as the decimals that were written. Where majorities form no cycle, this is the order of Montague and Aslam's
    Condorcet-fuse (2002); where they do, theirs depends on the order of the input, and this does not.
    """
    order = np.argsort(candidates.query, kind="stable")
    ends = np.cumsum(candidates.size)
    ranks = []
    for ranked, rank in zip(candidates.lists, values, strict=True):
        place = np.full(len(candidates), np.inf)
        place[ranked.candidate] = rank
        ranks.append(place[order])
    score = np.empty(len(candidates))
    for first, last in zip((ends - candidates.size).tolist(), ends.tolist(), strict=True):
        score[order[first:last]] = _count_wins([rank[first:last] for rank in ranks], weights)
    return score


def _count_wins(ranks: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Return how many others each candidate of one query beats; a draw is half a win."""
    whole = _to_whole_numbers(weights)
    # the smallest integer type that holds every lead; beyond 64 bits Python's own integers, which are slow but exact
    kind = np.min_scalar_type(-sum(whole) - 1)
    many = len(ranks[0])
    wins = np.empty(many)
    for first in range(0, many, _STRETCH):
        rows = slice(first, first + _STRETCH)
        lead = np.zeros((len(ranks[0][rows]), many), dtype=kind)
        for rank, weight in zip(ranks, whole, strict=True):
            mine, other = rank[rows, None], rank[None, :]
            vote = (mine < other).view(np.int8) - (mine > other).view(np.int8)
            lead += np.multiply(vote, weight, dtype=kind)
        ahead, behind = np.count_nonzero(lead > 0, axis=1), np.count_nonzero(lead < 0, axis=1)
        wins[rows] = (many - 1 + ahead - behind) / 2.0
    return wins


def _to_whole_numbers(weights: Sequence[float]) -> list[int]:
    """Return whole numbers in the ratio of the weights, which are taken as the decimals that were written.

    Sums of floats depend on their order, and 0.1 + 0.2 is not 0.3; sums of these numbers are exact.

    >>> _to_whole_numbers([0.1, 0.2, 0.3])
    [1, 2, 3]
    """
    exact = [Fraction(repr(weight)) for weight in weights]
    scale = math.lcm(*(weight.denominator for weight in exact))
    whole = [int(weight * scale) for weight in exact]
    common = math.gcd(*whole)
    return [weight // common for weight in whole]


_STRETCH = 256
"""Candidates compared with all others at once, so that memory stays small."""
_RANGES = {"k": (0.0, math.inf), "gamma": (0.0, math.inf), "sigma": (0.0, math.inf), "phi": (0.0, 1.0)}
"""The least and the greatest value of each parameter."""

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("rrf", fuse_reciprocal_ranks, "ranks"),
        Method("combsum", combine_sum, "scores"),
        Method("combmnz", combine_mnz, "scores"),
        Method("combanz", combine_anz, "scores", weighted=False),
        Method("combmax", combine_max, "scores", weighted=False),
        Method("combmin", combine_min, "scores", weighted=False),
        Method("combmed", combine_med, "scores", weighted=False),
        Method("wsum", combine_sum, "scores", needs_weights=True),
        Method("isr", fuse_inverse_squares, "ranks"),
        Method("logisr", fuse_log_inverse_squares, "ranks"),
        Method("rbc", fuse_rank_biased, "ranks"),
        Method("borda", fuse_borda, "ranks"),
        Method("condorcet", fuse_condorcet, "ranks"),
    )
}
"""Every method of fusion by name."""
ALIASES = {
    **{name.removeprefix("comb"): name for name in METHODS if name.startswith("comb")},
    "bordafuse": "borda",
    "gmnz": "combmnz",
    "lognisr": "logisr",
}
"""Other names of methods, for the most part those of ranx."""
