"""Residual of expected utility: how much higher a score could be if all that is unknown were perfect."""

from __future__ import annotations

from judged.kernels.ranked.browsing import ReaderModel, browse, gain_share, make_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["EU_residual", "expected_residual"]


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
    r"""The gain for each result looked at if everything unknown had the highest grade, less that if it had none.

    $$\mathrm{residual} = \mathrm{EU}(g^+) - \mathrm{EU}(g^-), \qquad
      \mathrm{EU}(g) = \frac{\sum_{i=1}^{d} u(g_i) \prod_{j < i} C_j}{\sum_{i=1}^{d} \prod_{j < i} C_j}$$

    where $C_j$ is the chance of going on from rank $j$ in the `model` named, and $d$ is `depth`, or `cutoff` for
    the models that have one (`bpm`, `sdcg`, `nerr8`, `nerr9`). `p` is for `rbp` and `nerr10`, `T` for `insq`,
    `inst`, `bpm` and `nerr11`; the cards of these measures give each $C$. In $g^+$ every
    unjudged result, and every rank beyond the last one, has the highest grade; in $g^-$ none has a gain. With
    `model="rbp"` it is `RBP_residual`, save for what lies beyond rank $d$. A reader who stops where satisfied
    looks at other results in $g^+$ than in $g^-$, so that it may be below 0.

    Unjudged: is what it measures; a negative grade is unjudged too.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 1 when nothing is retrieved, for nothing is known.
    Agrees with: cwl_eval's residual (`-r`) of expected utility.

    Example:
        The second of two results is unjudged, and the reader goes no further; its weight is 0.5 of 1.5:

        >>> from judged.kernels.examples import make_ranking
        >>> expected_residual(make_ranking([1, None]), model="rbp", p=0.5, depth=2).round(4)
        array([0.3333])

    References:
        Moffat, Bailey, Scholer and Thomas. Incorporating user expectations and behavior into the measurement of
        search effectiveness. TOIS 35(3), 2017. doi:10.1145/3052768
    """
    reader = make_reader(model, p=p, T=T, cutoff=cutoff, depth=depth)
    share = gain_share(ranking, gain, max_grade)
    return browse(ranking, share, reader, unjudged=1.0).rate - browse(ranking, share, reader).rate


EU_residual = Measure(
    "EU_residual",
    expected_residual,
    at="cutoff",
    family="browsing",
    bounds=(-1.0, 1.0),
    higher_is_better=None,
    of_run=False,
    properties=frozenset({"zero-if-all-is-known"}),
)
