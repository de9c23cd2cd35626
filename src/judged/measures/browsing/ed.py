"""Expected depth: how many results a reader looks at."""

from __future__ import annotations

import math

from judged.kernels.ranked.browsing import ReaderModel, browse, gain_share, make_reader
from judged.kernels.ranked.gains import Gain
from judged.kernels.ranked.ranking import Ranking
from judged.kernels.segments import Floats
from judged.measures.measure import Measure

__all__ = ["ED", "expected_depth"]


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
    r"""The number of results that the reader of the named model looks at before stopping.

    $$\mathrm{ED} = \sum_{i=1}^{d} \prod_{j < i} C_j$$

    where $C_j$ is the chance of going on from rank $j$ in the `model` named, and $d$ is `depth`, or `cutoff` for
    the models that have one (`bpm`, `sdcg`, `nerr8`, `nerr9`). `p` is for `rbp` and `nerr10`, `T` for `insq`,
    `inst`, `bpm` and `nerr11`; the cards of these measures give each $C$. With a cost of 1
    for each result it is the expected total cost too.

    Unjudged: has no gain, so nobody is satisfied by it.
    Ties: results stand in the order that the protocol's tie rule gives.
    Empty: as for results without any gain.
    Agrees with: cwl_eval's `expected_items`.

    Example:
        One in two readers goes on from each of three results:

        >>> from judged.kernels.examples import make_ranking
        >>> expected_depth(make_ranking([0, 0, 0]), model="rbp", p=0.5, depth=3)
        array([1.75])

    References:
        Moffat, Bailey, Scholer and Thomas. Incorporating user expectations and behavior into the measurement of
        search effectiveness. TOIS 35(3), 2017. doi:10.1145/3052768
    """
    reader = make_reader(model, p=p, T=T, cutoff=cutoff, depth=depth)
    return browse(ranking, gain_share(ranking, gain, max_grade), reader).looked


ED = Measure(
    "ED",
    expected_depth,
    at="cutoff",
    family="browsing",
    bounds=(1.0, math.inf),
    higher_is_better=None,
    of_run=False,
    properties=frozenset({"one-or-more", "gain-only"}),
)
