"""trec_eval's own measure names: what `-m NAME[.PARAMETERS]` computes and prints, in trec_eval's order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from judged.errors import BadMeasure, UnknownName
from judged.measures.groups import Alias, find_measure
from judged.measures.measure import Measure
from judged.subject import NOTHING

Version: TypeAlias = Literal[9, 10]
Kind: TypeAlias = Literal["integer", "float", "string", "runid"]


class TrecMeasure(NamedTuple):
    """One line of trec_eval's output: the name it prints and the measure it shows."""

    name: str
    """As printed: `P_5`, `iprec_at_recall_0.00`, `set_F_2`."""
    measure: Measure | None
    """The measure; None for `runid`, which is the name of the run."""
    kind: Kind = "float"
    """Print format of the value: `%ld`, `%6.4f`, `'%s'`, or the run's name."""
    per_query: bool = True
    """Whether `-q` shows it for each query; `num_q`, `runid` and the geometric means are not shown."""
    summary: bool = True
    """Whether the line `all` shows it; `relstring` is not shown there."""
    complete: Measure | None = None
    """Measure that the line `all` shows instead under `-c`: the sum of `num_rel` then ignores `-l`."""


class _Entry(NamedTuple):
    """Expansion of one of trec_eval's names: the measure, the notation of its parameters, their default."""

    measure: str
    read: Callable[[str, str, Measure], Iterator[tuple[str, Measure]]] | None = None
    default: str = ""
    parameters: Mapping[str, object] = NOTHING
    number: str | None = None
    """The parameter that a number after the name sets; None: the one that `@` sets."""
    kind: Kind = "float"
    per_query: bool = True
    summary: bool = True
    since: Version = 9
    explicit: str | None = None
    """A parameter that must be written where names are not trec_eval's alone: `rbp` is our `RBP` there."""


def _cutoffs(name: str, text: str, measure: Measure) -> Iterator[tuple[str, Measure]]:
    """Yield a line for each cutoff, ascending; trec_eval reads `23.4` as 23."""
    for cutoff in _distinct_numbers(name, text):
        if cutoff < 1:
            msg = f"the cutoffs of trec_eval's `{name}` must be whole numbers from 1, not `{text}`"
            raise BadMeasure(msg)
        yield f"{name}_{int(cutoff)}", measure @ int(cutoff)


def _recalls(name: str, text: str, measure: Measure) -> Iterator[tuple[str, Measure]]:
    """Return a line for each point of recall, ascending."""
    return ((f"{name}_{recall:3.2f}", measure(recall=recall)) for recall in _distinct_numbers(name, text))


def _multiples(name: str, text: str, measure: Measure) -> Iterator[tuple[str, Measure]]:
    """Return a line for each multiple of the number of relevant documents, ascending."""
    return ((f"{name}_{share:3.2f}", measure(multiple=share)) for share in _distinct_numbers(name, text))


def _length(name: str, text: str, measure: Measure) -> Iterator[tuple[str, Measure]]:
    yield f"{name}_{text}", measure @ int(_numbers(name, text)[0])


def _weight(name: str, text: str, measure: Measure) -> Iterator[tuple[str, Measure]]:
    """Yield one line; trec_eval's weight is not squared, so beta is its root."""
    yield f"{name}_{text}", measure(weight=max(_numbers(name, text)[0], 0.0))


def _points(name: str, text: str, measure: Measure) -> Iterator[tuple[str, Measure]]:
    yield f"{name}_{text}", measure(points=_numbers(name, text))


def _prices(name: str, text: str, measure: Measure) -> Iterator[tuple[str, Measure]]:
    prices = _numbers(name, text)
    if len(prices) != 4:
        msg = f"trec_eval's `{name}` takes four numbers, not `{text}`"
        raise BadMeasure(msg)
    yield f"{name}_{text}", measure(**dict(zip("abcd", prices, strict=True)))


def _gains(name: str, text: str, measure: Measure) -> Iterator[tuple[str, Measure]]:
    """Read pairs such as `1=3,2=9`; a key that is not a grade is ignored."""
    table = {int(level): gain for level, gain in _pairs(name, text).items() if _is_whole(level)}
    yield f"{name}_{text}", measure(gains=table) if table else measure


def _persistence(name: str, text: str, measure: Measure) -> Iterator[tuple[str, Measure]]:
    """Read `p=0.8`; refuse gains, because trec_eval's own result with them depends on uncleared memory."""
    pairs = _pairs(name, text)
    if any(_is_whole(level) for level in pairs):
        msg = f"trec_eval's `{name}` with gains of its own has no defined value, so `{text}` is not computed"
        raise BadMeasure(msg, hint=f"write it as `{name}.p=0.8`")
    yield f"{name}_{text}", measure(p=pairs["p"]) if "p" in pairs else measure


