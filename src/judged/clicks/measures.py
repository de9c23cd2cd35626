"""Measures of clicks, one value for each impression: `from judged.clicks.measures import CTR`."""

from __future__ import annotations

import math

import numpy as np

from judged.arrays import Floats
from judged.clicks.kernels import ClickView, least
from judged.measures.groups import Scope
from judged.measures.measure import Measure
from judged.measures.parameters import Parameter

CLICK = Scope(
    "click",
    subject="clicks",
    example="CTR@3",
    form="write it as `CTR@3` or `Satisfied(dwell=30)`",
    takes="`judged.evaluate_clicks` or `judged clicks`",
    unit="impressions",
    unknown="unknown",
    about={
        "click": (
            "Measures of what users clicked, one value for each impression: a list of documents that was shown. Means are "
            "over impressions; intervals and tests are by user, or by session where users are not known, because the "
            "impressions of one user are not independent: a million impressions of a thousand users are a thousand "
            "independent values. Clicks are not judgments: people click what they see, and see what is ranked high."
        )
    },
)


def click_through(view: ClickView, *, cutoff: int | None = None, rank: int | None = None) -> Floats:
    r"""Return 1 for an impression with a click, among the first $k$ documents or at one rank, else 0.

    $$\mathrm{CTR}@k = [\exists\, i \le k : c_i = 1]$$

    where $c_i$ is 1 if the document at rank $i$ was clicked. The mean over impressions is the click-through rate. With
    `rank`, only the document at that rank counts.

    Title: Click-through rate: how often something is clicked.
    Unknown: does not matter.
    Empty: 0 without a click. With `rank`, an impression that shows nothing at that rank has no value.
    References: Joachims et al. Evaluating the accuracy of implicit feedback from clicks and query reformulations in web
        search. TOIS 25(2), 2007. doi:10.1145/1229179.1229181

    Example:
        The third document is clicked:

        >>> rows = [
        ...     {"query": "q", "impression": 1, "document": d, "rank": r, "click": int(r == 3)}
        ...     for r, d in enumerate("abc", 1)
        ... ]
        >>> judged.evaluate(None, judged.read_clicks(rows), ["CTR", "CTR@2", "CTR(rank=3)"]).mean()
        {'CTR': 1.0, 'CTR@2': 0.0, 'CTR(rank=3)': 1.0}
    """
    within = view.click if cutoff is None else view.click & (view.rank <= cutoff)
    if rank is None:
        return view.has(within)
    at = view.rank == rank
    return np.where(view.has(at) > 0, view.has(within & at), math.nan)


CTR = Measure(
    "CTR",
    click_through,
    family="click",
    at_parameter="cutoff",
    values="binary",
    zero_if_missing=False,
    extra_parameters={
        "cutoff": Parameter.whole("the number of documents that count"),
        "rank": Parameter.whole("the one rank that counts"),
    },
)


def click_reciprocal_rank(view: ClickView) -> Floats:
    r"""Return one over the rank of the first clicked document; 0 without a click.

    $$\mathrm{ClickRR} = \frac{1}{\min \{ i : c_i = 1 \}}$$

    where $c_i$ is 1 if the document at rank $i$ was clicked. The first is the one ranked highest, whenever it was clicked.

    Title: Reciprocal rank of the first click: how high what is clicked stands.
    Unknown: does not matter.
    Empty: 0 without a click.
    References: Radlinski, Kurup and Joachims. How does clickthrough data reflect retrieval quality? CIKM 2008.
        doi:10.1145/1458082.1458092

    Example:
        The second and the third document are clicked:

        >>> rows = [
        ...     {"query": "q", "impression": 1, "document": d, "rank": r, "click": int(r > 1)}
        ...     for r, d in enumerate("abc", 1)
        ... ]
        >>> judged.evaluate(None, judged.read_clicks(rows), "ClickRR").mean()
        {'ClickRR': 0.5}
    """
    return view.best(np.where(view.click, 1 / np.maximum(view.rank, 1), 0.0))


ClickRR = Measure("ClickRR", click_reciprocal_rank, family="click", zero_if_missing=False)


def abandonment(view: ClickView) -> Floats:
    r"""Return 1 for an impression without any click, else 0.

    $$\mathrm{Abandonment} = [\forall i : c_i = 0]$$

    where $c_i$ is 1 if the document at rank $i$ was clicked. Not every abandoned list failed: some answer by what they
    show, without a click.

    Title: Abandonment: how often nothing is clicked.
    Unknown: does not matter.
    Empty: 1 without a click.
    References: Radlinski, Kurup and Joachims. How does clickthrough data reflect retrieval quality? CIKM 2008.
        doi:10.1145/1458082.1458092

    Example:
        One of two impressions has no click:

        >>> rows = [{"query": "q", "impression": i, "document": "a", "rank": 1, "click": i} for i in (0, 1)]
        >>> judged.evaluate(None, judged.read_clicks(rows), "Abandonment").mean()
        {'Abandonment': 0.5}
    """
    return 1.0 - view.has(view.click)


