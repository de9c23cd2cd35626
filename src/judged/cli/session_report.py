"""Evaluated sessions in every format that `judged sessions` writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.blocks import Display, Table, Value
from judged.cli.inputs import digest
from judged.cli.output import fitted, laid_out
from judged.sessions import show
from judged.sessions.analysis import decisions, session_keys, session_totals, upper_bound

if TYPE_CHECKING:
    from judged.comparison.result import Comparison
    from judged.engine.evaluation import Evaluation
    from judged.gates.result import GateReport
    from judged.sessions.analysis import Alone, Curve, Overlap, Stop

__all__ = ["SessionReport"]


@dataclass(frozen=True)
class SessionReport:
    """What was asked for of some sessions."""

    evaluation: Evaluation
    inputs: Sequence[tuple[str, str]]
    """The role and the path of each file."""
    per_session: bool = False
    curves: Sequence[Curve] = ()
    stops: Sequence[tuple[str, Sequence[Stop]]] = ()
    """For each system, the points that its agents could have stopped at."""
    pairs: Sequence[Overlap] = ()
    single: Sequence[Alone] = ()
    comparison: Comparison | None = None
    gates: Sequence[GateReport] = ()

    def rendered(self, kind: str, *, digits: int, bold: bool = False) -> str | bytes:
        """The report in the format `kind`; those of one table have the last thing asked for, every number in full."""
        from judged.report.data import to_delimited, to_json, to_json_lines, to_parquet
        from judged.result import table_to_arrow

        if kind in {"table", "markdown", "latex"}:
            parts = [laid_out(table, kind, digits=digits, bold=bold) for table in self._tables(kind, digits)]
            further = [*self._compared(kind, digits=digits, bold=bold), *self._gated(kind, digits=digits)]
            return "\n".join([*parts, *further])
        if kind == "json":
            return to_json(self._document())
        if kind == "jsonl":
            return to_json_lines(table_to_arrow(self._records()).to_pylist())
        if kind == "parquet":
            about = {"judged": __version__, "judged.protocol": str(self.evaluation.protocol)}
            return to_parquet(table_to_arrow(self._records()), about=about)
        return to_delimited(table_to_arrow(self._records()), delimiter="," if kind == "csv" else "\t")

    def _tables(self, kind: str, digits: int) -> Iterator[Table]:
        """The tables that people read."""
        systems = self.evaluation.systems
        yield from show.decision_tables(self.evaluation)
        if self.per_session:
            for name, each in systems.items():
                yield show.per_session(each, title=name if len(systems) > 1 else None)
        else:
            title = None if self.comparison is None else "All sessions"
            yield fitted(show.means(systems, digits=digits, title=title), kind, digits=digits)
        bounds = show.bounds(systems)
        if bounds is not None:
            yield fitted(bounds, kind, digits=digits)
        yield from show.curve_tables(self.curves)
        for name, stops in self.stops:
            if stops:
                yield show.stopping_table(name, stops)
        if self.single:
            yield from show.overlap_tables(self.pairs, self.single)

    def _compared(self, kind: str, *, digits: int, bold: bool) -> list[str]:
        if self.comparison is None:
            return []
        display = Display(
            digits=digits,
            bold=bold,
            per_query=self.per_session,
            notes=False,
            title="On the tasks that all systems share",
        )
        return [str(self.comparison.render(kind, display))]

    def _gated(self, kind: str, *, digits: int) -> list[str]:
        if not self.gates:
            return []
        from judged.gates.summaries import render_markdown, render_text

        render = render_markdown if kind == "markdown" else render_text
        return [render(self.gates, Display(digits=digits))]

    def _records(self) -> Table:
        """The one table of formats that hold one: the most particular thing that was asked for."""
        systems = self.evaluation.systems
        asked: list[tuple[object, Callable[[], Table]]] = [
            (decisions(self.evaluation), lambda: _table(_decisions(self.evaluation))),
            (self.per_session, lambda: show.session_records(systems)),
            (self.curves, lambda: _table(_curve_rows(self.curves))),
            (self.stops, lambda: _table(_stop_rows(self.stops))),
            (self.single, lambda: _table([asdict(each) for each in self.single])),
            (self.comparison is not None, self._differences),
            (True, lambda: show.records(systems)),
        ]
        return next(table() for was, table in asked if was)

    def _differences(self) -> Table:
        return Table((), ()) if self.comparison is None else _table(self.comparison.rows("differences"))

    def _document(self) -> dict[str, Any]:
        """Everything as one object, for JSON."""
        protocol = self.evaluation.protocol
        files = [{"role": role, "path": path, "sha256": digest(path)} for role, path in self.inputs]
        document: dict[str, Any] = {
            "judged": __version__,
            "protocol": {"fingerprint": protocol.fingerprint, **protocol.to_dict()},
            "inputs": files,
            "systems": [self._system(name, each) for name, each in self.evaluation.systems.items()],
        }
        if self.curves:
            document["curves"] = _curve_rows(self.curves)
        if self.stops:
            document["stopping"] = _stop_rows(self.stops)
        if self.single:
            document["overlap"] = {
                "systems": [asdict(each) for each in self.single],
                "pairs": [{**asdict(each), "jaccard": each.jaccard} for each in self.pairs],
            }
        if self.comparison is not None:
            document["comparison"] = self.comparison.to_dict(per_query=self.per_session)
        if decisions(self.evaluation):
            document["decisions"] = _decisions(self.evaluation)
        if self.gates:
            document["gates"] = [each.to_dict() for each in self.gates]
        return document

    def _system(self, name: str, each: Evaluation) -> dict[str, Any]:
        told: dict[str, Any] = {
            "name": name,
            "sessions": len(session_keys(each)),
            "means": _defined(each.mean()),
            "upper": _defined({str(measure): upper_bound(each, measure) for measure in each.measures}),
            "undefined": {str(measure): each.undefined(measure) for measure in each.measures},
            "counts": {**_counts(each), "coverage": session_totals(each).coverage},
        }
        if self.per_session:
            columns = {str(measure): each.scores[measure].tolist() for measure in each.measures}
            told["per_session"] = [
                {**asdict(key), **_defined({measure: values[at] for measure, values in columns.items()})}
                for at, key in enumerate(session_keys(each))
            ]
        return told


def _counts(evaluation: Evaluation) -> dict[str, Any]:
    return {
        name: value for name, value in asdict(session_totals(evaluation)).items() if name != "input_notes"
    }


def _decisions(evaluation: Evaluation) -> list[dict[str, Value]]:
    keys = session_keys(evaluation)
    return [
        {
            "system": keys[each.session].system,
            "session": keys[each.session].conversation,
            "iteration": each.iteration,
            "result": each.decision.result,
            "cluster": each.decision.group,
            "new": each.decision.new,
            "why": str(each.decision),
        }
        for each in decisions(evaluation)
    ]


def _curve_rows(curves: Sequence[Curve]) -> list[dict[str, Value]]:
    return [
        {
            "system": each.system,
            "measure": each.measure,
            "iteration": point.iteration,
            "running": point.running,
            "value": None if isnan(point.value) else point.value,
            "low": None if point.interval is None else point.interval.low,
            "high": None if point.interval is None else point.interval.high,
        }
        for each in curves
        for point in each.points
    ]


def _stop_rows(systems: Sequence[tuple[str, Sequence[Stop]]]) -> list[dict[str, Value]]:
    return [{"system": name, **_defined(asdict(stop))} for name, stops in systems for stop in stops]


def _table(rows: Sequence[dict[str, Value]]) -> Table:
    columns = tuple(rows[0]) if rows else ()
    return Table(columns, tuple(tuple(row.values()) for row in rows))


def _defined(row: dict[str, Any]) -> dict[str, Any]:
    """The same with None where a number is NaN, which neither JSON nor people read."""
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in row.items()}
