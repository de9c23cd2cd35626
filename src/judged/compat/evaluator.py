"""Judgments and measures that many runs are evaluated by, under the names that a tool gives to measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judged.io.read import read_judgments
from judged.measures.measure import Measure
from judged.profiles.profile import Reading
from judged.protocol import Protocol
from judged.scoring.evaluator import Evaluator


def without_spelling(measure: Measure) -> Measure:
    """Return the measure under its own name, by which values are looked up."""
    return replace(measure, written=())


class ProfileEvaluator:
    """Judgments and the measures of a profile by the tool's names, which may differ by their protocol alone.

    >>> from judged.profiles.profile import PROFILES
    >>> readings = {name: PROFILES["ir_measures"].read(name) for name in ("AP", "AP(judged_only=True)")}
    >>> ProfileEvaluator({"q": {"a": 1}}, readings).per_query({"q": {"b": 2.0, "a": 1.0}})
    {'AP': {'q': 0.5}, 'AP(judged_only=True)': {'q': 1.0}}
    """

    def __init__(self, judgments: Any, readings: Mapping[str, Reading]) -> None:
        # `evaluate` refuses two measures of one name, so each protocol has an evaluator
        self._readings = readings
        groups: dict[Protocol, dict[str, Measure]] = {}
        for reading in readings.values():
            groups.setdefault(reading.protocol, {})[reading.name] = without_spelling(reading.measure)
        read = read_judgments(judgments)
        self._evaluators = {
            protocol: Evaluator(read, list(measures.values()), protocol=protocol)
            for protocol, measures in groups.items()
        }

    def per_query(self, run: Any) -> Mapping[str, Mapping[str, float]]:
        """Return, for every name, the value of each query of the judgments that the tool scores."""
        values = {protocol: evaluator.per_query(run) for protocol, evaluator in self._evaluators.items()}
        return {name: values[reading.protocol][reading.name] for name, reading in self._readings.items()}
