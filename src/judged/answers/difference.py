"""`explain_answers`: why a measure of answers has one value under some conventions and another under others."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.answers.evaluate import LabelledInputs, evaluate_inputs
from judged.answers.family import LabelledAnswers
from judged.answers.needs import check_needs
from judged.answers.profiles import ANSWER_PROFILES
from judged.answers.protocol import AnswerProtocol
from judged.errors import UnknownName
from judged.explanation.difference import (
    BlendedValues,
    Difference,
    list_subsets,
    shapley,
    tabulate_causes,
    tabulate_queries,
)
from judged.explanation.scoring_rule import NamedRule, RuleDifference, blend, diff
from judged.measures.measure import Measure
from judged.result import InputFile, Provenance

_ALWAYS = ("missing", "unlabelled", "conflict", "sentences")
"""Conventions that every measure reads."""


def explain_answers(
    responses: Any,
    measure: Measure | str,
    *,
    against: str,
    protocol: str | None = None,
    system: str | None = None,
    **given: Any,
) -> Difference:
    """Explain why `measure` has another value as the tool `against` computes it.

    `against`, and `protocol` if it is given, are names of profiles of answers; `system` names one of several systems.
    Further arguments are `nuggets`, `labels` and `references`, as in `judged.evaluate_answers`.

    >>> labels = [{"query": "q1", "part": 1, "document": document, "label": label}
    ...     for document, label in [("d1", "full"), ("d2", "none")]]
    >>> answers = {"bot": [{"query": "q1", "part": 1, "text": "A.", "citations": ["d1", "d2"]}]}
    >>> difference = explain_answers(answers, "CitationRecall", against="open-rag-eval", labels=labels)
    >>> difference.values, difference.rows()[0]["cause"]
    ((1.0, 0.5), 'per')
    """
    inputs = LabelledInputs.read(
        responses, **{"nuggets": None, "labels": None, "references": None, "name": None, **given}
    )
    return explain_inputs(inputs, measure, against=against, protocol=protocol, system=system)


def explain_inputs(
    inputs: LabelledInputs,
    measure: Measure | str,
    *,
    against: str,
    protocol: str | None = None,
    system: str | None = None,
    files: tuple[InputFile, ...] = (),
) -> Difference:
    """Explain the difference for answers that were read."""
    first, second = make_rule(protocol, measure), make_rule(against, measure)
    check_needs([first.measure, second.measure], inputs.given)
    chosen = _choose_system(inputs, system)
    read = {*_ALWAYS, *first.measure.conventions, *second.measure.conventions}
    causes = tuple(cause for cause in diff(first, second) if cause.kind != "protocol" or cause.name in read)
    values = _blend_answers(inputs, chosen, first, causes)
    moved = shapley(values.by_query)
    return Difference(
        chosen.name,
        values.side(0, first),
        values.side(-1, second),
        tabulate_causes(values, causes, moved),
        tabulate_queries(values, causes, moved, _describe),
        provenance=Provenance(protocols=(first.record, second.record), inputs=files),
    )


def make_rule(profile: str | None, measure: Measure | str) -> NamedRule[AnswerProtocol]:
    """Return a measure as the tool of a profile computes it, or judged itself."""
    if profile is None:
        from judged.answers.family import parse_answer_measures

        (own,) = parse_answer_measures([measure])
        return NamedRule("judged", own, AnswerProtocol())
    known = ANSWER_PROFILES[profile]
    return NamedRule(profile, known.read(measure), known.protocol, caveats=known.caveats)


def _choose_system(inputs: LabelledInputs, system: str | None) -> LabelledAnswers:
    names = [known.name for known in inputs.systems]
    if system is None and len(names) > 1:
        raise UnknownName("system", "", names, hint=f"name one of {', '.join(f'`{name}`' for name in names)}")
    if system is not None and system not in names:
        raise UnknownName("system", system, names)
    return inputs.systems[0 if system is None else names.index(system)]


def _blend_answers(
    inputs: LabelledInputs,
    system: LabelledAnswers,
    first: NamedRule[AnswerProtocol],
    causes: tuple[RuleDifference, ...],
) -> BlendedValues:
    """Return the values of one system under every blend of two rules."""
    alone = LabelledInputs(inputs.responses, inputs.truth, (system,), inputs.given)
    ids = list(inputs.truth.queries)
    whole, by_query = [], []
    for taken in list_subsets(causes):
        measure, protocol = blend(first, taken)
        evaluation = evaluate_inputs(alone, [measure], protocol)[system.name]
        known = evaluation.scores.by_query(str(measure), averaged=True)
        whole.append(evaluation[measure])
        by_query.append([known.get(query, np.nan) for query in ids])
    return BlendedValues(ids, np.array(whole), np.array(by_query))


def _describe(query: str, cause: RuleDifference) -> str:  # noqa: ARG001 - the convention says it all
    declared = AnswerProtocol.conventions().get(cause.name)
    if declared is not None:
        return declared.concerns or declared.help
    first, second = cause.words
    return f"`{cause.name}` is {first} here and {second} there"
