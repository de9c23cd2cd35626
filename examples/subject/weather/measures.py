"""How far forecasts are off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judged.measures.groups import Scope
from judged.measures.measure import Measure

FORECAST = Scope("forecast", subject="forecasts", example="AbsoluteError", unit="days")


def absolute_error(difference: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far a forecast is from what was observed, in degrees."""
    return np.abs(difference)


AbsoluteError = Measure(
    "AbsoluteError", absolute_error, title="Absolute error.", family="forecast", higher_is_better=False
)