Abandonment = Measure(
    "Abandonment", abandonment, family="click", values="binary", higher_is_better=False, zero_if_missing=False
)


def satisfied(view: ClickView, *, dwell: float = 30) -> Floats:
    r"""Return 1 for an impression with a satisfied click, else 0.

    $$\mathrm{Satisfied} = [\exists\, i : c_i = 1 \wedge t_i \ge d]$$

    where $c_i$ is 1 if the document at rank $i$ was clicked, $t_i$ is the dwell after that click in seconds, and $d$ is
    `dwell`. Nobody knows how long the last click of a session lasted: by default such a click is satisfied (the
    protocol's `last_click`), so in a log without dwell an impression is satisfied that ends its session with a click.

    Title: Satisfied clicks: how often a click is followed by reading.
    Unknown: a click of unknown dwell counts if it is the last of its session, unless the protocol's `last_click` is
        `unsatisfied`; any other one does not.
    Empty: 0 without a click.
    References: Fox et al. Evaluating implicit measures to improve web search. TOIS 23(2), 2005.
        doi:10.1145/1059981.1059982

    Example:
        One of two clicks lasted half a minute:

        >>> rows = [{"query": "q", "impression": s, "document": "a", "rank": 1, "click": 1, "dwell": s} for s in (12, 40)]
        >>> judged.evaluate(None, judged.read_clicks(rows), "Satisfied(dwell=30)").mean()
        {'Satisfied(dwell=30)': 0.5}
    """
    long = view.dwell >= dwell
    unknown = (
        np.isnan(view.dwell) & view.last if view.unknown_dwell else np.zeros(len(view.click), dtype=bool)
    )
    return view.has(view.click & (long | unknown))


Satisfied = Measure(
    "Satisfied",
    satisfied,
    family="click",
    values="binary",
    zero_if_missing=False,
    conventions=("last_click",),
    extra_parameters={"dwell": Parameter.number("the seconds from which a click is satisfied", 0)},
)


def time_to_click(view: ClickView) -> Floats:
    r"""Return the seconds from the impression to its first click.

    $$\mathrm{TimeToClick} = \min_{i : c_i = 1} (t_i - t)$$

    where $t$ is when the list was shown and $t_i$ when the document at rank $i$ was clicked.

    Title: Time to the first click: how long people look before they choose.
    Unknown: a click without a time does not count.
    Empty: an impression without a click has no value, so systems may differ in which impressions the mean is over.
    References: Radlinski, Kurup and Joachims. How does clickthrough data reflect retrieval quality? CIKM 2008.
        doi:10.1145/1458082.1458092

    Example:
        Shown at second 100 and clicked at second 104:

        >>> row = {"query": "q", "impression": 1, "document": "a", "rank": 1, "click": 1, "time": 100, "click_time": 104}
        >>> judged.evaluate(None, judged.read_clicks([row]), "TimeToClick").mean()
        {'TimeToClick': 4.0}
    """
    return least(view.delay, view.offset)


TimeToClick = Measure(
    "TimeToClick",
    time_to_click,
    family="click",
    bounds=(0.0, math.inf),
    unit="s",
    higher_is_better=False,
    zero_if_missing=False,
)


def interleaving(view: ClickView) -> Floats:
    r"""Return which of two systems an interleaved list speaks for: 1 for the first team, −1 for the second, 0 for neither.

    $$\mathrm{Interleaving} = \mathrm{sgn}\left(\sum_i c_i [t_i = A] - \sum_i c_i [t_i = B]\right)$$

    where $c_i$ is 1 if the document at rank $i$ was clicked and $t_i$ is the team that placed it. The first team is the
    one whose name comes first in the alphabet; results say which it is.

    Title: Interleaving: which of two systems people choose from, in one list.
    Unknown: a document without a team counts for neither.
    Empty: 0 without a click.
    References: Chapelle et al. Large-scale validation and analysis of interleaved search evaluation. TOIS 30(1), 2012.
        doi:10.1145/2094072.2094078

    Example:
        Two clicks on documents of `new`, one on a document of `old`:

        >>> rows = [
        ...     {"query": "q", "impression": 1, "document": d, "rank": r, "click": 1, "team": t}
        ...     for r, (d, t) in enumerate([("a", "old"), ("b", "new"), ("c", "new")], 1)
        ... ]
        >>> judged.evaluate(None, judged.read_clicks(rows), "Interleaving").mean()
        {'Interleaving': 1.0}
    """
    return np.sign(view.count(view.click & (view.team == 0)) - view.count(view.click & (view.team == 1)))


Interleaving = Measure(
    "Interleaving",
    interleaving,
    family="click",
    bounds=(-1.0, 1.0),
    higher_is_better=None,
    zero_if_missing=False,
    conventions=("prefix",),
)
