"""`estimate_value`: what a ranking that was not shown would have been worth, from the clicks on those that were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import NoneType
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from judged.arrays import Flags, Floats, Ints
from judged.blocks import Block, Display, Estimate, Notes, Sentence, Table, format_p
from judged.clicks.contrast import label_clusters
from judged.clicks.kernels import add_up
from judged.clicks.logs.read import list_texts, read_clicks
from judged.clicks.policy import SEEN_ENOUGH, Policy, read_policy, read_rewards
from judged.clicks.tables import Clicks
from judged.errors import BadMeasure, BadSample, UnknownName, check_kind
from judged.problem import Note
from judged.result import Provenance, Result, observe_files, tabulate
from judged.stats.clusters import SampleMean, estimate_error
from judged.stats.outcome import Undefined
from judged.stats.paired import check_level
from judged.stats.unpaired import p_of, student_of

Method: TypeAlias = Literal["IPS", "SNIPS", "DM", "DR"]
SEPARATE = "separate-ranks"
"""Code of the note that ranks share no document, so that nothing compares them."""
FEW_EFFECTIVE = 10
"""Effective samples below which an estimate is of a handful of clicks."""


@dataclass(frozen=True, slots=True)
class Value:
    """One estimate of clicks per impression under the new ranking, and its difference from the log."""

    method: str
    value: float
    low: float | None
    high: float | None
    difference: float
    """The value minus that of the log."""
    difference_low: float | None
    difference_high: float | None
    p: float | None


@dataclass(frozen=True, eq=False, repr=False)
class ValueReport(Result):
    """The value of a ranking that was not shown: `report["SNIPS"].value` is clicks per impression."""

    kind: ClassVar[str] = "value"

    estimates: tuple[Value, ...]
    logged: Estimate
    """Clicks per impression of the log."""
    form: Literal["propensities", "examination"]
    """Whether weights are ratios of probabilities, or of the examination of ranks."""
    coverage: float
    """The share of the new ranking that the log shows; IPS counts nothing for the rest."""
    impressions: int
    effective: float
    """The effective sample size (Σw)² / Σw²."""
    largest: float
    """The largest weight."""
    clipped: float
    """The share of the weights that were clipped."""
    clip: float | None = None
    level: float = 0.95
    notes: tuple[Note, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)

    def __getitem__(self, method: str) -> Value:
        """Return the estimate of one method."""
        found = {row.method: row for row in self.estimates}
        if method not in found:
            raise UnknownName("method of this report", method, list(found))
        return found[method]

    @property
    def weights(self) -> Mapping[str, float | None]:
        """What is shown beside every estimate: how few clicks it may rest on."""
        return {
            "effective": self.effective,
            "largest": self.largest,
            "clipped": self.clipped,
            "clip": self.clip,
            "coverage": self.coverage,
        }

    def tables(self) -> Mapping[str, pa.Table]:
        """Return the estimates, each with the effective sample size, the largest weight and the share clipped."""
        rows = [{**asdict(row), "logged": self.logged.value, **self.weights} for row in self.estimates]
        return {"estimates": tabulate(rows)}

    def summary(self) -> Mapping[str, object]:
        """Return the form of the weights, and what they are."""
        return {
            "form": self.form,
            "impressions": self.impressions,
            "logged": self.logged.value,
            **self.weights,
        }

    def blocks(self, display: Display) -> Iterator[Block]:
        """Return the verdict, the estimates, the weights and the notes."""
        for row in self.estimates:
            yield Sentence(self.describe(row, display.digits))
        rows = tuple(
            (
                row.method,
                _estimate(row.value, row.low, row.high),
                _estimate(row.difference, row.difference_low, row.difference_high),
                format_p(row.p, digits=display.digits),
            )
            for row in self.estimates
        )
        yield Table(("method", "value", "difference from the log", "p"), rows, title="Clicks per impression")
        weights = (
            ("logged value", self.logged),
            ("impressions", self.impressions),
            ("effective sample size", self.effective),
            ("largest weight", self.largest),
            ("share clipped", self.clipped),
            ("share shown", self.coverage),
        )
        yield Table(("weights", "value"), weights, title="Weights")
        if display.notes and self.notes:
            yield Notes(self.notes)

    @property
    def doubt(self) -> str:
        """The reason why nothing follows from the estimates; empty if there is none."""
        if self.effective < FEW_EFFECTIVE:
            return f"on {self.effective:.1f} effective samples"
        if any(note.code == SEPARATE for note in self.notes):
            return "the log does not tell examination and attractiveness apart"
        return ""

    def describe(self, row: Value, digits: int = 4) -> str:
        """Return the verdict of one method."""
        if row.method == "IPS" and self.coverage < 1 - SEEN_ENOUGH:
            return f"IPS: no verdict, the log shows {100 * self.coverage:.0f} % of the new ranking"
        if self.doubt:
            return f"{row.method}: no verdict, {self.doubt}"
        if row.p is None or row.p >= 1 - self.level:
            return f"{row.method}: no difference from the log is shown ({row.value:.{digits}f} and {self.logged.value:.{digits}f})"
        more = "more" if row.difference > 0 else "fewer"
        return f"{row.method}: {abs(row.difference):.{digits}f} {more} clicks per impression than the log ({row.value:.{digits}f})"


def _estimate(value: float, low: float | None, high: float | None) -> Estimate:
    return Estimate(value, low, high, "" if low is not None else "no interval")


def estimate_value(
    clicks: object,
    new: object,
    method: Method | Sequence[Method] = "SNIPS",
    *,
    clip: float | None = None,
    rewards: object = None,
    examination: Mapping[int, float] | None = None,
    level: float = 0.95,
) -> ValueReport:
    r"""Estimate the clicks per impression of a ranking that was not shown, from a log of others.

    `new` is a table with `document`, `probability` and perhaps `query` and `rank`: the probability with which the new
    system shows each document there. Then the log needs a `propensity` for each row, and with $w = \pi_{new} / \pi_{log}$,
    reward $r$ and a prediction $\hat q$:

    $$\mathrm{IPS} = \overline{w r}, \quad \mathrm{SNIPS} = \frac{\sum w r}{\sum w}, \quad
    \mathrm{DM} = \overline{\sum_a \pi_{new}(a)\, \hat q(a)}, \quad \mathrm{DR} = \mathrm{DM} + \overline{w (r - \hat q)}$$

    `rewards` has $\hat q$ as a table with `document`, `reward` and perhaps `query` and `rank`; by default it is the rate of
    clicks in the other half of the users, drawn to the mean.

    Or `new` is a run. Then $w$ is the examination of a document's new rank over that of the rank where it was shown, from
    the position-based model or from `examination`, and sums are over the documents shown; `SNIPS` counts for the
    documents that were never shown what those that were are worth.

    `clip` is the largest weight. Always look at the effective sample size, the largest weight and the share that was
    clipped: where they are poor, no method helps.

    >>> log = [
    ...     {"impression": i, "query": q, "document": d, "click": r, "propensity": p}
    ...     for i, (q, d, r, p) in enumerate([("x", "a", 1, 0.5), ("x", "b", 0, 0.5), ("y", "a", 0, 0.8), ("y", "b", 1, 0.2)])
    ... ]
    >>> new = [
    ...     {"query": q, "document": d, "probability": p}
    ...     for q, d, p in [("x", "a", 0.9), ("x", "b", 0.1), ("y", "a", 0.2), ("y", "b", 0.8)]
    ... ]
    >>> report = estimate_value(log, new, ["IPS", "SNIPS"])
    >>> [round(row.value, 3) for row in report.estimates], round(report.effective, 2)
    ([1.45, 0.928], 2.02)
    """
    check_level(level)
    methods = list_texts("method", method)
    check_kind("clip", clip, (int, float, NoneType), "a weight, or None")
    check_kind("examination", examination, (Mapping, NoneType), "the examination of each rank, or None")
    for name in methods:
        if name not in get_args(Method):
            raise UnknownName("method", str(name), list(get_args(Method)))
    if clip is not None and not 0 < clip < np.inf:
        msg = f"`clip` is {clip}, expected a weight above 0"
        raise BadSample(msg)
    log = read_clicks(clicks)
    inputs = (
        *log.input_files,
        *observe_files([("new", new), *([("rewards", rewards)] if rewards is not None else [])]),
    )
    policy = read_policy(new, log)
    if policy.rank_of is None:
        parts = _weigh_propensities(log, policy, read_rewards(rewards, log))
    else:
        if rewards is not None:
            msg = (
                "`rewards` go with probabilities; of a run, predictions are those of the position-based model"
            )
            raise BadMeasure(msg)
        parts = _weigh_examination(log, policy, examination)
    return _report(log, parts, methods, clip, level, inputs)


@dataclass(frozen=True, eq=False)
class _Weighing:
    """What the estimators need, of every row and of every impression."""

    form: Literal["propensities", "examination"]
    weight: Floats
    """The weight of each row."""
    scale: Floats
    """What a row's weight adds to the sum by which `SNIPS` divides, for a weight of 1."""
    whole: Floats
    """What that sum would be of each impression, if everything had been shown."""
    predicted: Floats
    """The predicted click of each row."""
    direct: Floats
    """The predicted clicks of each impression under the new ranking."""
    coverage: float
    """The share of the new ranking that the log shows."""
    notes: tuple[Note, ...]


