"""How a case is written by hand: inputs, measures, and what was worked out on paper."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class M:
    """A measure by name and parameters."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def judged(self) -> str:
        """As judged writes it."""
        at = "recall" if self.name == "IPrec" else "cutoff"
        inside = ", ".join(f"{key}={_literal(value)}" for key, value in self.parameters.items() if key != at)
        head = f"{self.name}({inside})" if inside else self.name
        return f"{head}@{_literal(self.parameters[at])}" if at in self.parameters else head

    @property
    def trec_eval(self) -> str | None:
        """As trec_eval's command line has it; None where it has not."""
        rest = dict(self.parameters)
        level = f"-l {rest.pop('rel')} " if "rel" in rest else ""
        cutoff = rest.pop("cutoff", None)
        named = _trec_eval(self.name, rest, cutoff)
        return None if named is None else f"{level}-m {named}"


def m(name: str, cutoff: int | None = None, **parameters: Any) -> M:
    """Return a measure: `m("nDCG", 10, gain="exp")`."""
    at = {} if cutoff is None else {"cutoff": cutoff}
    return M(name, {**at, **parameters})


@dataclass(frozen=True)
class Case:
    """One case as a person writes it; values are computed from it."""

    id: str
    title: str
    about: str
    measures: list[M]
    qrels: Mapping[str, Mapping[str, Any]] | None = None
    """Query → document → grade, or → intent → grade."""
    targets: dict[str, dict[str, str]] | None = None
    """Query → document → what it answers, where judgments say so."""
    run: Mapping[str, Mapping[str, float | str]] | None = None
    qrels_text: str | None = None
    run_text: str | None = None
    protocol: dict[str, Any] = field(default_factory=dict)
    refused: bool = False
    reason: str = ""
    """Of a refused case: why."""
    by_hand: dict[str, dict[str, str]] = field(default_factory=dict)
    """Measure as judged writes it → query, or `all` → an expression such as `1/log2(5)`."""
    published: dict[str, str] = field(default_factory=dict)
    """Measure → the digits that a publication prints for the aggregate."""
    source: str = ""
    """Where the example comes from, if it is somebody else's."""


@dataclass(frozen=True)
class Theme:
    """A file of the suite."""

    name: str
    title: str
    about: str
    cases: list[Case]


PLAIN = {
    "AP": "map",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "infAP": "infAP",
    "gm_AP": "gm_map",
    "gm_Bpref": "gm_bpref",
    "nDCG": "ndcg",
    "DCG": "dcg",
    "IDCG": "ideal_dcg",
    "binG": "binG",
    "AP11": "11pt_avg",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetAP": "set_map",
    "SetRelP": "set_relative_P",
    "SetF": "set_F",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "G": "G",
    "nDCG_rel": "ndcg_rel",
    "Rndcg": "Rndcg",
    "yaap": "yaap",
    "Utility": "utility",
}
CUT = {"P": "P", "R": "recall", "Success": "success", "nDCG": "ndcg_cut", "AP": "map_cut", "Unjudged": "unj"}


def _trec_eval(name: str, rest: dict[str, Any], cutoff: int | None) -> str | None:
    if cutoff is not None:
        if name == "R" and rest == {"over": "cutoff"}:
            return f"relative_P.{cutoff}"
        return f"{CUT[name]}.{cutoff}" if name in CUT and not rest else None
    return _with_parameters(name, rest) if rest else PLAIN.get(name)


def _with_parameters(name: str, rest: dict[str, Any]) -> str | None:
    """Return the few names of trec_eval that take a parameter other than a cutoff."""
    match name, rest:
        case "IPrec", {"recall": recall}:
            return f"iprec_at_recall.{recall}"
        case "Rprec", {"multiple": multiple}:
            return f"Rprec_mult.{multiple}"
        case "nDCG" | "G" | "Rndcg" | "nDCG_rel", {"gains": gains}:
            return f"{PLAIN[name]}." + ",".join(f"{grade}={gain}" for grade, gain in gains.items())
        case ("SetF", {"weight": _}) | ("Utility", {"a": _, "b": _, "c": _, "d": _}):
            return f"{PLAIN[name]}." + ",".join(str(each) for each in rest.values())
        case ("RBP", {"gain": "linear", "max_grade": "query", "p": p}) | (
            "RBP_residual",
            {"tail": "unjudged", "p": p},
        ):
            return f"{'rbp' if name == 'RBP' else 'rbp_resid'}.p={p}"
    return None


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {each}" for key, each in value.items()) + "}"
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)


def as_text(qrels: dict[str, dict[str, float]]) -> str:
    """Judgments as TREC lines."""
    return "".join(
        f"{query} 0 {document} {grade}\n"
        for query, grades in qrels.items()
        for document, grade in grades.items()
    )


def descending(*documents: str) -> dict[str, float | str]:
    """Results in this order, with whole scores from their number down."""
    return {document: float(len(documents) - rank) for rank, document in enumerate(documents)}
