"""Measures of generated answers: `from judged.answers.measures import NuggetRecall`."""

from __future__ import annotations

from judged.measures.groups import Alias, Scope, expose_measures, registry_for

ANSWER_MEASURES = registry_for("answer")
"""Every measure of an answer, by its canonical name."""

ANSWER = Scope(
    "answer",
    subject="answers",
    example="NuggetRecall",
    form='write it as `NuggetRecall(importance="vital")` or `CitationRecall`',
    takes="`judged.evaluate_answers` or `judged answers`",
    unknown="unlabelled",
    about={
        "answer": (
            "Measures of generated answers, from labels that people or models gave: which nuggets an answer has, whether "
            "what it cites supports it, and where its claims come from. A pair without a label (a nugget and an answer, a "
            "sentence and a passage, a claim and a source) is *unlabelled*: counted, shown as a share, and taken as no "
            "support; the upper bound takes it as full support. A query that a system did not answer scores 0. Recall "
            "rises with length, so it is shown with `Words`."
        )
    },
    aliases={
        "all_score": Alias("NuggetRecall"),
        "strict_all_score": Alias("NuggetRecall", {"strict": True}),
        "vital_score": Alias("NuggetRecall", {"importance": "vital"}),
        "strict_vital_score": Alias("NuggetRecall", {"importance": "vital", "strict": True}),
        "weighted_score": Alias("NuggetRecall", {"importance": "weighted"}),
        "context_utilization": Alias("ContextUse"),
        "self_knowledge": Alias("SelfKnowledge"),
        "claim_f1": Alias("ClaimF"),
        "citation_f1": Alias("CitationF"),
        "EM": Alias("ExactMatch"),
        "str_em": Alias("Contains"),
        "F1": Alias("TokenF1"),
    },
)

__getattr__, __dir__ = expose_measures(__name__, ANSWER_MEASURES, globals())
