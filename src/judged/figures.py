"""Charts as Vega-Lite specifications: data in, a `Figure` out, drawn elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from judged.blocks import Figure

__all__ = ["draw_bars", "draw_critical_difference", "draw_heat_map", "draw_lines", "draw_scatter"]

Record: TypeAlias = Mapping[str, Any]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1a1a1a")
"""The palette of Okabe and Ito, which colour-blind readers can tell apart."""
INK, FAINT = "#1a1a1a", "#8a8a8a"
CONFIG: Record = {
    "background": "white",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {"gridColor": "#e4e4e4", "domainColor": FAINT, "tickColor": FAINT, "labelLimit": 260},
    "legend": {"labelLimit": 260},
    "title": {"anchor": "start", "fontSize": 15, "subtitleColor": "#555555"},
    "range": {"category": list(COLOURS)},
}


def draw_scatter(
    points: Sequence[Record],
    *,
    name: str,
    title: str,
    x: str,
    y: str,
    size: str | None = None,
    note: str = "",
) -> Figure:
    """Draw named points: `name`, `x`, `y`, and optionally `low`, `high`, `size` and `filled`."""
    axes = {"x": _quantitative("x", x), "y": _quantitative("y", y)}
    sized = {"size": {"field": "size", "type": "quantitative", "title": size, "legend": None}} if size else {}
    ordered = sorted(points, key=lambda point: (point["y"], point["x"]))
    layers = [
        {
            "mark": {"type": "rule", "color": COLOURS[0]},
            "encoding": {**axes, "y": _quantitative("low", y), "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "stroke": COLOURS[0], "size": 90, "opacity": 1},
            "encoding": {
                **axes,
                **sized,
                "fill": {"condition": {"test": "datum.filled", "value": COLOURS[0]}, "value": "white"},
                "tooltip": [{"field": field} for field in ("name", "x", "y")],
            },
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 10, "color": INK},
            "encoding": {**axes, "text": {"field": "name"}},
        },
    ]
    return _figure(
        name, title, note, {"data": _values(ordered), "layer": layers, "width": 480, "height": 320}
    )


def draw_lines(points: Sequence[Record], *, name: str, title: str, x: str, y: str, note: str = "") -> Figure:
    """Draw a line for each `name`: `x`, `y`, and optionally the band `low`–`high`, a dot's `size` and a `label`."""
    known = [point for point in points if point["y"] == point["y"]]  # NaN leaves a gap
    axes = {
        "x": {"field": "x", "type": "quantitative", "title": x, "axis": {"tickMinStep": 1, "format": "d"}},
        "color": {"field": "name", "type": "nominal", "title": None, "sort": None},
    }
    layers = [
        {
            "mark": {"type": "area", "opacity": 0.12},
            "encoding": {**axes, "y": _quantitative("low", y), "y2": {"field": "high"}},
        },
        {"mark": {"type": "line"}, "encoding": {**axes, "y": _quantitative("y", y)}},
        {
            "mark": {"type": "circle", "opacity": 1},
            "encoding": {
                **axes,
                "y": _quantitative("y", y),
                "size": {
                    "field": "size",
                    "type": "quantitative",
                    "scale": {"domain": [0, 1], "range": [8, 70]},
                    "legend": None,
                },
                "tooltip": {"field": "label"},
            },
        },
    ]
    return _figure(name, title, note, {"data": _values(known), "layer": layers, "width": 480, "height": 300})


def draw_bars(bars: Sequence[Record], *, name: str, title: str, value: str, note: str = "") -> Figure:
    """Draw groups of horizontal bars: `group`, `name`, `value`, and optionally `low` and `high`."""
    place = {
        "y": {"field": "group", "type": "nominal", "title": None, "sort": None},
        "yOffset": {"field": "name", "sort": None},
        "x": _quantitative("value", value),
    }
    colour = {"color": {"field": "name", "type": "nominal", "title": None, "sort": None}}
    layers = [
        {"mark": {"type": "bar"}, "encoding": {**place, **colour}},
        {
            "mark": {"type": "text", "align": "left", "dx": 4, "color": INK},
            "encoding": {**place, "text": {"field": "value", "type": "quantitative", "format": ".4f"}},
        },
    ]
    return _figure(
        name, title, note, {"data": _values(bars), "layer": layers, "width": 420, "height": {"step": 15}}
    )


