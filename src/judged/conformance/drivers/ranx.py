"""ranx, by `Qrels` and `Run` objects with `make_comparable`, as its documentation recommends."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version as version_of
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from judged.conformance.cases import Case, Measured, NotSupported
from judged.conformance.verdict import Answer

__all__ = ["answer", "spelling", "version"]

NAMES = {
    "P": "precision",
    "R": "recall",
    "AP": "map",
    "RR": "mrr",
    "Success": "hit_rate",
    "F1": "f1",
    "Rprec": "r-precision",
    "Bpref": "bpref",
    "nDCG": "ndcg",
    "DCG": "dcg",
}


def version(_program: str) -> str | None:
    """The version, or None where it is not installed."""
    try:
        return version_of("ranx")
    except PackageNotFoundError:
        return None


def answer(case: Case, measure: Measured, _program: str) -> Answer:
    """What ranx makes of one measure."""
    from ranx import Qrels, Run, evaluate

    name = spelling(case, measure)
    if case.is_text:
        with TemporaryDirectory() as folder:
            files = case.write(Path(folder))
            qrels, run = (
                kind.from_file(file, kind="trec") for kind, file in zip((Qrels, Run), files, strict=True)
            )
    else:
        qrels, run = Qrels(case.qrels()), Run(case.run())
    total = evaluate(qrels, run, name, make_comparable=True)
    values: dict[str, Any] = run.scores[name]
    shown = {query: float(value) for query, value in values.items()}
    return Answer(shown, float(total), call=f'evaluate(Qrels(…), Run(…), "{name}", make_comparable=True)')


def spelling(case: Case, measure: Measured) -> str:
    """The measure as ranx writes it."""
    case.must_follow(measure, precision={"float64"}, rel={case.protocol["rel"]})
    given = dict(measure.parameters)
    cutoff = given.pop("cutoff", None)
    level = given.pop("rel", case.protocol["rel"] if "rel" in measure.depends_on else 1)
    base = NAMES.get(measure.name)
    if measure.name == "RBP" and cutoff is None and set(given) == {"p"}:
        base = f"rbp.{round(100 * given.pop('p')):02}"
    elif measure.name in {"nDCG", "DCG"} and given.pop("gain", None) == "exp":
        base = f"{base}_burges"
    if base is None or given:
        msg = "has no such measure"
        raise NotSupported(msg)
    return base + (f"@{cutoff}" if cutoff else "") + (f"-l{level}" if level != 1 else "")
