"""The charts of the report's pages: Vega-Lite specifications that the page fills in with what its reader chose.

Text in braces, such as {A} or {measure}, stands for a word, a number or a list of the page. Colours are those of
`judged.figures`, which the page exchanges for the reader's light or dark ones, so that a chart looks the same in the
page, in a saved picture, and drawn by `judged.report.draw`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judged.blocks import Figure
from judged.figures import CONFIG, PALETTE, Record

Spec = dict[str, Any]
A, B, REST, INK, GROUND, SOFT = (PALETTE[name][0] for name in ("a", "b", "rest", "ink", "ground", "soft"))
SERIES = [PALETTE[name][0] for name in "abcdef"]
ROLE: Spec = {
    "field": "role",
    "type": "nominal",
    "legend": None,
    "scale": {"domain": ["a", "b", "rest"], "range": [A, B, REST]},
}
"""The system looked at is blue, the baseline orange, the others grey."""
OUTCOME: Spec = {
    "field": "sign",
    "type": "nominal",
    "legend": None,
    "scale": {"domain": ["won", "tied", "lost"], "range": [A, REST, B]},
}
NAMES: Spec = {"field": "system", "type": "nominal", "title": None}


def _number(field: str, title: str | None = None, **more: Any) -> Spec:
    axis = more.pop("axis", {})
    return {"field": field, "type": "quantitative", "title": title, "axis": {"tickCount": 5, **axis}, **more}


def _series(**more: object) -> Spec:
    return {**NAMES, "scale": {"domain": "{systems}", "range": SERIES}, "legend": {"orient": "top"}, **more}


def _rows(field: str) -> Spec:
    """Return rows with names of their own, from the top down as they are given."""
    axis = {"labelColor": INK, "labelFontSize": 12.5, "labelLimit": 220, "grid": False}
    return {"field": field, "type": "nominal", "title": None, "sort": None, "axis": axis}


def _rule_at(axis: str, value: float | str, **mark: object) -> Spec:
    return {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "color": REST, **mark},
        "encoding": {axis: {"datum": value}},
    }


INTERVALS: Spec = {
    "height": {"step": 26},
    "encoding": {"y": _rows("system")},
    "layer": [
        {
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {
                "x": _number("low", "{title}", scale={"zero": False}),
                "x2": {"field": "high"},
                "color": ROLE,
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {"x": {"field": "mean", "type": "quantitative"}, "color": ROLE},
        },
    ],
}

DIFFERENCES: Spec = {
    "height": 240,
    "layer": [
        _rule_at("y", 0),
        {
            "mark": {"type": "bar", "cursor": "pointer", "strokeWidth": 0.7},
            "encoding": {
                "x": _number(
                    "from",
                    "{count}, sorted by difference",
                    axis={"grid": False, "tickCount": 6, "format": ",d"},
                    scale={"nice": False, "domainMin": 0, "domainMax": "{n}"},
                ),
                "x2": {"field": "to"},
                "y": _number(
                    "difference",
                    "{measure}: {A} − {B}",
                    axis={"format": "+.2~f", "labelExpr": "datum.value == 0 ? '0' : datum.label"},
                ),
                "y2": {"datum": 0},
                "color": OUTCOME,
                "stroke": OUTCOME,
            },
        },
    ],
}

SCATTER: Spec = {
    "height": 240,
    "layer": [
        {
            "data": {"values": [{"x": "{least}", "y": "{least}"}, {"x": "{most}", "y": "{most}"}]},
            "mark": {"type": "line", "color": REST, "strokeWidth": 1, "strokeDash": [3, 3]},
            "encoding": {
                "x": {"field": "x", "type": "quantitative"},
                "y": {"field": "y", "type": "quantitative"},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 0.62, "cursor": "pointer"},
            "encoding": {
                "x": _number("y", "{B}"),
                "y": _number("x", "{A}"),
                "color": OUTCOME,
                "shape": {
                    "field": "sign",
                    "type": "nominal",
                    "legend": None,
                    "scale": {
                        "domain": ["won", "tied", "lost"],
                        "range": ["triangle-up", "circle", "triangle-down"],
                    },
                },
            },
        },
    ],
}

DISTRIBUTION: Spec = {
    "height": 240,
    "encoding": {
        "x": _number("value", "{measure}"),
        "y": _number("share", "share of queries at most there", axis={"format": ".0%"}),
        "color": ROLE,
        "detail": {"field": "system"},
    },
    "layer": [
        {
            "transform": [{"filter": "datum.role == 'rest'"}],
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1, "opacity": 0.7},
        },
        {
            "transform": [{"filter": "datum.role != 'rest'"}],
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
            "encoding": {
                "strokeDash": {
                    "field": "role",
                    "legend": None,
                    "scale": {"domain": ["a", "b"], "range": [[1, 0], [5, 3]]},
                }
            },
        },
    ],
}

CURVE: Spec = {
    "height": 280,
    "encoding": {
        "x": _number(
            "x", "{x}", axis={"grid": False, "values": "{ticks}", "format": "~g"}, scale={"type": "{scale}"}
        ),
        "color": ROLE,
        "detail": {"field": "system"},
    },
    "layer": [
        {
            "transform": [{"filter": "datum.role == 'rest'"}],
            "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.75},
            "encoding": {"y": _number("value", "{y}", scale={"domainMin": 0})},
        },
        {
            "transform": [{"filter": "datum.role != 'rest' && isValid(datum.low)"}],
            "mark": {"type": "area", "opacity": 0.13},
            "encoding": {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}},
        },
        {
            "transform": [{"filter": "datum.role != 'rest'"}],
            "mark": {"type": "line", "point": {"size": 36, "filled": True}, "strokeWidth": 2.25},
            "encoding": {
                "y": {"field": "value", "type": "quantitative"},
                "strokeDash": {
                    "field": "role",
                    "legend": None,
                    "scale": {"domain": ["a", "b"], "range": [[1, 0], [5, 3]]},
                },
            },
        },
        {
            "mark": {"type": "point", "size": 200, "opacity": 0},
            "encoding": {"y": {"field": "value", "type": "quantitative"}},
        },
    ],
}

SLICES: Spec = {
    "height": {"step": 30},
    "layer": [
        _rule_at("x", 0, strokeDash=[3, 3]),
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": A},
            "encoding": {
                "x": _number("low", "{measure}: {A} − {B}"),
                "x2": {"field": "high"},
                "y": _rows("slice"),
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "color": A},
            "encoding": {"x": {"field": "difference", "type": "quantitative"}, "y": _rows("slice")},
        },
    ],
}

ITERATIONS: Spec = {
    "height": 280,
    "encoding": {
        "x": _number("iteration", "iteration", axis={"grid": False, "values": "{ticks}", "format": "d"}),
        "color": _series(),
    },
    "layer": [
        {
            "transform": [{"filter": "datum.band && isValid(datum.low)"}],
            "mark": {"type": "area", "opacity": 0.13},
            "encoding": {"y": _number("low", "{y}"), "y2": {"field": "high"}},
        },
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": _number("value", "{y}")}},
        {
            "mark": {"type": "point", "filled": True, "size": 62, "opacity": 1},
            "encoding": {
                "y": {"field": "value", "type": "quantitative"},
                "shape": {**NAMES, "scale": {"domain": "{systems}"}},
            },
        },
    ],
}

STACKS: Spec = {
    "columns": "{columns}",
    "facet": {**NAMES, "sort": None},
    "spacing": {"column": 28, "row": 24},
    "spec": {
        "height": 190,
        "width": "{cell}",
        "mark": {"type": "bar", "stroke": GROUND, "strokeWidth": 0.5},
        "encoding": {
            "x": {
                "field": "iteration",
                "type": "ordinal",
                "title": "{x}",
                "axis": {"labelAngle": 0, "grid": False},
            },
            "y": _number("count", "{y}"),
            "order": {"field": "order"},
            "color": {
                "field": "kind",
                "type": "nominal",
                "title": None,
                "scale": {"domain": "{kinds}", "range": "{colours}"},
                "legend": {"orient": "top"},
            },
        },
    },
}

COST: Spec = {
    "height": 280,
    "encoding": {"x": _number("cost", "{x}", axis={"grid": False, "format": "~s"}), "color": _series()},
    "layer": [
        {
            "transform": [{"filter": "datum.one"}],
            "mark": {"type": "point", "filled": True, "size": 26, "opacity": 0.35},
            "encoding": {"y": _number("gain", "{y}")},
        },
        {
            "transform": [{"filter": "!datum.one"}],
            "mark": {"type": "point", "filled": True, "size": 170, "opacity": 1},
            "encoding": {
                "y": _number("gain", "{y}"),
                "shape": {**NAMES, "scale": {"domain": "{systems}"}},
            },
        },
    ],
}

CALIBRATION: Spec = {
    "height": 280,
    "layer": [
        {
            "data": {"values": [{"x": "{least}"}, {"x": "{most}"}]},
            "mark": {"type": "line", "color": REST, "strokeDash": [3, 3], "strokeWidth": 1},
            "encoding": {
                "x": {"field": "x", "type": "quantitative"},
                "y": {"field": "x", "type": "quantitative"},
            },
        },
        {
            "mark": {"type": "rule", "color": A, "strokeWidth": 2},
            "encoding": {
                "x": _number("label", "label", axis={"values": "{grades}", "grid": False, "format": "~g"}),
                "y": _number("low", "mean human grade"),
                "y2": {"field": "high"},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "color": A, "size": 70, "opacity": 1},
            "encoding": {
                "x": {"field": "label", "type": "quantitative"},
                "y": {"field": "mean", "type": "quantitative"},
            },
        },
    ],
}

VERDICT: Spec = {
    "field": "verdict",
    "type": "nominal",
    "title": None,
    "scale": {"domain": ["pass", "inconclusive", "fail"], "range": [A, SOFT, B]},
    "legend": {"orient": "top"},
}
MARGINS: Spec = {
    "height": {"step": 34},
    "layer": [
        _rule_at("x", 0, strokeDash=[3, 3]),
        {
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {
                "x": _number("low", "difference, better to the right"),
                "x2": {"field": "high"},
                "y": _rows("measure"),
                "color": VERDICT,
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {
                "x": {"field": "difference", "type": "quantitative"},
                "y": _rows("measure"),
                "color": VERDICT,
                "shape": {**VERDICT, "scale": {"domain": ["pass", "inconclusive", "fail"]}},
            },
        },
        {
            "mark": {"type": "tick", "thickness": 3, "size": 22, "color": INK},
            "encoding": {"x": {"field": "margin", "type": "quantitative"}, "y": _rows("measure")},
        },
    ],
}

CHARTS: Mapping[str, Spec] = {
    "intervals": INTERVALS,
    "differences": DIFFERENCES,
    "scatter": SCATTER,
    "distribution": DISTRIBUTION,
    "curve": CURVE,
    "slices": SLICES,
    "iterations": ITERATIONS,
    "stacks": STACKS,
    "cost": COST,
    "calibration": CALIBRATION,
    "margins": MARGINS,
}
"""Every chart by name."""


def fill(
    name: str, rows: Sequence[Record], words: Mapping[str, Any], *, title: str = "", width: int = 560
) -> Figure:
    """Return a chart filled in as the page does it, for a picture without a browser."""
    spec = _fill(CHARTS[name], words)
    sized = {} if "facet" in spec else {"width": width}
    return Figure(
        name, title, {**spec, **sized, "config": CONFIG, "data": {"values": [dict(row) for row in rows]}}
    )


def _fill(spec: object, words: Mapping[str, Any]) -> Any:
    if isinstance(spec, dict):
        return {name: _fill(value, words) for name, value in spec.items()}
    if isinstance(spec, list):
        return [_fill(value, words) for value in spec]
    if not isinstance(spec, str) or "{" not in spec:
        return spec
    if spec[1:-1] in words:
        return words[spec[1:-1]]
    for name, value in words.items():
        spec = spec.replace(f"{{{name}}}", str(value))
    return spec