def draw_heat_map(
    counts: Sequence[Sequence[int]],
    labels: Sequence[str],
    *,
    name: str,
    title: str,
    x: str,
    y: str,
    note: str = "",
) -> Figure:
    """Draw a square table of counts, darker the more of its row a cell holds."""
    cells = [
        {
            "row": labels[row],
            "column": labels[column],
            "count": count,
            "share": count / sum(line) if sum(line) else 0.0,
        }
        for row, line in enumerate(counts)
        for column, count in enumerate(line)
    ]
    place = {
        "x": {
            "field": "column",
            "type": "nominal",
            "title": x,
            "sort": None,
            "axis": {"orient": "top", "labelAngle": 0},
        },
        "y": {"field": "row", "type": "nominal", "title": y, "sort": None},
    }
    ink = {"condition": {"test": "datum.share > 0.7", "value": "white"}, "value": INK}
    texts = [("count", ",", -8, 14), ("share", ".0%", 9, 11)]
    layers: list[Record] = [
        {
            "mark": {"type": "rect", "stroke": "white"},
            "encoding": {
                **place,
                "color": {
                    "field": "share",
                    "type": "quantitative",
                    "scale": {"domain": [0, 1], "range": ["#ffffff", "#005a8e"]},
                    "legend": None,
                },
            },
        },
        *(
            {
                "mark": {"type": "text", "dy": shift, "fontSize": size},
                "encoding": {**place, "text": {"field": field, "format": pattern}, "color": ink},
            }
            for field, pattern, shift, size in texts
        ),
    ]
    side = 64 * len(labels)
    return _figure(
        name, title, note, {"data": _values(cells), "layer": layers, "width": side, "height": side}
    )


def draw_critical_difference(
    ranks: Mapping[str, float], cliques: Sequence[Sequence[str]], critical_difference: float, *, title: str
) -> Figure:
    """Draw average ranks, best first, with a bar through every group of systems that the test does not separate."""
    names = sorted(ranks, key=lambda system: ranks[system])
    bars = [
        {
            "clique": number,
            "low": min(ranks[system] for system in clique),
            "high": max(ranks[system] for system in clique),
        }
        for number, clique in enumerate(cliques)
    ]
    points = [{"name": system, "rank": ranks[system]} for system in names]
    scale = {"domain": [1, max(len(names), 2)], "nice": False}
    axis = {"title": "average rank (1 is best)", "orient": "top"}
    systems = {
        "data": _values(points),
        "height": {"step": 19},
        "width": 480,
        "encoding": {"y": {"field": "name", "type": "nominal", "sort": None, "title": None}},
        "layer": [
            {
                "mark": {"type": "rule", "color": "#cccccc"},
                "encoding": {"x": {"datum": 1}, "x2": {"field": "rank"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "color": INK, "opacity": 1},
                "encoding": {"x": {"field": "rank", "type": "quantitative", "scale": scale, "axis": axis}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 8, "color": INK},
                "encoding": {
                    "x": {"field": "rank", "type": "quantitative"},
                    "text": {"field": "rank", "format": ".2f"},
                },
            },
        ],
    }
    groups = {
        "data": _values(bars),
        "height": {"step": 9},
        "width": 480,
        "mark": {"type": "rule", "size": 4, "color": COLOURS[0]},
        "encoding": {
            "y": {"field": "clique", "type": "ordinal", "axis": None},
            "x": {"field": "low", "type": "quantitative", "scale": scale, "axis": None},
            "x2": {"field": "high"},
        },
    }
    note = f"Critical difference {critical_difference:.3f}: bars join systems that the test does not separate"
    return _figure(
        "critical-difference", title, note, {"vconcat": [systems, *([groups] if bars else [])], "spacing": 6}
    )


def _quantitative(field: str, title: str) -> Record:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False}}


def _values(records: Sequence[Record]) -> Record:
    return {"values": [dict(record) for record in records]}


def _figure(name: str, title: str, note: str, chart: Record) -> Figure:
    heading = {"text": title, **({"subtitle": note} if note else {})}
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return Figure(name, title, {"$schema": schema, "title": heading, "config": CONFIG, **chart}, note)
