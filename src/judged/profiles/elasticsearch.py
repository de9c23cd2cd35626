"""Elasticsearch: the metrics of its ranking evaluation API, `_rank_eval`."""

from __future__ import annotations

from judged.profiles.profile import Choices, Profile, Spelling
from judged.protocol import Protocol

_THRESHOLD = {"relevant_rating_threshold": "rel"}
_NORMALISED: Choices = {("normalize", True): {}}
_PLAIN: Choices = {("normalize", False): {}}
_LABELLED: Choices = {
    ("ignore_unlabeled", False): {},
    ("ignore_unlabeled", True): {"unjudged": "removed"},
}

PROFILE = Profile(
    "elasticsearch",
    tool="Elasticsearch",
    version="9.1",
    about='`POST /_rank_eval` with `{"metric": {"dcg": {"k": k, "normalize": true}}}`; its published source, not a server',
    protocol=Protocol(ties="input-order"),
    default_measures=("dcg(normalize=True)@10", "precision@10", "recall@10", "mean_reciprocal_rank@10"),
    spellings=(
        Spelling("dcg", "DCG", {"gain": "exp"}, takes=(), words=_PLAIN, number=True),
        Spelling(
            "dcg",
            "nDCG",
            {"gain": "exp", "ideal": "retrieved"},
            takes=(),
            words=_NORMALISED,
            number=True,
            shown="dcg(normalize=True)@k",
        ),
        Spelling(
            "precision", "P", {"over": "retrieved"}, renamed=_THRESHOLD, switches=_LABELLED, number=True
        ),
        Spelling("recall", "R", renamed=_THRESHOLD, number=True),
        Spelling("mean_reciprocal_rank", "RR", renamed=_THRESHOLD, number=True),
        Spelling(
            "expected_reciprocal_rank",
            "ERR",
            takes=(),
            renamed={"maximum_relevance": "max_grade"},
            number=True,
        ),
    ),
    caveats=(
        "The ideal order of nDCG has as many documents as were returned, so a short list can score 1; a correction to `k` was proposed in July 2026 (pull request 154362).",
        "`unknown_doc_rating` is not supported: an unrated document has no gain.",
        "`precision` with `ignore_unlabeled` looks for `k` rated documents here, and at the first `k` documents there.",
    ),
)
