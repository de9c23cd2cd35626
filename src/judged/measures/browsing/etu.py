"""Expected total utility: what a reader gains in all."""

from __future__ import annotations

import math

from judged.kernels.ranked.browsing import ReaderModel, browse, gain_share, make_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["ETU", "expected_total"]


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
    r"""All that the reader of the named model gains before stopping.

    $$\mathrm{ETU} = \sum_{i=1}^{d} u(g_i) \prod_{j < i} C_j$$

    where $C_j$ is the chance of going on from rank $j$ in the `model` named, and $d$ is `depth`, or `cutoff` for
    the models that have one (`bpm`, `sdcg`, `nerr8`, `nerr9`). `p` is for `rbp` and `nerr10`, `T` for `insq`,
    `inst`, `bpm` and `nerr11`; the cards of these measures give each $C$. $g_i$ is the grade of the
    result at rank $i$ and $u(g)$ its gain, between 0 and 1 as in those measures. Over `ED` it is the measure
    of that name.

    Unjudged: has no gain.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: 0 when nothing with a positive grade is retrieved.
    Agrees with: cwl_eval's `expected_total_utility` for models that stop by themselves; cwl_eval leaves out
        what those gain who would go on after the last of its 1000 ranks.

    Example:
        A reader who goes on with a chance of 0.5 finds the whole of the first gain and a quarter of the other:

        >>> from judged.kernels.examples import make_ranking
        >>> expected_total(make_ranking([1, 0, 1]), model="rbp", p=0.5)
        array([1.25])

    References:
        Moffat, Bailey, Scholer and Thomas. Incorporating user expectations and behavior into the measurement of
        search effectiveness. TOIS 35(3), 2017. doi:10.1145/3052768
    """
    reader = make_reader(model, p=p, T=T, cutoff=cutoff, depth=depth)
    return browse(ranking, gain_share(ranking, gain, max_grade), reader).gain


ETU = Measure(
    "ETU",
    expected_total,
    at="cutoff",
    family="browsing",
    bounds=(0.0, math.inf),
    properties=frozenset({"zero-if-nothing-found", "gain-only"}),
)
