"""Measures of exposure: which documents, or groups of documents, readers get to see.

With groups, attention is shared out among groups (`AWRF`); without, among documents by their grades (`EEL`).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from judged.arrays import Floats
from judged.errors import BadMeasure
from judged.kernels.elementary import log, log2, powers
from judged.kernels.exposure import (
    ExposureView,
    add_by_query,
    diverge,
    expose_documents,
    find_targets,
    share_exposure,
)
from judged.measures.measure import Measure
from judged.measures.parameters import Parameter

GROUPS_HINT = "give them with `--groups FILE`, or as `judged.read_groups(…)` in place of the judgments"


def attention_weighted_fairness(
    view: ExposureView,
    *,
    discount: Literal["log2", "trec"] | float = "log2",
    distance: Literal["jsd"] = "jsd",  # noqa: ARG001 - the only one, which names of measures may spell out
    base: Literal["e"] | float = 2,
    squared: bool = True,
    unknown: Literal["left-out", "group"] = "left-out",
) -> Floats:
    r"""Return one minus the distance between the exposure of groups and their target.

    $$\mathrm{AWRF} = 1 - \mathrm{JSD}(\epsilon, \epsilon^*), \qquad
      \epsilon_g = \frac{\sum_i w_i \, s_{ig}}{\sum_h \sum_i w_i \, s_{ih}}$$

    where $s_{ig}$ is the share of group $g$ in the document at rank $i$, $w_i$ the attention that readers give to that
    rank ($1 / \log_2(i + 1)$ by default) and $\epsilon^*$ the target: equal shares, the shares of the groups in the
    file, or shares that were given. JSD is the Jensen–Shannon divergence, which is the square of the distance of that
    name; with `squared=False` the distance itself is taken. Of several rankings of a query, the mean exposure counts.

    Title: Attention-weighted rank fairness: whether groups are seen as much as they should be.
    Unjudged: does not matter: groups belong to documents, judged or not.
    Ties: results are in the order that the protocol's tie rule gives.
    Empty: 0 when no document of a known group is retrieved.
    References: Sapiezynski et al. Quantifying the impact of user attention on fair group representation in ranked lists.
        WWW 2019 Companion. doi:10.1145/3308560.3317595
        Ekstrand et al. Overview of the TREC 2021 Fair Ranking Track. TREC 2021.

    Example:
        Two documents of group x above two of group y, which should be seen equally:

        >>> groups = judged.read_groups({"a": "x", "b": "x", "c": "y", "d": "y"})
        >>> run = {"q1": ["a", "b", "c", "d"]}
        >>> judged.evaluate(groups, run, ["AWRF", "AWRF(discount=0.5)"]).mean()
        {'AWRF': 0.986..., 'AWRF(discount=0.5)': 0.926...}
    """
    shares = view.shares
    if shares is None:
        msg = "AWRF needs the groups of documents"
        raise BadMeasure(msg, hint=GROUPS_HINT)
    apart = unknown == "group"
    exposure = share_exposure(view, view.expect(_attention(view, discount)), shares, unknown=apart)
    target = shares.target_with_unknown if apart else shares.target
    scale = 1.0 if base == "e" else math.log(base)
    divergence = diverge(exposure, target, lambda ratio: log(ratio) / scale)
    value = 1 - (divergence if squared else np.sqrt(divergence))
    return np.where(exposure.sum(axis=1) > 0, value, 0.0)


def _attention(view: ExposureView, discount: str | float) -> Floats:
    if isinstance(discount, str):
        return 1 / log2(view.rank + 1 if discount == "log2" else np.maximum(view.rank, 2))
    return powers(float(discount))(view.rank - 1)


def _read_base(value: object) -> float:
    number = Parameter.number("", 2).normalise(value)
    assert isinstance(number, int | float)  # noqa: S101 - a number
    return number


AWRF = Measure(
    "AWRF",
    attention_weighted_fairness,
    family="exposure",
    needs="groups",
    extra_parameters={
        "discount": Parameter.number(
            "how attention falls with rank $i$: as $1 / \\log_2(i + 1)$ (`log2`), as $1 / \\log_2 \\max(i, 2)$ (`trec`), or"
            " at each rank to that share of the one before (a number)",
            0,
            1,
        ),
        "distance": Parameter("how far exposure is from its target: Jensen–Shannon (`jsd`)"),
        "base": Parameter("the base of logarithms", "a number from 2", _read_base),
        "squared": Parameter.flag("whether the distance is squared"),
        "unknown": Parameter(
            "whether documents of unknown group are left out, or are a group of their own (`group`)"
        ),
    },
)

PATIENCE = {
    "patience": Parameter.number("the chance that a reader goes on to the next result", 0, 1),
}


def expected_exposure_loss(view: ExposureView, *, patience: float = 0.5) -> Floats:
    r"""Return how far the expected exposure of documents is from what their grades deserve.

    $$\mathrm{EEL} = \sum_d (\epsilon_d - \epsilon^*_d)^2 = \mathrm{EED} - \mathrm{EER} + \sum_d {\epsilon^*_d}^2$$

    where $\epsilon_d$ is the mean of $\gamma^{i - 1}$ over the rankings of the query, $i$ being the rank of document $d$ and
    $\gamma$ `patience`, and $\epsilon^*_d$ the same over every ranking in the order of grades, so that documents of one
    grade share the exposure of their ranks. The documents are those judged or retrieved.

    Title: Expected exposure loss: whether documents of equal grade are seen equally.
    Unjudged: counts as grade 0.
    Ties: results are in the order that the protocol's tie rule gives.
    Empty: the sum of the squared targets, for a query without results as well.
    References: Diaz et al. Evaluating stochastic rankings with expected exposure. CIKM 2020. doi:10.1145/3340531.3411962

    Example:
        A document that is not relevant above two that are:

        >>> judged.evaluate({"q1": {"a": 1, "b": 1, "c": 0}}, {"q1": ["c", "a", "b"]}, "EEL").mean()
        {'EEL': 0.875}

        Two rankings of the query q1, which take turns, show both documents equally:

        >>> judged.evaluate({"q1": {"a": 1, "b": 1}}, {"q1.1": ["a", "b"], "q1.2": ["b", "a"]}, "EEL").mean()
        {'EEL': 0.0}
    """
    difference = expose_documents(view, patience) - find_targets(view, patience)
    return add_by_query(view, difference**2)


EEL = Measure(
    "EEL",
    expected_exposure_loss,
    family="exposure",
    bounds=(0.0, math.inf),
    higher_is_better=False,
    zero_if_missing=False,
    extra_parameters=PATIENCE,
)


def expected_exposure_disparity(view: ExposureView, *, patience: float = 0.5) -> Floats:
    r"""Return how unequally documents are exposed, whatever their grades.

    $$\mathrm{EED} = \sum_d \epsilon_d^2$$

    where $\epsilon_d$ is the mean of $\gamma^{i - 1}$ over the rankings of the query, $i$ being the rank of document $d$ and
    $\gamma$ `patience`. A single ranking has the most that its length allows; rankings in random order have the least.

    Title: Expected exposure disparity: how unequally documents are seen.
    Unjudged: does not matter.
    Ties: results are in the order that the protocol's tie rule gives.
    Empty: 0 when nothing is retrieved.
    References: Diaz et al. Evaluating stochastic rankings with expected exposure. CIKM 2020. doi:10.1145/3340531.3411962

    Example:
        The exposure of the three ranks is 1, ½ and ¼:

        >>> judged.evaluate({"q1": {"a": 1, "b": 1, "c": 0}}, {"q1": ["c", "a", "b"]}, "EED").mean()
        {'EED': 1.3125}
    """
    return add_by_query(view, expose_documents(view, patience) ** 2)


EED = Measure(
    "EED",
    expected_exposure_disparity,
    family="exposure",
    bounds=(0.0, math.inf),
    higher_is_better=False,
    extra_parameters=PATIENCE,
)


def expected_exposure_relevance(view: ExposureView, *, patience: float = 0.5, factor: float = 2) -> Floats:
    r"""Return how much of the exposure goes to documents whose grades deserve it.

    $$\mathrm{EER} = 2 \sum_d \epsilon_d \, \epsilon^*_d$$

    where $\epsilon_d$ is the mean of $\gamma^{i - 1}$ over the rankings of the query, $i$ being the rank of document $d$ and
    $\gamma$ `patience`, and $\epsilon^*_d$ the same over every ranking in the order of grades. The documents are those
    judged or retrieved. The tables of TREC have half of it, `EER(factor=1)`.

    Title: Expected exposure relevance: whether what is seen is relevant.
    Unjudged: counts as grade 0.
    Ties: results are in the order that the protocol's tie rule gives.
    Empty: 0 when nothing is retrieved.
    References: Diaz et al. Evaluating stochastic rankings with expected exposure. CIKM 2020. doi:10.1145/3340531.3411962

    Example:
        A document that is not relevant above two that are:

        >>> judged.evaluate({"q1": {"a": 1, "b": 1, "c": 0}}, {"q1": ["c", "a", "b"]}, ["EER", "EER(factor=1)"]).mean()
        {'EER': 1.625, 'EER(factor=1)': 0.8125}
    """
    product = expose_documents(view, patience) * find_targets(view, patience)
    return factor * add_by_query(view, product)


EER = Measure(
    "EER",
    expected_exposure_relevance,
    family="exposure",
    bounds=(0.0, math.inf),
    extra_parameters={
        **PATIENCE,
        "factor": Parameter.number(
            "what the product is multiplied by: 2 as published, 1 in the tables of TREC", 1, 2
        ),
    },
)