_DEPTHS = "5,10,15,20,30,100,200,500,1000"
_ELEVEN = "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"
_MULTIPLES = "0.2,0.4,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0"

_TABLE: dict[str, _Entry] = {
    "runid": _Entry("", kind="runid", per_query=False),
    "num_q": _Entry("NumQ", kind="integer", per_query=False),
    "num_ret": _Entry("NumRet", kind="integer"),
    "num_rel": _Entry("NumRel", kind="integer"),
    "num_rel_ret": _Entry("NumRelRet", kind="integer"),
    "map": _Entry("AP"),
    "gm_map": _Entry("gm_AP", per_query=False),
    "Rprec": _Entry("Rprec"),
    "bpref": _Entry("Bpref"),
    "recip_rank": _Entry("RR"),
    "iprec_at_recall": _Entry("IPrec", _recalls, _ELEVEN),
    "P": _Entry("P", _cutoffs, _DEPTHS),
    "relstring": _Entry("relstring", _length, kind="string", summary=False),
    "recall": _Entry("R", _cutoffs, _DEPTHS),
    "infAP": _Entry("infAP"),
    "gm_bpref": _Entry("gm_Bpref", per_query=False),
    "Rprec_mult": _Entry("Rprec", _multiples, _MULTIPLES, number="multiple"),
    "utility": _Entry("Utility", _prices),
    "11pt_avg": _Entry("AP11", _points),
    "binG": _Entry("binG"),
    "G": _Entry("G", _gains),
    "dcg": _Entry("DCG", _gains, since=10),
    "ideal_dcg": _Entry("IDCG", _gains, since=10),
    "ndcg": _Entry("nDCG", _gains),
    "ndcg_rel": _Entry("nDCG_rel", _gains),
    "Rndcg": _Entry("Rndcg", _gains),
    "ndcg_cut": _Entry("nDCG", _cutoffs, _DEPTHS),
    "map_cut": _Entry("AP", _cutoffs, _DEPTHS),
    "relative_P": _Entry("R", _cutoffs, _DEPTHS, {"over": "cutoff"}),
    "success": _Entry("Success", _cutoffs, "1,5,10"),
    "set_P": _Entry("SetP"),
    "set_relative_P": _Entry("SetRelP"),
    "set_recall": _Entry("SetR"),
    "set_map": _Entry("SetAP"),
    "set_F": _Entry("SetF", _weight, number="weight"),
    "num_nonrel_judged_ret": _Entry("NumNonrelJudgedRet", kind="integer"),
    "yaap": _Entry("yaap"),
    "rbp": _Entry(
        "RBP", _persistence, parameters={"p": 0.9, "gain": "linear", "max_grade": "query"}, since=10
    ),
    "rbp_resid": _Entry(
        "RBP_residual", _persistence, parameters={"p": 0.9, "tail": "unjudged"}, since=10, explicit="p"
    ),
    "unj": _Entry("Unjudged", _cutoffs, "5,10,20", since=10),
}
"""Every name of trec_eval that works on plain judgments, in the order in which it prints them."""

_PREFERENCES: dict[str, _Entry] = {
    **{
        name: _Entry(name, kind="integer")
        for name in ("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret")
    },
    **{
        name: _Entry(name)
        for name in (
            *("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel"),
            *("prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret"),
            *("prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp"),
        )
    },
}
"""The names that need preferences, in the order in which they are printed."""

_JUDGES: dict[str, _Entry] = {
    "map_avgjg": _Entry("map_avgjg"),
    "P_avgjg": _Entry("P_avgjg", _cutoffs, _DEPTHS),
    "Rprec_mult_avgjg": _Entry("Rprec_mult_avgjg", _multiples, _MULTIPLES),
}
"""The names that need the grades of several judges."""

_EVERY = _TABLE | _PREFERENCES | _JUDGES

TREC_ALIASES: dict[str, Alias] = {
    name: Alias(entry.measure, entry.parameters, entry.number, entry.explicit)
    for name, entry in _TABLE.items()
    if entry.measure and name.lower() != entry.measure.lower()
}
"""trec_eval's names that differ from ours by more than case, for the parser of measures."""

_SETS = ("utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")
_COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
_OFFICIAL = (*_COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")

NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": _OFFICIAL,
    "set": (*_COUNTS, *_SETS),
    "all_trec": tuple(name for name in _TABLE if name not in {"dcg", "ideal_dcg", "yaap"}),
    "prefs": ("runid", "num_q", *list(_PREFERENCES)[:6]),
    "all_prefs": ("runid", "num_q", *_PREFERENCES),
    "qrels_jg": ("runid", "num_q", *_JUDGES),
}
"""trec_eval's names for sets of measures."""

