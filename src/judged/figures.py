"""Charts as Vega-Lite specifications: records in, a `Figure` out, drawn elsewhere."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from judged.blocks import Figure, format_value

Record: TypeAlias = Mapping[str, str | float | bool | None]
"""One mark of a chart: its name, numbers and labels."""
Spec: TypeAlias = Mapping[str, object]
"""A part of a Vega-Lite specification."""

PALETTE: Mapping[str, tuple[str, str]] = {
    "ground": ("#ffffff", "#15171a"),
    "raised": ("#f6f7f8", "#1d2024"),
    "ink": ("#16191d", "#e8eaed"),
    "soft": ("#5a626c", "#a3abb5"),
    "line": ("#dfe3e7", "#30353b"),
    "rest": ("#b4bbc3", "#565d66"),
    "a": ("#0b62a8", "#5fb0ee"),
    "b": ("#b34a00", "#f0965a"),
    "c": ("#00785c", "#4cc3a0"),
    "d": ("#9a3d78", "#dd92c1"),
    "e": ("#806000", "#d8b64c"),
    "f": ("#5a4fcf", "#aaa3ff"),
}
"""Every colour by name, on light and on dark ground.

Text reaches a contrast of 4.5 and lines of 3. Blue and orange differ for all common kinds of colour blindness, and
position, shape or a letter always says the same as colour.
"""
GROUND, INK, FAINT, PALE, REST = (PALETTE[name][0] for name in ("ground", "ink", "soft", "line", "rest"))
COLOURS = tuple(PALETTE[name][0] for name in ("a", "b", "c", "d", "e", "f", "ink"))
"""The colours of series, in this order."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
CONFIG: Spec = {
    "background": GROUND,
    "padding": 12,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "ticks": False,
        "gridColor": PALE,
        "labelColor": FAINT,
        "labelFontSize": 11.5,
        "labelLimit": 260,
        "labelOverlap": True,
        "labelPadding": 6,
        "tickCount": 6,
        "titleColor": FAINT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
    },
    "legend": {
        "labelColor": INK,
        "labelLimit": 260,
        "labelFontSize": 12,
        "titleColor": FAINT,
        "symbolOpacity": 1,
        "symbolStrokeWidth": 2.5,
    },
    "header": {"labelColor": INK, "labelFontSize": 12.5, "labelFontWeight": 600, "labelAnchor": "start"},
    "text": {"fontSize": 12, "color": INK},
    "rule": {"color": REST},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "color": INK,
        "fontSize": 16,
        "fontWeight": 600,
        "offset": 14,
        "subtitleColor": FAINT,
        "subtitleFontSize": 12,
        "subtitlePadding": 6,
    },
    "range": {"category": list(COLOURS)},
}
WRAP = 96
"""Characters in a line of a chart's note."""
MOST_TICKS = 15
"""The most whole numbers of an axis that are all labelled."""


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
    horizontal, vertical = _quantitative("x", x), _quantitative("y", y)
    scale = {"zero": False, "range": [60, 420]}
    legend = {"tickCount": 3}
    sized: Spec = {
        "size": {"field": "size", "type": "quantitative", "scale": scale, "title": size, "legend": legend}
    }
    interval: Spec = {
        "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
        "mark": {"type": "rule", "color": FAINT, "strokeWidth": 1.5},
        "encoding": {"x": horizontal, "y": _quantitative("low", y), "y2": {"field": "high"}},
    }
    layers = [
        *_if_known(points, interval),
        {
            "mark": {"type": "point", "stroke": COLOURS[0], "strokeWidth": 2, "size": 100, "opacity": 1},
            "encoding": {
                "x": horizontal,
                "y": vertical,
                **(sized if size else {}),
                "fill": {"condition": {"test": "datum.filled", "value": COLOURS[0]}, "value": GROUND},
                "description": {"field": "name"},
                "tooltip": [{"field": field} for field in ("name", "x", "y")],
            },
        },
        *(
            {
                "transform": [{"filter": f"datum.inward === {str(inward).lower()}"}],
                "mark": {"type": "text", "align": align, "dx": shift, "color": INK},
                "encoding": {"x": horizontal, "y": vertical, "text": {"field": "name"}},
            }
            for inward, align, shift in ((False, "left", 14), (True, "right", -14))
        ),
    ]
    placed = _values(_turn_labels_inward(points))
    return _figure(name, title, note, {"data": placed, "layer": layers, "width": 520, "height": 340})


def _turn_labels_inward(points: Sequence[Record]) -> list[Record]:
    """Return points with `inward` true for those on the right, whose names would leave the chart."""
    places = [float(point["x"] or 0) for point in points]
    middle = (min(places) + max(places)) / 2 if places else 0.0
    return [{**point, "inward": place > middle} for point, place in zip(points, places, strict=True)]


