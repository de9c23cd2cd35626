"""Figures as pictures: SVG, PNG and PDF, drawn from their Vega-Lite specification without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judged._optional import need
from judged.blocks import Figure
from judged.errors import UnknownName
from judged.wording import to_xml_text

PICTURES: Mapping[str, str] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
"""The format that an extension names."""
SCALE = 2.0
"""Pixels of a PNG for each pixel of the chart."""
_LINES = {0x2028: " ", 0x2029: " "}
"""Separators of lines and paragraphs, which end a string in expressions of Vega."""


def draw(figure: Figure, extension: str) -> bytes:
    """Return the figure as the bytes of a picture in the format that a file's extension names."""
    check_picture_path(Path(f"figure{extension}"))
    converter = need("vl_convert", extra="report", needed_by="pictures")
    spec = _to_legal(figure.spec)
    kind = PICTURES[extension.lower()]
    if kind == "svg":
        return str(converter.vegalite_to_svg(spec)).encode()
    if kind == "png":
        return bytes(converter.vegalite_to_png(spec, scale=SCALE))
    return bytes(converter.vegalite_to_pdf(spec))


def _to_legal(value: object) -> object:
    """Return a part of a specification whose texts, names of systems among them, are legal in XML and in expressions."""
    if isinstance(value, str):
        return to_xml_text(value).translate(_LINES)
    if isinstance(value, Mapping):
        return {to_xml_text(str(name)): _to_legal(item) for name, item in value.items()}
    return [_to_legal(item) for item in value] if isinstance(value, list | tuple) else value


def check_picture_path(path: Path) -> None:
    """Raise `UnknownName` unless the path has the extension of a picture."""
    if path.suffix.lower() not in PICTURES:
        hint = f"known extensions: {' '.join(PICTURES)}"
        raise UnknownName("picture format", path.suffix, PICTURES, hint=hint)
