"""An agreement as people read it and as programs do: tables, a document, a picture, a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from statistics import median
from typing import Any, get_args

from judged.agreements.corrected import Corrected
from judged.agreements.result import Agreement, Part
from judged.agreements.system_order import TOP, RankedSystems
from judged.blocks import Estimate, Table, Value
from judged.errors import UnknownName
from judged.report.heat_map import heat_map
from judged.report.html import to_html
from judged.report.text import to_text
from judged.stats.intervals import Interval
from judged.stats.outcome import Cell, Undefined, as_cell
from judged.stats.prediction_powered import PoweredMean
from judged.stats.rater_agreement import Distance, Weights

__all__ = [
    "as_html",
    "as_page",
    "as_text",
    "document_of",
    "long_table",
    "picture_of",
    "sentences",
    "shown",
    "table_of",
]


def shown(of: Agreement, *, by_task: bool = False) -> Iterator[Table]:
    """The tables that people read."""
    yield table_of(of, "figures")
    yield table_of(of, "confusion")
    yield table_of(of, "grades")
    if by_task:
        yield table_of(of, "tasks")
    yield table_of(of, "means")
    if len(of.panel) > 2:
        yield table_of(of, "judges")
    if of.systems:
        yield _rankings(of.systems)
        yield table_of(of, "systems")


def table_of(of: Agreement, part: str) -> Table:
    """One of the tables."""
    makers = {
        "figures": _figures,
        "confusion": _confusion,
        "grades": _grades,
        "tasks": _tasks,
        "means": _means,
        "systems": _systems,
        "judges": _judges,
    }
    if part not in makers:
        raise UnknownName("table of an agreement", part, get_args(Part))
    return makers[part](of)


def long_table(of: Agreement) -> Table:
    """Every figure in one table, a row for each, for programs."""
    rows: list[tuple[Value, ...]] = [("figures", name, *_parts(value)) for name, value in _every_figure(of)]
    for human, line in zip(of.confusion.labels, of.confusion.counts.tolist(), strict=True):
        for label, count in zip(of.confusion.labels, line, strict=True):
            rows.append(("confusion", f"human {human}, label {label}", count, None, None))
    rows += [("bias", f"human {each.grade:g}", each.bias, None, None) for each in of.grade_bias.grades]
    rows += [
        ("task", task or "any", as_cell(kappa.value), None, None) for task, kappa in of.task_kappas.items()
    ]
    for mean in (of.good_rate, of.mean_gain):
        rows += [(mean.name, name, *_parts(value)) for name, value in _estimates(mean)]
    for each in of.systems:
        rows += [(each.measure, name, *_parts(value)) for name, value in _coefficients(each)]
    return Table(("part", "name", "value", "low", "high"), tuple(rows))


def document_of(of: Agreement) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        "labels": of.labels,
        "human": of.human,
        "threshold": of.threshold,
        "level": of.level,
        "figures": {name: _told(value) for name, value in _every_figure(of)},
        "confusion": {"grades": list(of.confusion.labels), "counts": of.confusion.counts.tolist()},
        "grades": of.grade_bias.rows(),
        "tasks": {str(task): as_cell(kappa.value) for task, kappa in of.task_kappas.items()},
        "means": [of.good_rate.to_dict(), of.mean_gain.to_dict()],
        "judges": [dict(zip(_JUDGES, row, strict=True)) for row in _judges(of).rows],
        "systems": [each.to_dict() for each in of.systems],
        "warnings": of.warnings,
        "notes": list(of.notes),
    }


def sentences(of: Agreement) -> list[str]:
    """What is to be said beside the tables."""
    told = [f"Warning: {each}" for each in of.warnings]
    if of.only_labels:
        told.append(
            "PPI++ holds if the results that people graded are a random sample of the labelled ones; the interval of"
            " labels alone knows nothing of their mistakes"
        )
    else:
        told.append(
            "Every labelled result has a human grade: there is nothing that labels could add to the means"
        )
    return [*told, *(f"Note: {each}" for each in of.notes)]


def picture_of(of: Agreement) -> str:
    """The confusion of grades as a heat map."""
    kappa = of.kappa("quadratic").value
    quality = f"κ (quadratic) {kappa:.3f}" if isinstance(kappa, float) else f"κ {kappa}"
    return heat_map(
        of.confusion.counts.tolist(),
        [str(label) for label in of.confusion.labels],
        title=f"{of.labels} against {of.human}",
        x="labels",
        y="human",
        note=f"{of.items:,} results, {quality}; shade and per cent: share of the row",
    )


def as_text(of: Agreement, *, digits: int = 4, by_task: bool = False, bold: bool = False) -> str:
    """The agreement for a terminal."""
    tables = [to_text(table, digits=digits, bold=bold) for table in shown(of, by_task=by_task)]
    return "\n".join([*tables, "".join(f"{each}\n" for each in sentences(of))])


def as_html(of: Agreement, *, digits: int = 4, by_task: bool = False) -> str:
    """The agreement for a notebook."""
    tables = [to_html(table, digits=digits) for table in shown(of, by_task=by_task)]
    return "".join([*tables, *(f"<p>{escape(each)}</p>\n" for each in sentences(of))])


def as_page(of: Agreement, *, digits: int = 4, by_task: bool = False) -> str:
    """The agreement with its picture as one HTML file that needs no other."""
    title = escape(f"{of.labels} against {of.human}")
    style = "body{font-family:sans-serif;margin:2em}td,th{padding:.2em .8em}caption{font-weight:bold;text-align:left}"
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{style}</style></head>'
    picture = f'<div style="max-width:480px">{picture_of(of)}</div>'
    return f"{head}\n<body><h1>{title}</h1>\n{as_html(of, digits=digits, by_task=by_task)}{picture}</body></html>\n"


def _figures(of: Agreement) -> Table:
    rows = tuple((name, value) for name, value in _every_figure(of))
    return Table(("figure", "value"), rows, title=f"{of.labels} against {of.human}")


def _every_figure(of: Agreement) -> Iterator[tuple[str, Value]]:
    """Every figure of the pairs, with its words."""
    good = f"≥{of.threshold:g}"
    yield "results with both", of.items
    yield "with a label only", of.only_labels
    yield "with a human grade only", of.only_human
    yield "same grade", of.exact
    yield "at most 1 apart", of.within_one
    yield "mean absolute error", of.mean_absolute_error
    yield "bias (labels − human)", of.bias
    weights: tuple[Weights, ...] = ("equal", "linear", "quadratic")
    for each in weights:
        yield "κ" if each == "equal" else f"κ, {each} weights", as_cell(of.kappa(each).value)
    for cut in of.thresholds:
        yield f"κ at ≥{cut}", _bounded(of) if cut == of.threshold else as_cell(of.kappa_at(cut).value)
    yield f"precision at {good}", as_cell(of.precision)
    yield f"recall at {good}", as_cell(of.recall)
    distances: tuple[Distance, ...] = ("nominal", "ordinal", "interval")
    for distance in distances:
        yield f"α, {distance}", as_cell(of.alpha(distance).value)
    yield from _over_tasks(of, good)


def _over_tasks(of: Agreement, good: str) -> Iterator[tuple[str, Value]]:
    """κ of the tasks, summed up; tasks of which all grades are alike have none."""
    values = [kappa.value for kappa in of.task_kappas.values() if not isinstance(kappa.value, Undefined)]
    yield "tasks", len(of.task_kappas)
    if len(values) < len(of.task_kappas):
        yield f"tasks without κ at {good}", len(of.task_kappas) - len(values)
    if values:
        for name, value in (("least", min(values)), ("median", median(values)), ("greatest", max(values))):
            yield f"κ at {good} of a task, {name}", value


def _bounded(of: Agreement) -> Value:
    kappa = of.kappa_at(of.threshold).value
    if isinstance(kappa, Undefined):
        return str(kappa)
    found = of.kappa_interval
    return (
        Estimate(kappa, found.low, found.high)
        if isinstance(found, Interval)
        else Estimate(kappa, reason=str(found))
    )


def _confusion(of: Agreement) -> Table:
    names = [str(label) for label in of.confusion.labels]
    counts = of.confusion.counts
    rows: list[tuple[Value, ...]] = [
        (f"human {name}", *line, sum(line)) for name, line in zip(names, counts.tolist(), strict=True)
    ]
    rows.append(("all", *counts.sum(axis=0).tolist(), of.items))
    columns = ("grade", *(f"label {name}" for name in names), "all")
    return Table(columns, tuple(rows), title="How often each human grade met each label", foot=1)


def _grades(of: Agreement) -> Table:
    rows = tuple(
        (f"{each.grade:g}", each.items, each.agreed, each.mean, each.bias) for each in of.grade_bias.grades
    )
    columns = ("human grade", "results", "same label", "mean label", "bias")
    return Table(columns, rows, title="Bias by grade")


def _tasks(of: Agreement) -> Table:
    rows = tuple((task or "any", kappa.items, as_cell(kappa.value)) for task, kappa in of.task_kappas.items())
    return Table(("task", "results", f"κ at ≥{of.threshold:g}"), rows, title="By task")


def _means(of: Agreement) -> Table:
    rows = [(mean.name, *row) for mean in (of.good_rate, of.mean_gain) for row in _mean_rows(mean)]
    columns = ("of results like these", "estimate", f"mean [{of.level:.0%} interval]", "error", "λ")
    return Table(columns, tuple(rows), title=f"Means of human grades, from {of.items:,} of them")


def _mean_rows(mean: Corrected) -> Iterator[tuple[Value, ...]]:
    """Each estimate with its standard error and how far it relies on labels, as far as it has them."""
    powered = mean.estimates()
    for name, value in _estimates(mean):
        each = powered.get(name)
        if each is None or isinstance(each, Undefined):
            yield name, value, None, None
        else:
            relied = each.weight if isinstance(each, PoweredMean) and each is not mean.labels else None
            yield name, value, each.error, relied


def _estimates(mean: Corrected) -> Iterator[tuple[str, Value]]:
    for name, each in mean.estimates().items():
        yield name, str(each) if isinstance(each, Undefined) else Estimate(each.mean, each.low, each.high)
    if mean.rate is not None:
        yield "Rogan–Gladen", as_cell(mean.rate.value)


def _coefficients(of: RankedSystems) -> Iterator[tuple[str, Value]]:
    yield "systems", len(of.human)
    yield "τ_b", as_cell(of.tau.value)
    yield of.tau_ap.name, as_cell(of.tau_ap.value)
    yield (
        f"τ_b of the top {TOP}",
        as_cell(of.top_tau if isinstance(of.top_tau, Undefined) else of.top_tau.value),
    )


def _rankings(systems: Sequence[RankedSystems]) -> Table:
    rows = tuple((each.measure, name, value) for each in systems for name, value in _coefficients(each))
    return Table(("measure", "of the rankings", "value"), rows, title="Do labels rank systems as people do?")


def _systems(of: Agreement) -> Table:
    rows = [row for each in of.systems for row in each.rows()]
    columns = tuple(rows[0]) if rows else ("measure", "system")
    return Table(
        columns, tuple(tuple(row.values()) for row in rows), title="Systems under human grades and labels"
    )


_JUDGES = ("judge", "other", "results", "κ at the threshold", "κ, quadratic weights")


def _judges(of: Agreement) -> Table:
    rows = tuple(
        (one, other, at.items, as_cell(at.value), as_cell(quadratic.value))
        for (one, other), (at, quadratic) in of.pairs.items()
    )
    return Table(_JUDGES, rows, title="Every two judges")


def _parts(value: Value) -> tuple[Value, Value, Value]:
    """The number and its bounds, as far as it has them."""
    return (value.value, value.low, value.high) if isinstance(value, Estimate) else (value, None, None)


def _told(value: Value) -> Cell | dict[str, Any]:
    if isinstance(value, Estimate):
        bounds = (
            {"low": value.low, "high": value.high} if value.low is not None else {"interval": value.reason}
        )
        return {"value": value.value, **bounds}
    return value  # type: ignore[return-value]  # figures hold no ranges