def _weigh_propensities(log: Clicks, policy: Policy, rewards: Policy | None) -> _Weighing:
    if log.propensity is None:
        msg = (
            f"the value of probabilities needs the propensity of every row, which `{log.name}` does not have"
        )
        raise BadMeasure(
            msg, hint="a log without propensities can be valued for a run, by the examination of ranks"
        )
    pi = policy.of_rows
    halves = np.zeros(len(log), dtype=np.int64) if rewards is not None else _halve(log)
    predicted, direct = np.zeros(len(log.click)), np.zeros(len(log.click))
    for half in np.unique(halves).tolist():
        rows = halves[log.owner] == half
        table = policy.predict(log, None if rewards is None else rewards, train=~rows)
        predicted[rows], direct[rows] = table.of_rows[rows], table.expected[rows]
    ones = np.ones(len(log.click))
    notes = [*policy.notes]
    if rewards is None:
        notes.append(
            Note(
                "predicted",
                "info",
                "predictions of DM and DR are rates of clicks in the other half of the impressions, by user",
            )
        )
    return _Weighing(
        "propensities",
        pi / log.propensity,
        ones,
        np.diff(log.offset).astype(np.float64),
        predicted,
        _per_impression(direct, log),
        1 - policy.unseen,
        tuple(notes),
    )