def draw_log_lines(
    points: Sequence[Record],
    *,
    name: str,
    title: str,
    x: str,
    y: str,
    note: str = "",
    colours: Mapping[str, str] | None = None,
) -> Figure:
    """Draw points of several groups on a logarithmic `y`: `group`, `label`, `x`, `y`; a line joins those `on_line`.

    `colours` has the name of each group's colour in the palette; a line is `dashed` where two groups share one.
    """
    groups = list(dict.fromkeys(str(point["group"]) for point in points))
    chosen = [PALETTE[colours[group]][0] for group in groups] if colours else list(COLOURS)
    colour = {
        "field": "group",
        "type": "nominal",
        "title": None,
        "scale": {"domain": groups, "range": chosen},
    }
    dashes = {"condition": {"test": "datum.dashed", "value": [5, 3]}, "value": [1, 0]}
    place: Spec = {
        "x": _quantitative("x", x),
        "y": {"field": "y", "type": "quantitative", "title": y, "scale": {"type": "log", "padding": 8}},
        "color": colour,
    }
    layers = [
        {
            "transform": [{"filter": "datum.on_line"}],
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                **place,
                "order": {"field": "x", "type": "quantitative"},
                **({"strokeDash": dashes} if any(point.get("dashed") for point in points) else {}),
            },
        },
        {
            "mark": {"type": "point", "strokeWidth": 2, "size": 60, "opacity": 1},
            "encoding": {
                **place,
                "fill": {"condition": {"test": "datum.on_line", **colour}, "value": "white"},
                "description": {"field": "label"},
                "tooltip": {"field": "label"},
            },
        },
    ]
    return _figure(name, title, note, {"data": _values(points), "layer": layers, "width": 520, "height": 340})


def draw_lines(
    points: Sequence[Record],
    *,
    name: str,
    title: str,
    x: str,
    y: str,
    note: str = "",
    places_named: Sequence[str] = (),
) -> Figure:
    """Draw a line for each `name`: `x`, `y`, and optionally the band `low`–`high`, a dot's `size` and a `label`.

    A `y` that is NaN leaves a gap. `places_named` are shown for an `x` of 1, 2, ….
    """
    shown = _values([{"size": 1, **point} for point in points])
    if all(point["y"] is None for point in shown["values"]):
        empty = {"mark": {"type": "text", "color": FAINT, "text": "nothing to show"}, "data": _values([{}])}
        return _figure(name, title, note, {**empty, "width": 520, "height": 60})
    names = list(dict.fromkeys(point["name"] for point in shown["values"]))
    places = list(dict.fromkeys(point["x"] for point in shown["values"]))
    ticks: Spec = (
        {"values": places, "labelOverlap": False} if len(places) <= MOST_TICKS else {"tickMinStep": 1}
    )
    named = {"labelExpr": f"{json.dumps(list(places_named))}[datum.value - 1]"} if places_named else {}
    colours = {"domain": names, "range": list(COLOURS)}
    dashes = {"domain": names, "range": [[1, 0] if at < len(COLOURS) else [6, 3] for at in range(len(names))]}
    legend = {"symbolType": "stroke", "symbolOpacity": 1}
    line: Spec = {"field": "name", "type": "nominal", "title": None, "legend": legend}
    axes: Spec = {
        "x": {
            "field": "x",
            "type": "quantitative",
            "title": x,
            "scale": {"zero": False, "nice": False, "padding": 12},
            "axis": {**ticks, "format": "d", "grid": False, **named},
        },
        "color": {**line, "scale": colours},
        **({"strokeDash": {**line, "scale": dashes}} if len(names) > len(COLOURS) else {}),
    }
    band: Spec = {
        "transform": [{"filter": "isValid(datum.y) && isValid(datum.low) && isValid(datum.high)"}],
        "mark": {"type": "area", "opacity": 0.13},
        "encoding": {**axes, "y": _quantitative("low", y), "y2": {"field": "high"}},
    }
    layers = [
        *_if_known(points, band),
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {**axes, "y": _quantitative("y", y)},
        },
        {
            "mark": {"type": "circle", "opacity": 1},
            "encoding": {
                **axes,
                "y": _quantitative("y", y),
                "size": {
                    "field": "size",
                    "type": "quantitative",
                    "scale": {"domain": [0, 1], "range": [10, 90]},
                    "legend": None,
                },
                "description": {"field": "label"},
                "tooltip": {"field": "label"},
            },
        },
    ]
    chart = {"data": shown, "layer": layers, "width": 520, "height": 320}
    return _figure(name, title, note, chart)


