"""Totals for the reader of any model: gain, expected depth, and the residual of unjudged results."""

from __future__ import annotations

import math

from judged.arrays import Floats
from judged.kernels.ranked.browsing import ReaderModel, browse, gain_share, make_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.measures.laws import Law
from judged.measures.measure import Measure

_MODEL = (
    "The depth $d$ is `depth`, or `cutoff` for the models that have one (`bpm`, `sdcg`, `nerr8`, `nerr9`). `p` is for "
    "`rbp` and `nerr10`, `T` for `insq`, `inst`, `bpm` and `nerr11`; the cards of these measures give each $C$."
)
"""Meaning of $C$ and $d$ in all formulas of this file, for cards."""


def expected_total(
    ranking: Ranking,
    *,
    cutoff: int = 10,
    model: ReaderModel = "inst",
    p: float = 0.8,
    T: float = 1.0,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""Return all that the reader of the named model gains before stopping.

    $$\mathrm{ETU} = \sum_{i=1}^{d} u(g_i) \prod_{j < i} C_j$$

    where $C_j$ is the chance of going on from rank $j$ in the `model` and $d$ the depth. $g_i$ is the grade
    of the result at rank $i$ and $u(g)$ its gain, between 0 and 1 as in those measures. Over `ED` it is the
    measure of that name.

    Title: Expected total utility: what a reader gains in all.
    Agrees with: cwl_eval's `expected_total_utility` for models that stop by themselves; cwl_eval leaves out
        what those gain who would go on after the last of its 1000 ranks.
    References: Moffat, Bailey, Scholer and Thomas. Incorporating user expectations and behavior into the
        measurement of search effectiveness. TOIS 35(3), 2017. doi:10.1145/3052768

    Example:
        A reader who goes on with a chance of 0.5 finds the whole of the first gain and a quarter of the other:

        >>> qrels = {"q1": {"a": 1, "b": 0, "c": 1}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, 'ETU(model="rbp", p=0.5)').mean()
        {'ETU(model="rbp", p=0.5)': 1.25}
    """
    reader = make_reader(model, p=p, T=T, cutoff=cutoff, depth=depth)
    return browse(ranking, gain_share(ranking, gain, max_grade), reader).gain


ETU = Measure(
    "ETU",
    expected_total,
    note=_MODEL,
    at_parameter="cutoff",
    group="browsing",
    bounds=(0.0, math.inf),
    laws=frozenset({Law.ZERO_IF_NOTHING_FOUND, Law.GAIN_ONLY}),
)


def expected_depth(
    ranking: Ranking,
    *,
    cutoff: int = 10,
    model: ReaderModel = "inst",
    p: float = 0.8,
    T: float = 1.0,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""Return the number of results that the reader of the named model looks at before stopping.

    $$\mathrm{ED} = \sum_{i=1}^{d} \prod_{j < i} C_j$$

    where $C_j$ is the chance of going on from rank $j$ in the `model` and $d$ the depth. With a cost of 1 for
    each result it is the expected total cost too.

    Title: Expected depth: how many results a reader looks at.
    Unjudged: has no gain, so nobody is satisfied by it.
    Empty: as for results without any gain.
    Agrees with: cwl_eval's `expected_items`.
    References: Moffat, Bailey, Scholer and Thomas. Incorporating user expectations and behavior into the
        measurement of search effectiveness. TOIS 35(3), 2017. doi:10.1145/3052768

    Example:
        One in two readers goes on from each of three results:

        >>> qrels = {"q1": {"a": 0, "b": 0, "c": 0}}
        >>> run = {"q1": ["a", "b", "c"]}
        >>> judged.evaluate(qrels, run, 'ED(model="rbp", p=0.5, depth=3)').mean()
        {'ED(model="rbp", p=0.5, depth=3)': 1.75}
    """
    reader = make_reader(model, p=p, T=T, cutoff=cutoff, depth=depth)
    return browse(ranking, gain_share(ranking, gain, max_grade), reader).viewed


ED = Measure(
    "ED",
    expected_depth,
    note=_MODEL,
    at_parameter="cutoff",
    group="browsing",
    bounds=(1.0, math.inf),
    higher_is_better=None,
    zero_if_missing=False,
    laws=frozenset({Law.ONE_OR_MORE, Law.GAIN_ONLY}),
)


def expected_residual(
    ranking: Ranking,
    *,
    cutoff: int = 10,
    model: ReaderModel = "inst",
    p: float = 0.8,
    T: float = 1.0,
    depth: int = 1000,
    gain: Gain = "linear",
    max_grade: float | None = None,
) -> Floats:
    r"""Return the gain for each result looked at if everything unknown had the highest grade, less the gain if it had none.

    $$\mathrm{residual} = \mathrm{EU}(g^+) - \mathrm{EU}(g^-), \qquad
      \mathrm{EU}(g) = \frac{\sum_{i=1}^{d} u(g_i) \prod_{j < i} C_j}{\sum_{i=1}^{d} \prod_{j < i} C_j}$$

    where $C_j$ is the chance of going on from rank $j$ in the `model` and $d$ the depth. In $g^+$ every
    unjudged result, and every rank beyond the last one, has the highest grade; in $g^-$ none has a gain. With
    `model="rbp"` it is `RBP_residual`, save for what lies beyond rank $d$. A reader who stops where satisfied
    looks at other results in $g^+$ than in $g^-$, so that it may be below 0.

    Title: Residual of expected utility: how much higher a score could be if all that is unknown were perfect.
    Unjudged: is what it measures; a negative grade is unjudged too.
    Empty: 1 when nothing is retrieved, because nothing is known.
    Agrees with: cwl_eval's residual (`-r`) of expected utility.
    References: Moffat, Bailey, Scholer and Thomas. Incorporating user expectations and behavior into the
        measurement of search effectiveness. TOIS 35(3), 2017. doi:10.1145/3052768

    Example:
        The second of two results is unjudged, and the reader goes no further; its weight is 0.5 of 1.5:

        >>> qrels = {"q1": {"a": 1}}
        >>> run = {"q1": ["a", "b"]}
        >>> judged.evaluate(qrels, run, 'EU_residual(model="rbp", p=0.5, depth=2)').mean()
        {'EU_residual(model="rbp", p=0.5, depth=2)': 0.3333...}
    """
    reader = make_reader(model, p=p, T=T, cutoff=cutoff, depth=depth)
    share = gain_share(ranking, gain, max_grade)
    return browse(ranking, share, reader, unjudged=1.0).rate - browse(ranking, share, reader).rate


EU_residual = Measure(
    "EU_residual",
    expected_residual,
    note=_MODEL,
    at_parameter="cutoff",
    group="browsing",
    bounds=(-1.0, 1.0),
    higher_is_better=None,
    zero_if_missing=False,
    laws=frozenset({Law.ZERO_IF_ALL_IS_KNOWN}),
)
