"""Results in notebooks: tables as HTML, and every figure as Vega-Lite with a static picture as a fallback.

A frontend shows the richest form that it knows. JupyterLab, Notebook 7 and VS Code draw Vega-Lite themselves, with
tooltips and without the network. Colab, GitHub, nbviewer and notebooks that are not trusted show the PNG; SVG would
not do, as JupyterLab refuses it in untrusted notebooks.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from typing import Any, TypeAlias

from judged.blocks import Display, Figure, format_value
from judged.report.draw import SCALE, draw
from judged.report.html import render_html
from judged.result import Result

VEGA_LITE = "application/vnd.vegalite.v5+json"
Bundle: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""An output of a cell: its forms by MIME type, and metadata of some of them."""


def to_bundles(result: Result) -> Iterator[Bundle]:
    """Yield the outputs of a result: sentences, tables and notes in one, then one for each figure."""
    yield {"text/html": render_html(result, Display()), "text/plain": repr(result)}, {}
    yield from map(to_bundle, result.charts())


def to_bundle(figure: Figure) -> Bundle:
    """Return a figure as Vega-Lite, and as a PNG if the extra `report` is installed."""
    forms: dict[str, Any] = {
        VEGA_LITE: dict(figure.spec),
        "text/plain": f"Figure: {format_value(figure.title)}",
    }
    if not _can_draw():
        return forms, {}
    picture = draw(figure, ".png")
    width, height = struct.unpack(">II", picture[16:24])  # where a PNG has them
    size = {"width": round(width / SCALE), "height": round(height / SCALE)}
    return {**forms, "image/png": b64encode(picture).decode()}, {"image/png": size}


def to_static_html(result: Result) -> str:
    """Return everything as HTML without scripts, for frontends that ask for HTML alone."""
    parts = [render_html(result, Display())]
    for figure in result.charts() if _can_draw() else ():
        picture = b64encode(draw(figure, ".svg")).decode()
        alt = escape(format_value(figure.title))
        parts.append(f'<p><img alt="{alt}" src="data:image/svg+xml;base64,{picture}"></p>\n')
    return "".join(parts)


def _can_draw() -> bool:
    return find_spec("vl_convert") is not None
