"""Forecasts and observations: a temperature for each day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from judged.io.table import read_table
from judged.tables.schema import Field, Schema

FORECASTS = Schema(
    "forecasts",
    (Field("day", ("day", "date")), Field("degrees", ("degrees", "temperature"), "number")),
    nested=("day", "degrees"),
)


@dataclass(frozen=True, eq=False)
class Forecasts:
    """The temperature that one source says for each day."""

    family: ClassVar[str] = "forecast"
    degrees: Mapping[str, float]
    name: str = "forecast"


def read_forecasts(source: Any, name: str | None = None) -> Forecasts:
    """Return forecasts from a file, a data frame or rows, in any format that judged reads."""
    if isinstance(source, Forecasts):
        return source
    table = read_table(source, FORECASTS, name=name)
    days, degrees = table.columns["day"], table.columns["degrees"]
    return Forecasts(dict(zip(map(str, days), map(float, degrees), strict=True)), table.name)