_GROUPS: Spec = {
    "field": "group",
    "type": "nominal",
    "title": None,
    "sort": None,
    "axis": {"domain": False, "ticks": False, "labelFontSize": 12, "labelPadding": 8},
}
"""The groups of bars, one below the other, in the order given."""


def draw_bars(bars: Sequence[Record], *, name: str, title: str, value: str, note: str = "") -> Figure:
    """Draw groups of horizontal bars: `group`, `name`, `value`, and optionally `low` and `high`."""
    place: Spec = {
        "y": _GROUPS,
        "yOffset": {"field": "name", "sort": None},
        "x": {"field": "value", "type": "quantitative", "title": value},
    }
    colour = {"color": {"field": "name", "type": "nominal", "title": None, "sort": None}}
    interval: Spec = {
        "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
        "mark": {"type": "rule", "color": INK, "opacity": 0.7},
        "encoding": {
            **place,
            "x": {"field": "low", "type": "quantitative", "title": value},
            "x2": {"field": "high"},
        },
    }
    layers = [
        {"mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": {**place, **colour}},
        *_if_known(bars, interval),
        {
            "transform": [{"calculate": "isValid(datum.high) ? datum.high : datum.value", "as": "end"}],
            "mark": {"type": "text", "align": "left", "dx": 5, "color": INK, "fontSize": 11},
            "encoding": {
                **place,
                "x": {"field": "end", "type": "quantitative", "title": value},
                "text": {"field": "value", "type": "quantitative", "format": ".4f"},
            },
        },
    ]
    chart = {"data": _values(bars), "layer": layers, "width": 460, "height": {"step": 17}}
    return _figure(name, title, note, chart)


def draw_stacked_bars(bars: Sequence[Record], *, name: str, title: str, value: str, note: str = "") -> Figure:
    """Draw a horizontal bar for each `group`, made of parts: `name` and `value`, in the order given."""
    names = list(dict.fromkeys(bar["name"] for bar in bars))
    place: Spec = {
        "y": _GROUPS,
        "x": {"field": "value", "type": "quantitative", "title": value, "aggregate": "sum"},
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "bar"},
            "encoding": {
                **place,
                "color": {"field": "name", "type": "nominal", "title": None, "sort": names},
                "order": {"field": "place", "type": "quantitative"},
                "tooltip": [{"field": field} for field in ("group", "name", "value")],
            },
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 5, "color": INK, "fontSize": 11},
            "encoding": {
                **place,
                "text": {"field": "value", "type": "quantitative", "aggregate": "sum", "format": ".3~g"},
            },
        },
    ]
    placed: list[Record] = [{**bar, "place": names.index(bar["name"])} for bar in bars]
    chart = {"data": _values(placed), "layer": layers, "width": 460, "height": {"step": 28}}
    return _figure(name, title, note, chart)


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
    cells: list[Record] = [
        {
            "row": labels[row],
            "column": labels[column],
            "count": count,
            "share": count / sum(line) if sum(line) else 0.0,
        }
        for row, line in enumerate(counts)
        for column, count in enumerate(line)
    ]
    axis = {"domain": False, "ticks": False, "labelAngle": 0, "labelFontSize": 12, "labelOverlap": False}
    nominal: Spec = {"type": "nominal", "sort": None}
    place: Spec = {
        "x": {**nominal, "field": "column", "title": x, "axis": {**axis, "orient": "top"}},
        "y": {**nominal, "field": "row", "title": y, "axis": axis},
    }
    ink = {"condition": {"test": "datum.share > 0.6", "value": GROUND}, "value": INK}
    texts = [("count", ",", -8, 15), ("share", ".0%", 11, 11)]
    # one colour, more or less opaque: in a page, colours are variables of the style, which have no mean
    shade = {"domain": [0, 1], "range": [0.06, 1]}
    layers: list[Spec] = [
        {
            "mark": {"type": "rect", "color": COLOURS[0], "stroke": GROUND, "strokeWidth": 2},
            "encoding": {
                **place,
                "fillOpacity": {"field": "share", "type": "quantitative", "scale": shade, "legend": None},
            },
        },
        *(
            {
                "mark": {"type": "text", "dy": shift, "fontSize": size},
                "encoding": {
                    **place,
                    "text": {"field": field, "type": "quantitative", "format": pattern},
                    "color": ink,
                },
            }
            for field, pattern, shift, size in texts
        ),
    ]
    side = 64 * len(labels)
    return _figure(
        name, title, note, {"data": _values(cells), "layer": layers, "width": side, "height": side}
    )