FORMATS: dict[str, tuple[str, ...]] = {
    "qrels": tuple(_TABLE),
    "prefs": NICKNAMES["all_prefs"],
    "qrels_prefs": NICKNAMES["all_prefs"],
    "qrels_jg": NICKNAMES["qrels_jg"],
}
"""For each of trec_eval's formats of judgments (`-R`), the measures that it can compute on it."""


def list_names(version: Version, judgments: str = "qrels") -> list[str]:
    """Return trec_eval's measure names on a format of judgments, in the order in which it prints them."""
    return [name for name in FORMATS[judgments] if _EVERY[name].since <= version]


def count_lines(name: str) -> Literal["none", "one", "each"]:
    """Return the effect of parameters on a name: none, one line for all of them, or a line for each."""
    read = _EVERY[name].read
    if read is None:
        return "none"
    return "each" if read in {_cutoffs, _recalls, _multiples} else "one"


def expand(version: Version, requests: Sequence[str], judgments: str = "qrels") -> list[TrecMeasure]:
    """Return the lines that trec_eval would print for the values of its `-m` options, in its order; by default `official`.

    Of several parameters for one name the first count, as in trec_eval. `judgments` is their format (`-R`).

    >>> [(line.name, line.measure) for line in expand(9, ["P.5,10", "set_F.4"])]
    [('P_5', P@5), ('P_10', P@10), ('set_F_4', SetF(weight=4))]
    """
    wanted: set[str] = set()
    texts: dict[str, str] = {}
    for request in requests or ["official"]:
        name, dot, text = request.partition(".")
        if dot and not text:
            msg = f"trec_eval's measure `{request}` has a full stop but no parameters"
            raise BadMeasure(msg)
        wanted.update(_select(version, name, judgments))
        if dot:
            texts.setdefault(name, text)
    return [
        line
        for name in list_names(version, judgments)
        if name in wanted
        for line in _lines(name, texts.get(name))
    ]


def _select(version: Version, name: str, judgments: str) -> list[str]:
    """Return the names that one request asks for; raise unless all can be computed on the judgments."""
    known = [known for known, entry in _EVERY.items() if entry.since <= version]
    if name not in NICKNAMES and name not in known:
        kind = f"measure of trec_eval {version}"
        raise UnknownName(kind, name, [*known, *NICKNAMES])
    asked = [member for member in NICKNAMES.get(name, (name,)) if member in known]
    others = [member for member in asked if member not in FORMATS[judgments]]
    if others:
        formats = " or ".join(f"`-R {kind}`" for kind, able in FORMATS.items() if others[0] in able)
        msg = f"trec_eval's `{name}` needs judgments of another kind: {formats}, not `-R {judgments}`"
        raise BadMeasure(msg, hint=_suggest(judgments))
    return asked


def _suggest(judgments: str) -> str | None:
    """Say what to ask for on judgments on which `official` cannot be computed."""
    usual = {"prefs": "-m prefs", "qrels_prefs": "-m prefs", "qrels_jg": "-m qrels_jg"}
    return f"with `-R {judgments}`, ask for `{usual[judgments]}`" if judgments in usual else None


def _lines(name: str, text: str | None) -> Iterator[TrecMeasure]:
    """Yield the lines of one name; parameters of a name that takes none are ignored, as in trec_eval."""
    entry = _EVERY[name]
    if not entry.measure:
        yield TrecMeasure(name, None, entry.kind, entry.per_query, entry.summary)
        return
    measure = find_measure(entry.measure)(**entry.parameters)
    written = text or entry.default
    lines = entry.read(name, written, measure) if entry.read and written else iter([(name, measure)])
    complete = measure(rel=1) if name == "num_rel" else None
    for printed, variant in lines:
        yield TrecMeasure(printed, variant, entry.kind, entry.per_query, entry.summary, complete)


def _numbers(name: str, text: str) -> list[float]:
    """Return the numbers of a list such as `5,10`."""
    try:
        return [_parse_number(part) for part in text.split(",")]
    except ValueError:
        msg = f"the parameters of trec_eval's `{name}` must be numbers with commas between, not `{text}`"
        raise BadMeasure(msg) from None


def _distinct_numbers(name: str, text: str) -> list[float]:
    numbers = sorted(_numbers(name, text))
    if len(set(numbers)) < len(numbers):
        msg = f"the parameters `{text}` of trec_eval's `{name}` name a number twice"
        raise BadMeasure(msg)
    return numbers


def _pairs(name: str, text: str) -> dict[str, float]:
    """Return the pairs of a list such as `1=3,2=9`."""
    try:
        parts = [part.split("=") for part in text.split(",")]
        return {key: _parse_number(value) for key, value in parts}
    except ValueError:
        msg = f"the parameters of trec_eval's `{name}` must be pairs such as `1=3,2=9`, not `{text}`"
        raise BadMeasure(msg) from None


def _parse_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError  # worded by the caller
    return number


def _is_whole(text: str) -> bool:
    return text.lstrip("+-").isdigit()
