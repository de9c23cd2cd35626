"""Profiles of answers: other tools' names for measures, and the conventions under which they compute them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from judged.answers.family import parse_answer_measures
from judged.answers.protocol import AnswerProtocol
from judged.errors import BadMeasure
from judged.measures.measure import Measure
from judged.measures.parse import split_measures
from judged.registry import Registry
from judged.scoring.family import Measures


@dataclass(frozen=True)
class AnswerProfile:
    """The names and conventions of one tool."""

    name: str
    tool: str
    version: str
    """The version that was compared, number for number."""
    names: Mapping[str, str]
    """Our measure for each name of the tool; the first of several of one name is what that name means there."""
    protocol: AnswerProtocol = field(default_factory=AnswerProtocol)
    caveats: tuple[str, ...] = ()
    """Behaviour of the tool that is not reproduced, a sentence each."""

    def read(self, text: Measure | str) -> Measure:
        """Return what the tool means by one of its own names, or by one of judged's without parameters.

        >>> ANSWER_PROFILES["open-rag-eval"].read("CitationPrecision")
        CitationPrecision(over="passage")
        """
        if isinstance(text, str) and text in self.names:
            (measure,) = parse_answer_measures(self.names[text])
            return replace(measure, written=(text,))
        (asked,) = parse_answer_measures([text])
        known = parse_answer_measures(list(self.names.values()))
        if asked in known:
            return asked
        same = [measure for measure in known if measure.name == asked.name]
        if not same or asked.set_parameters:
            msg = f"the profile `{self.name}` has no measure `{text}`"
            raise BadMeasure(msg, hint=f"it has {', '.join(self.names)}")
        return same[0]


ANSWER_PROFILES: Registry[AnswerProfile] = Registry("profile of answers")
"""Every profile of answers by name."""
for _profile in (
    AnswerProfile(
        "nuggetizer",
        "nuggetizer",
        "0.0.5",
        {
            "strict_vital_score": 'NuggetRecall(importance="vital", strict=True)',
            "all_score": "NuggetRecall",
            "strict_all_score": "NuggetRecall(strict=True)",
            "vital_score": 'NuggetRecall(importance="vital")',
        },
        AnswerProtocol(no_vital="zero"),
        ("Only answers in the file are scored there; a query without one scores 0 here.",),
    ),
    AnswerProfile(
        "ragchecker",
        "RAGChecker",
        "0.1.9",
        {
            "precision": "ClaimPrecision",
            "recall": "ClaimRecall",
            "f1": "ClaimF",
            "claim_recall": "ContextRecall",
            "context_precision": "ContextPrecision",
            "context_utilization": "ContextUse",
            "noise_sensitivity_in_relevant": "NoiseSensitivity",
            "noise_sensitivity_in_irrelevant": 'NoiseSensitivity(passages="irrelevant")',
            "hallucination": "Hallucination",
            "self_knowledge": "SelfKnowledge",
            "faithfulness": "Faithfulness",
        },
        AnswerProtocol(no_passages="zero"),
        ("Means are percentages with one decimal there.",),
    ),
    AnswerProfile(
        "alce",
        "ALCE",
        "2023",
        {
            "citation_rec": 'CitationRecall(per="joint")',
            "citation_prec": 'CitationPrecision(over="necessary")',
            "str_em": "Contains",
        },
        AnswerProtocol(),
        (
            "Means are percentages there.",
            "A sentence with a citation out of range is unsupported there, and an error here.",
            "Only the first three citations of a sentence are read there by default (`--at_most_citations`).",
            "Only the first line of an answer is scored there, and sentences are cut by NLTK.",
            "An empty answer is left out of the means of citations there, and scores 0 here.",
        ),
    ),
    AnswerProfile(
        "open-rag-eval",
        "open-rag-eval",
        "0.3.0",
        {
            "weighted_precision": 'CitationPrecision(over="passage")',
            "weighted_recall": 'CitationRecall(per="mean")',
            "f1": 'CitationF(over="passage", per="mean")',
            "vital_nuggetizer_score": 'NuggetRecall(importance="vital")',
            "all_nuggetizer_score": "NuggetRecall",
        },
        AnswerProtocol(no_vital="zero"),
        (
            "Nuggets that no passage supports are never made there, since they come from the passages retrieved.",
        ),
    ),
    AnswerProfile(
        "ragas",
        "ragas",
        "0.4.3",
        {"faithfulness": "Faithfulness"},
        AnswerProtocol(no_statements="skip"),
        (
            "Faithfulness is NaN without statements, and a mean without these answers favours a system that says nothing.",
            (
                "Context precision there is average precision over the useful passages found, not a share: `AP_found`, in"
                " the profile `ragas` of runs."
            ),
            (
                "Answer correctness is 0.75 times an F measure of statements plus 0.25 times a cosine similarity: read"
                " its values with `--scores`."
            ),
        ),
    ),
):
    ANSWER_PROFILES.add(_profile.name, _profile)


def as_protocol(protocol: AnswerProtocol | str | None) -> AnswerProtocol:
    """Return a protocol, that of a profile, or the default."""
    if isinstance(protocol, str):
        return ANSWER_PROFILES[protocol].protocol
    return protocol or AnswerProtocol()


def read_measures(measures: Measures | None, protocol: AnswerProtocol | str | None) -> list[Measure]:
    """Return the measures that were named, as the tool of a profile means them; by default all of that tool."""
    if not isinstance(protocol, str):
        return parse_answer_measures(measures or ())
    profile = ANSWER_PROFILES[protocol]
    named = list(profile.names) if measures is None else measures
    listed = (
        split_measures(named) if isinstance(named, str) else [named] if isinstance(named, Measure) else named
    )
    return [profile.read(text) for text in listed]