def draw_critical_difference(
    ranks: Mapping[str, float],
    cliques: Sequence[Sequence[str]],
    critical_difference: float,
    *,
    title: str = "Average ranks",
) -> Figure:
    """Draw average ranks, best first, with a stroke next to every group of systems that the test does not separate."""
    names = sorted(ranks, key=lambda system: ranks[system])
    row: Spec = {"type": "nominal", "sort": [format_value(system) for system in names]}
    last = max(len(names), 2)
    body = [_draw_ranks({name: ranks[name] for name in names}, row, last)]
    if cliques:
        body.append(_draw_cliques(ranks, cliques, row))
    note = "Strokes on the right join systems that the test does not separate" if cliques else ""
    ruler = _draw_ruler(critical_difference, last)
    chart = {"vconcat": [ruler, {"hconcat": body, "spacing": 28}], "spacing": 12}
    return _figure("critical-difference", title, note, chart)


def _draw_ranks(ranks: Mapping[str, float], row: Spec, last: int) -> Spec:
    """Return a line for each system, from rank 1 to its average rank."""
    points: list[Record] = [{"name": system, "rank": rank, "best": 1} for system, rank in ranks.items()]
    step = 1 if last <= MOST_TICKS else 5
    ticks = sorted({1, *range(step, last + 1, step)})
    rank: Spec = {
        "field": "rank",
        "type": "quantitative",
        "scale": _scale_ranks(last),
        "axis": {"title": "average rank (1 is best)", "orient": "top", "values": ticks},
    }
    label = {"domain": False, "ticks": False, "labelFontSize": 12, "labelPadding": 8, "labelOverlap": False}
    named: Spec = {**row, "field": "name", "title": None, "axis": label}
    return {
        "data": _values(points),
        "width": 440,
        "height": {"step": 20},
        "layer": [
            {
                "mark": {"type": "rule", "color": PALE},
                "encoding": {"y": named, "x": {**rank, "field": "best"}, "x2": {"field": "rank"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "color": INK, "opacity": 1},
                "encoding": {"y": named, "x": rank, "description": {"field": "name"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 9, "color": INK, "fontSize": 11},
                "encoding": {"y": named, "x": rank, "text": {"field": "rank", "format": ".2f"}},
            },
        ],
    }


def _draw_ruler(critical_difference: float, last: int) -> Spec:
    """Return a line as long as the critical difference, no longer than the axis."""
    length: Spec = {"field": "start", "type": "quantitative", "scale": _scale_ranks(last), "axis": None}
    words = f"critical difference {critical_difference:.3f}"
    return {
        "data": _values([{"start": 1.0, "end": min(1 + critical_difference, last)}]),
        "width": 440,
        "height": 10,
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 4, "color": COLOURS[1]},
                "encoding": {"x": length, "x2": {"field": "end"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 8, "text": words, "color": INK},
                "encoding": {"x": {**length, "field": "end"}},
            },
        ],
    }


def _scale_ranks(last: int) -> Spec:
    return {"domain": [1, last], "nice": False, "padding": 10}


def _draw_cliques(ranks: Mapping[str, float], cliques: Sequence[Sequence[str]], row: Spec) -> Spec:
    """Return a stroke for each group of systems, from the best of it to the worst."""
    strokes: list[Record] = [
        {
            "clique": number,
            "first": min(clique, key=lambda system: ranks[system]),
            "last": max(clique, key=lambda system: ranks[system]),
        }
        for number, clique in enumerate(cliques)
    ]
    return {
        "data": _values(strokes),
        "width": {"step": 12},
        "height": {"step": 20},
        "mark": {"type": "rule", "strokeWidth": 5, "strokeCap": "round", "color": COLOURS[0]},
        "encoding": {
            "x": {"field": "clique", "type": "ordinal", "axis": None},
            "y": {**row, "field": "first", "scale": {"domain": row["sort"]}, "axis": None},
            "y2": {"field": "last"},
        },
    }


def _if_known(records: Sequence[Record], interval: Spec) -> list[Spec]:
    """Return the layer of intervals if a record has one: Vega warns of an axis without values."""
    return [interval] if any(record.get("low") is not None for record in records) else []


def _quantitative(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False, "padding": 8}}


def _values(records: Sequence[Record]) -> Mapping[str, list[dict[str, str | float | bool | None]]]:
    """Return records as JSON can hold them: NaN as null, control characters escaped."""
    return {"values": [{name: _plain(value) for name, value in record.items()} for record in records]}


def _plain(value: str | float | bool | None) -> str | float | bool | None:  # noqa: FBT001 - a value of a record
    if isinstance(value, str):
        return format_value(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _figure(name: str, title: str, note: str, chart: Spec) -> Figure:
    heading = {
        "text": format_value(title),
        **({"subtitle": textwrap.wrap(format_value(note), WRAP)} if note else {}),
    }
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    return Figure(name, title, {"$schema": schema, "title": heading, "config": CONFIG, **chart}, note)
