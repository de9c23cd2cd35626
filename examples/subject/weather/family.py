"""The family: what a forecast is compared with, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from judged.measures.measure import Measure
from judged.problem import Note
from judged.protocol import BaseProtocol
from judged.scoring.alignment import Alignment
from judged.scoring.family import Family
from weather.tables import Forecasts, read_forecasts


@dataclass(frozen=True, slots=True)
class ForecastProtocol(BaseProtocol):
    """Forecasts have no conventions that differ."""

    family: ClassVar[str] = "forecast"


@dataclass(frozen=True)
class Days:
    """How many days were compared, and how many were not forecast."""

    compared: int
    missing: int

    def notes(self, protocol: ForecastProtocol) -> tuple[Note, ...]:
        """Return a note on the days without a forecast."""
        del protocol
        return (Note("missing-days", "info", f"{self.missing} days not forecast"),) if self.missing else ()


def align(
    observed: Forecasts,
    forecast: Forecasts,
    protocol: ForecastProtocol,
    _measures: Sequence[Measure],
    **_: Any,
) -> Alignment:
    """Return the difference of forecast and observation on every day that both have."""
    days = [day for day in observed.degrees if day in forecast.degrees]
    difference = np.array([forecast.degrees[day] - observed.degrees[day] for day in days])
    counts = Days(len(days), len(observed.degrees) - len(days))
    return Alignment(
        difference, pa.array(days, pa.large_string()), protocol, counts, np.ones(len(days), dtype=bool)
    )


FORECAST = Family(
    "forecast",
    "day",
    ForecastProtocol,
    np.ndarray,
    align,
    default_measures=("AbsoluteError",),
    read_truth=lambda source, _measures: read_forecasts(source),
    read_system=read_forecasts,
    input_roles=("observations", "forecast"),
)
