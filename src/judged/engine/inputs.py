"""What measures demand to be computed on: judgments, judgments by intent, or preferences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judged.engine.intents import refuse_without_intents
from judged.errors import BadMeasure
from judged.io.read import read_judgments
from judged.measures.measure import Measure
from judged.tables.judgments import Judgments

if TYPE_CHECKING:
    from judged.tables.preferences import Preferences

__all__ = ["judgments_demanded"]


def judgments_demanded(
    qrels: Any, measures: Sequence[Measure], *, intents: bool = False
) -> Judgments | Preferences:
    """The judgments, read as the measures demand; `intents` demands them by intent, whatever the measures."""
    if _want_preferences(measures):
        from judged.io.read import read_preferences

        return read_preferences(qrels)
    judgments = read_judgments(
        qrels, intents=intents or any(measure.needs == "intents" for measure in measures)
    )
    refuse_without_intents(judgments, measures)
    return judgments


def _want_preferences(measures: Sequence[Measure]) -> bool:
    """Whether measures are of preferences; refuses them together with measures of judgments."""
    preferring = [each for each in measures if each.family == "preference"]
    if preferring and len(preferring) < len(measures):
        other = next(each for each in measures if each.family != "preference")
        msg = f"`{preferring[0]}` is a measure of preferences and `{other}` of judgments"
        raise BadMeasure(msg, hint="score them one after the other, each against its own file")
    return bool(preferring)