def _halve(log: Clicks) -> Ints:
    """Return the half of each impression, drawn by user, so that predictions are of other users' clicks."""
    label = label_clusters(log)
    key = np.arange(len(log)) if label is None else np.unique(label, return_inverse=True)[1].reshape(-1)
    half: Ints = (np.random.default_rng(0).permutation(int(key.max()) + 1) % 2)[key]
    return half


def _weigh_examination(log: Clicks, policy: Policy, examination: Mapping[int, float] | None) -> _Weighing:
    from judged.clicks.models.data import Lists
    from judged.clicks.models.fit import note_identification
    from judged.clicks.models.model import fill
    from judged.clicks.models.position import PBM

    lists = Lists.of(log)
    assert log.rank is not None  # noqa: S101 - lists have ranks
    fitted = PBM.set().fit_to(lists)
    assert fitted.examination is not None  # noqa: S101 - of this model
    assert fitted.attractiveness is not None  # noqa: S101 - of this model
    gamma = fitted.examination if examination is None else _check_examination(examination, lists.ranks)
    if np.isnan(gamma).any():
        gamma = np.nan_to_num(gamma)
    here = gamma[log.rank - 1]
    if (here <= 0).any():
        rank = int(log.rank[here <= 0].min())
        msg = f"nobody looks at rank {rank}, so its clicks have no weight"
        raise BadSample(msg)
    assert policy.rank_of is not None  # noqa: S101 - a run
    there = np.where(
        (policy.rank_of > 0) & (policy.rank_of <= len(gamma)),
        gamma[np.clip(policy.rank_of, 1, len(gamma)) - 1],
        0.0,
    )
    alpha = fill(fitted.attractiveness, None)
    pair, _, _ = log.pairs
    whole, direct, unseen = policy.value_lists(log, gamma, alpha)
    notes = [*policy.notes]
    if examination is None:
        notes += note_identification(lists)
    source = "`examination`" if examination is not None else "the position-based model"
    notes.append(
        Note("examination", "info", f"weights are ratios of the examination of ranks, from {source}")
    )
    if unseen > 0:
        message = f"{100 * unseen:.1f} % of what would be looked at was never shown for its query: worth nothing in DM and DR"
        notes.append(Note("never-shown", "warning" if unseen > SEEN_ENOUGH else "info", message))
    total = float(whole.sum())
    coverage = float(there.sum()) / total if total else 0.0
    if coverage < 1 - 1e-9:
        message = (
            f"the impressions show {100 * coverage:.1f} % of what would be looked at: IPS counts nothing for the rest, SNIPS as"
            " much as for what they show, DR its predictions"
        )
        notes.append(Note("coverage", "warning" if coverage < 1 - SEEN_ENOUGH else "info", message))
    return _Weighing(
        "examination", there / here, here, whole, here * alpha[pair], direct, coverage, tuple(notes)
    )


