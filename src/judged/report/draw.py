"""Figures as pictures: SVG, PNG and PDF, drawn from their Vega-Lite specification without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judged._optional import need
from judged.blocks import Figure
from judged.errors import UnknownName

__all__ = ["PICTURES", "check_picture_path", "draw"]

PICTURES: Mapping[str, str] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
"""The format that an extension names."""
SCALE = 2.0
"""Pixels of a PNG for each pixel of the chart."""


def draw(figure: Figure, extension: str) -> bytes:
    """Return the figure as the bytes of a picture in the format that a file's extension names."""
    check_picture_path(Path(f"figure{extension}"))
    converter = need("vl_convert", extra="report", needed_by="pictures")
    spec = dict(figure.spec)
    kind = PICTURES[extension.lower()]
    if kind == "svg":
        return str(converter.vegalite_to_svg(spec)).encode()
    if kind == "png":
        return bytes(converter.vegalite_to_png(spec, scale=SCALE))
    return bytes(converter.vegalite_to_pdf(spec))


def check_picture_path(path: Path) -> None:
    """Raise `UnknownName` unless the path has the extension of a picture."""
    if path.suffix.lower() not in PICTURES:
        hint = f"known extensions: {' '.join(PICTURES)}"
        raise UnknownName("picture format", path.suffix, PICTURES, hint=hint)
