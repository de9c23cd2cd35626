"""ranx: `Qrels` and `Run` objects, scored by `evaluate(..., make_comparable=True)`."""

from __future__ import annotations

from judged.measures.measure import Measure
from judged.profiles.profile import Profile, Spelling, set_relevance
from judged.protocol import Protocol


def _lower_grades_gain_nothing(measure: Measure, level: int) -> Measure:
    """Return the measure with no gain for grades below the level: ranx drops such documents."""
    return measure(gains=dict.fromkeys(range(1, level), 0)) if level > 1 else measure


def _hundredths(digits: str) -> float:
    """`rbp.95` and `rbp@95` both mean a persistence of 0.95."""
    return float(f"0.{digits}")


def _at(name: str, measure: str, whole: str | None = None) -> list[Spelling]:
    """Return the spellings with a cutoff, and without one, which may be another measure of ours."""
    cut = Spelling(name, measure, level=set_relevance)
    return [cut] if whole is None else [cut, Spelling(name, whole, level=set_relevance)]


def _gain(name: str, measure: str, gain: str) -> Spelling:
    given = {} if gain == "linear" else {"gain": gain}
    return Spelling(name, measure, given, takes=(), level=_lower_grades_gain_nothing)


PROFILE = Profile(
    "ranx",
    tool="ranx",
    version="0.3.21",
    about="`evaluate(Qrels(…), Run(…), …, make_comparable=True)`",
    protocol=Protocol(ties="input-order", precision="float64"),
    spellings=(
        *_at("precision", "P", "SetP"),
        *_at("recall", "R", "SetR"),
        *_at("hit_rate", "Success"),
        *_at("f1", "F1"),
        *_at("r-precision", "Rprec"),
        *_at("mrr", "RR"),
        *_at("map", "AP"),
        _gain("ndcg", "nDCG", "linear"),
        _gain("ndcg_burges", "nDCG", "exp"),
        _gain("dcg", "DCG", "linear"),
        _gain("dcg_burges", "DCG", "exp"),
        Spelling(
            "rbp",
            "RBP",
            {"gain": "grade"},
            at="p",
            convert=_hundredths,
            number=True,
            level=set_relevance,
            shown="rbp.pp",
        ),
        Spelling("bpref", "Bpref", conventions={"negative": "nonrelevant"}, level=set_relevance),
    ),
    caveats=(
        "`hits`, which is `precision` without its divisor, and `hit_rate` and `f1` without a cutoff are not supported.",
        "Its sort keeps no order among equal scores where a query has more than 15 results.",
        "Dicts given in place of objects are paired by position, and their ties are reversed.",
        "Without `make_comparable` it refuses a run whose queries are not those of the judgments.",
        "`bpref` is NaN or 0 where no document is judged not relevant, and where none is relevant; others may be 0 then.",
    ),
)
