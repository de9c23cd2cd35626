"""Figures as pictures: SVG, PNG and PDF, drawn from their Vega-Lite specification without a browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from judged._optional import need
from judged.blocks import Figure
from judged.errors import UnknownName

__all__ = ["PICTURES", "draw"]

PICTURES: Mapping[str, str] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
"""The format that an extension names."""
SCALE = 2.0
"""Pixels of a PNG for each pixel of the chart."""


def draw(figure: Figure, extension: str) -> bytes:
    """Return the figure as the bytes of a picture in the format that a file's extension names."""
    if extension.lower() not in PICTURES:
        raise UnknownName(
            "picture format", extension, PICTURES, hint=f"known extensions: {' '.join(PICTURES)}"
        )
    converter = need("vl_convert", extra="report", needed_by="pictures")
    spec = dict(figure.spec)
    if PICTURES[extension.lower()] == "svg":
        return str(converter.vegalite_to_svg(spec)).encode()
    convert: Callable[..., bytes] = (
        converter.vegalite_to_png if extension.lower() == ".png" else converter.vegalite_to_pdf
    )
    return convert(spec, scale=SCALE)


def check_picture_path(path: Path) -> None:
    """Raise `UnknownName` unless the path has the extension of a picture."""
    if path.suffix.lower() not in PICTURES:
        raise UnknownName(
            "picture format", path.suffix, PICTURES, hint=f"known extensions: {' '.join(PICTURES)}"
        )
