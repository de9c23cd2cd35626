"""`fit_clicks`: a click model fitted to a log, judged on sessions that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.clicks.logs.read import read_clicks
from judged.clicks.models.data import Cells, Lists
from judged.clicks.models.model import ClickModelSpec, Fitted, parse_model
from judged.clicks.models.result import ClickModel, ModelScore, Pairs, RankFit
from judged.clicks.tables import Clicks
from judged.errors import BadSample, check_kind
from judged.kernels.segments import take_segments
from judged.problem import Note
from judged.registry import Registry
from judged.result import Provenance
from judged.wording import counted, plural

MODELS: Registry[ClickModelSpec] = Registry("click model")
"""Every click model by name."""
for _name, _home in {
    "PBM": "position",
    "Cascade": "cascade",
    "SDBN": "cascade",
    "DBN": "cascade",
    "COEC": "position",
    "DCTR": "position",
    "RCTR": "position",
    "GCTR": "position",
}.items():
    MODELS.add(_name, f"judged.clicks.models.{_home}:{_name.upper() if _name == 'Cascade' else _name}")
BASELINES = ("GCTR", "RCTR", "DCTR")
"""Rates that a model should predict better than."""


@dataclass(frozen=True, eq=False)
class _Parts:
    """The lists that a model is fitted to, and those that it is judged on."""

    whole: Lists
    train: Lists
    test: Lists
    unit: str
    """What was drawn for the test; empty if the model is judged on what it was fitted to."""
    test_impressions: int


def fit_clicks(clicks: object, model: str = "PBM", *, test: float = 0.2, seed: int = 0) -> ClickModel:
    """Fit a click model: how attractive documents are, apart from where they were shown.

    `clicks` is what `judged.read_clicks` reads, with ranks. `model` is `PBM` (position-based), `Cascade`, `SDBN` and `DBN`
    (dynamic Bayesian networks), `COEC` (clicks over expected clicks), or a rate that ignores something: `DCTR` (by
    document), `RCTR` (by rank), `GCTR`; with settings as in `SDBN(prior=(1, 2))`, which gives every share one click of
    two showings before the log is looked at, and `prior=None`, which does not.

    Predictions are judged on a share of the sessions (else users, else impressions), `test`, by a model fitted to the
    others; with 0 on what it was fitted to. Parameters are of the whole log.

    >>> shown = [("a", 1), ("b", 0), ("b", 0), ("a", 1)]
    >>> rows = [
    ...     {"query": "q", "impression": row // 2, "document": document, "rank": row % 2 + 1, "click": click}
    ...     for row, (document, click) in enumerate(shown)
    ... ]
    >>> [(row["document"], row["attractiveness"]) for row in fit_clicks(rows, "COEC", test=0).rows("documents")]
    [('a', 2.0), ('b', 0.0)]
    """
    check_kind("model", model, str, "the name of a click model")
    check_kind("test", test, (int, float), "a share from 0, below 1")
    check_kind("seed", seed, int, "a whole number")
    spec = parse_model(model, MODELS)
    if seed < 0:
        msg = f"`seed` is {seed}, expected a whole number from 0"
        raise BadSample(msg)
    if not 0 <= test < 1:
        msg = f"`test` is {test}, expected a share from 0, below 1"
        raise BadSample(msg)
    log = read_clicks(clicks)
    parts = _split(log, test, seed)
    fitted = spec.fit_to(parts.whole)
    scores = [_score(name, parts) for name in dict.fromkeys((str(spec), *BASELINES))] if spec.full else []
    _, query, document = log.pairs
    shown = parts.whole.count_pairs(parts.whole.shown)
    settings = {"model": str(spec), "test": test, "seed": seed, "format": log.form}
    return ClickModel(
        model=str(spec),
        name=spec.name,
        pairs=Pairs(
            log.query.names.take(_index(query)),
            log.document.names.take(_index(document)),
            shown,
            parts.whole.count_pairs(parts.whole.click),
            fitted.attractiveness,
            fitted.satisfaction if spec.name in {"SDBN", "DBN"} else None,
        ),
        ranks=tuple(_list_ranks(parts.whole, fitted, scores[0][1] if scores else {})),
        scores=tuple(score for score, _ in scores),
        continuation=fitted.continuation if spec.name == "DBN" else None,
        notes=tuple(_list_notes(log, spec, fitted, parts, scores[0][0] if scores else None)),
        provenance=Provenance(inputs=log.input_files, settings=settings),
    )


def _index(numbers: Ints) -> Any:
    import pyarrow as pa

    return pa.array(numbers)


def _split(log: Clicks, test: float, seed: int) -> _Parts:
    pair, query, _ = log.pairs
    whole = Lists.of(log)
    if test == 0:
        return _Parts(whole, whole, whole, "", len(log))
    names = log.session if log.session is not None else log.user
    label: Ints = (
        np.arange(len(log))
        if names is None
        else np.where(names.codes < 0, -1 - np.arange(len(log)), names.codes)
    )
    unit = "impression" if names is None else "session" if log.session is not None else "user"
    distinct, own = np.unique(label, return_inverse=True)
    count = round(test * len(distinct))
    if not 0 < count < len(distinct):
        msg = f"{counted(len(distinct), unit)} cannot be split: {test:g} of them are {count}"
        raise BadSample(msg, hint="with `test=0` the model is judged on what it was fitted to")
    drawn = np.zeros(len(distinct), dtype=bool)
    drawn[np.random.default_rng(seed).permutation(len(distinct))[:count]] = True
    held: Flags = drawn[own.reshape(-1)]
    lists = []
    for chosen in (np.flatnonzero(~held), np.flatnonzero(held)):
        rows, _ = take_segments(log.offset, chosen)
        lists.append(Lists.of(log.select(chosen), pair[rows], len(query), whole.ranks))
    return _Parts(whole, lists[0], lists[1], unit, int(held.sum()))


def _score(name: str, parts: _Parts) -> tuple[ModelScore, dict[int, tuple[float, float]]]:
    """Return how well a model predicts the clicks of the test, over all and by rank: impressions and perplexity."""
    spec = parse_model(name, MODELS)
    fitted = spec.fit_to(parts.train)
    lists = parts.test
    assert spec.full is not None  # noqa: S101 - models without probabilities have no scores
    assert spec.conditional is not None  # noqa: S101 - as above
    seen = parts.train.count_pairs(parts.train.shown) > 0
    scored = lists.shown & seen[lists.known]
    weight = np.broadcast_to(lists.weight, lists.pair.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        full = _log_likelihood(spec.full(fitted, lists), lists.click)
        given = _log_likelihood(spec.conditional(fitted, lists), lists.click)
    by_rank: dict[int, tuple[float, float]] = {}
    for rank in range(lists.ranks):
        at = scored & (lists.rank == rank)
        total = float(weight[at].sum())
        if total:
            # as PyClick: 2 to the power of minus the mean of the binary logarithms
            by_rank[rank + 1] = total, float(np.exp(-(weight[at] * full[at]).sum() / total))
    lists_scored = scored.any(axis=0)
    own = np.where(scored, given, 0.0).sum(axis=0)
    possible = lists_scored & np.isfinite(own)
    impressions = float(lists.weight[possible].sum())
    likelihood = float((own * lists.weight)[possible].sum()) / impressions if impressions else np.nan
    values = [perplexity for _, perplexity in by_rank.values()]
    return (
        ModelScore(
            str(spec),
            float(np.mean(values)) if values else np.nan,
            likelihood,
            int(impressions),
            impossible=int(lists.weight[lists_scored & ~np.isfinite(own)].sum()),
            unseen=len(np.unique(lists.pair[lists.shown & ~scored])),
            unseen_rows=int(weight[lists.shown & ~scored].sum()),
        ),
        by_rank,
    )


def _log_likelihood(probability: Floats, click: Flags) -> Floats:
    values: Floats = np.log(np.where(click, probability, 1 - probability))
    return values


def _list_ranks(lists: Lists, fitted: Fitted, fit: dict[int, tuple[float, float]]) -> Iterator[RankFit]:
    """Yield what is known of each rank: click-through, examination, and how well its clicks are predicted."""
    shown, clicks = lists.count_ranks(lists.shown), lists.count_ranks(lists.click)
    for rank in np.flatnonzero(shown).tolist():
        examination = None if fitted.examination is None else float(fitted.examination[rank])
        _, perplexity = fit.get(rank + 1, (0.0, None))
        yield RankFit(rank + 1, int(shown[rank]), float(clicks[rank] / shown[rank]), examination, perplexity)


def _list_notes(
    log: Clicks, spec: ClickModelSpec, fitted: Fitted, parts: _Parts, score: ModelScore | None
) -> Iterator[Note]:
    yield from log.notes
    if log.missing_queries:
        yield Note("no-queries", "info", "no queries: parameters are of documents alone")
    if len(log.systems) > 1:
        yield Note("systems", "info", f"impressions of {len(log.systems)} systems are fitted together")
    if score is not None:
        yield from _note_test(spec, parts, score)
    if not fitted.converged:
        message = (
            f"EM ended after {fitted.rounds} rounds before it settled: `{spec.name}(rounds=…)` allows more"
        )
        yield Note("not-converged", "warning", message)
    if spec.name == "PBM":
        yield from note_identification(parts.whole)
    if spec.name == "Cascade":
        several = int(parts.whole.weight[parts.whole.click.sum(axis=0) > 1].sum())
        if several:
            message = f"{counted(several, 'impression')} with several clicks, of which Cascade uses the first"
            yield Note("several-clicks", "warning", message)


def _note_test(spec: ClickModelSpec, parts: _Parts, score: ModelScore) -> Iterator[Note]:
    if not parts.unit:
        yield Note("in-sample", "warning", "predictions are of the impressions that the model was fitted to")
    else:
        message = (
            f"predictions are of {counted(parts.test_impressions, 'impression')} of {plural(parts.unit)} drawn at random,"
            " by a model of the others; parameters are of all"
        )
        if parts.unit == "impression":
            message = message.replace(" of impressions drawn", " drawn")
        yield Note("held-out", "info", message)
    if score.unseen:
        message = (
            f"{counted(score.unseen, 'pair')} of query and document in the test were never seen in training: left out of"
            f" its predictions ({counted(score.unseen_rows, 'document')} shown)"
        )
        yield Note("unseen-pairs", "info", message)
    if score.impossible:
        message = f"{counted(score.impossible, 'impression')} impossible under {spec}: left out of its log-likelihood"
        yield Note("impossible", "warning", message)


def note_identification(lists: Lists) -> Iterator[Note]:
    """Yield what the log cannot tell apart: pairs at one rank, and ranks that no pair connects."""
    cells = Cells.of(lists)
    places = np.bincount(cells.pair, minlength=lists.pairs)
    single = int((places == 1).sum())
    if single:
        message = f"{single:,} of {counted(int((places > 0).sum()), 'pair')} were shown at one rank only, where the other pairs alone separate attractiveness from rank"
        yield Note("one-rank", "info", message)
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ranks = np.unique(cells.rank)
    shape = (lists.ranks + lists.pairs,) * 2
    graph = coo_matrix((np.ones(len(cells.rank)), (cells.rank, lists.ranks + cells.pair)), shape=shape)
    _, part = connected_components(graph, directed=False)
    groups = len(np.unique(part[ranks]))
    if groups > 1:
        message = f"the ranks fall into {groups} groups that share no pair: examination is comparable within a group only"
        yield Note("separate-ranks", "warning", message)