def _check_examination(examination: Mapping[int, float], ranks: int) -> Floats:
    gamma = np.full(ranks, np.nan)
    for rank, value in examination.items():
        sound = isinstance(rank, int) and isinstance(value, int | float) and rank >= 1 and 0 < value < np.inf
        if not sound:
            msg = f"`examination` has {value} for rank {rank}, expected a number above 0 for each rank from 1"
            raise BadSample(msg)
        if rank <= ranks:
            gamma[rank - 1] = value
    missing = np.flatnonzero(np.isnan(gamma)) + 1
    if len(missing):
        msg = f"`examination` lacks rank {missing[0]}, expected every rank from 1 to {ranks}"
        raise BadSample(msg)
    return gamma


def _per_impression(values: Floats, log: Clicks) -> Floats:
    sums: Floats = add_up(log.owner, values, len(log))
    return sums


def _report(
    log: Clicks,
    parts: _Weighing,
    methods: Sequence[str],
    clip: float | None,
    level: float,
    inputs: Any,
) -> ValueReport:
    clicked = log.click.astype(np.float64)
    weight = parts.weight if clip is None else np.minimum(parts.weight, clip)
    too_large: Flags = np.zeros(len(weight), dtype=bool) if clip is None else parts.weight > clip
    squares = float((weight**2).sum())
    effective = float(weight.sum() ** 2 / squares) if squares else 0.0
    label = label_clusters(log)
    clusters = None if label is None else label.tolist()
    reward = _per_impression(clicked, log)
    terms = {
        "IPS": _per_impression(weight * clicked, log),
        "DM": parts.direct,
        "DR": parts.direct + _per_impression(weight * (clicked - parts.predicted), log),
    }
    scale = _per_impression(weight * parts.scale, log)
    if scale.sum() > 0:
        share = float(parts.whole.mean()) / float(scale.mean())
        ratio = float(terms["IPS"].sum() / scale.sum())
        terms["SNIPS"] = ratio * float(parts.whole.mean()) + (terms["IPS"] - ratio * scale) * share
    elif "SNIPS" in methods:
        msg = "the new ranking shows nothing that the log does, so no click has a weight"
        raise BadSample(msg)
    notes = list(parts.notes)
    if effective < FEW_EFFECTIVE:
        message = f"the effective sample size is {effective:.1f}: estimates rest on a handful of impressions"
        notes.insert(0, Note("few-effective", "warning", message))
    if label is None:
        message = "neither users nor sessions are known: impressions are taken as independent"
        notes.append(Note("no-users", "warning", message))
    if "DM" in methods:
        notes.append(Note("direct", "info", "the interval of DM leaves out the error of its predictions"))
    settings = {"method": list(methods), "clip": clip, "level": level, "format": log.form}
    logged = student_of(estimate_error(reward, clusters), level=level)
    return ValueReport(
        tuple(_value(name, terms[name], reward, clusters, level) for name in methods),
        Estimate(float(reward.mean()), *(_ends(logged))),
        parts.form,
        parts.coverage,
        len(log),
        effective,
        float(weight.max(initial=0.0)),
        float(too_large.mean()),
        clip,
        level,
        (*log.notes, *notes),
        Provenance(inputs=inputs, settings=settings),
    )


def _value(name: str, terms: Floats, reward: Floats, clusters: Any, level: float) -> Value:
    of: SampleMean = estimate_error(terms, clusters)
    difference = estimate_error(terms - reward, clusters)
    p = p_of(difference)
    return Value(
        name,
        of.mean,
        *_ends(student_of(of, level=level)),
        difference.mean,
        *_ends(student_of(difference, level=level)),
        None if isinstance(p, Undefined) else p,
    )


def _ends(interval: Any) -> tuple[float | None, float | None]:
    return (None, None) if isinstance(interval, Undefined) else (interval.low, interval.high)
