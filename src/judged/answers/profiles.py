"""Profiles of answers: other tools' names for measures, and the conventions under which they compute them."""

from __future__ import annotations

from judged.answers.family import parse_answer_measures
from judged.answers.protocol import AnswerProtocol
from judged.measures.measure import Measure
from judged.scoring.family import Measures


def as_protocol(protocol: AnswerProtocol | str | None) -> AnswerProtocol:
    return protocol or AnswerProtocol()


def read_measures(measures: Measures | None, protocol: AnswerProtocol | str | None) -> list[Measure]:
    return parse_answer_measures(measures)
