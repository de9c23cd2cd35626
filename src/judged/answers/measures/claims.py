"""Claims: which claims of an answer are true, which come from the passages, and what retrieval offered to it."""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import numpy as np

from judged.answers.kernels import AnswerView, harmonic, segment_mean
from judged.arrays import Flags, Floats, Ints
from judged.kernels.segments import divide, segment_count, segment_ids
from judged.measures.measure import Measure
from judged.measures.parameters import Parameter

_measure = partial(Measure, family="answer", zero_if_missing=False)


def _share(view: AnswerView, flags: Flags, offset: Ints, *, empty: float = 0.0) -> Floats:
    """Return the share of the flags that are set, of each query.

    `empty` is the value of an answer without any; an answer whose claims were not extracted has none.
    """
    share = np.where(np.diff(offset) > 0, segment_mean(flags, offset), empty)
    return np.where(view.answered, np.where(view.claims.listed, share, math.nan), 0.0)


def _share_of_said(view: AnswerView, flags: Flags) -> Floats:
    """Return the share of the claims of an answer; 0 without passages, if the protocol says so."""
    if not view.unsupported:
        flags = flags & _has_passages(view)
    return _share(view, flags, view.claims.said_offset)


def _has_passages(view: AnswerView) -> Flags:
    """Return whether the query of each claim of an answer has passages."""
    there: Flags = np.diff(view.claims.passage_offset)[segment_ids(view.claims.said_offset)] > 0
    return there


def claim_precision(view: AnswerView) -> Floats:
    r"""Return the share of the claims of an answer that the true answer entails.

    $$\mathrm{ClaimPrecision} = \frac{|\{r \in A : r \text{ true}\}|}{|A|}$$

    where $A$ holds the claims of the answer, and a claim is true if the true answer entails it.

    Title: Claim precision: how much of what is claimed is true.
    Unlabelled: counts as not entailed; the upper bound counts it as entailed.
    Empty: 0 without an answer, and for one without claims unless the protocol's `no_statements` is `skip`.
    Agrees with: RAGChecker 0.1.9 (`precision`).
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.

    Example:
        One of two claims is true:

        >>> labels = [
        ...     {"query": "q1", "side": "response", "claim": claim, "source": "answer", "label": label}
        ...     for claim, label in [("a", "entailed"), ("b", "neutral")]
        ... ]
        >>> judged.evaluate_answers({"bot": {"q1": "A, b."}}, labels=labels, measures="ClaimPrecision")["bot"][
        ...     "ClaimPrecision"
        ... ]
        0.5
    """
    return _share(view, view.claims.true, view.claims.said_offset, empty=view.no_statements)


ClaimPrecision = _measure("ClaimPrecision", claim_precision, conventions=("no_statements",))


def claim_recall(view: AnswerView) -> Floats:
    r"""Return the share of the true claims that an answer entails.

    $$\mathrm{ClaimRecall} = \frac{|\{g \in G : g \text{ said}\}|}{|G|}$$

    where $G$ holds the claims of the true answer, and a claim is said if the answer entails it.

    Title: Claim recall: how much of the true answer is said.
    Unlabelled: counts as not entailed; the upper bound counts it as entailed.
    Empty: 0 without an answer, and without true claims.
    Agrees with: RAGChecker 0.1.9 (`recall`).
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.

    Example:
        One of two true claims is said:

        >>> labels = [
        ...     {"query": "q1", "side": "truth", "claim": claim, "source": "response", "label": label}
        ...     for claim, label in [("a", "entailed"), ("b", "contradicted")]
        ... ]
        >>> judged.evaluate_answers({"bot": {"q1": "A."}}, labels=labels, measures="ClaimRecall")["bot"]["ClaimRecall"]
        0.5
    """
    return _share(view, view.claims.said, view.claims.truth_offset)


ClaimRecall = _measure("ClaimRecall", claim_recall, companions=("Words",))


def claim_f(view: AnswerView) -> Floats:
    r"""Return the harmonic mean of claim precision and claim recall.

    $$\mathrm{ClaimF} = \frac{2 P R}{P + R}$$

    where $P$ is `ClaimPrecision` and $R$ is `ClaimRecall`.

    Title: Claim F: precision and recall of claims in one number.
    Unlabelled: counts as not entailed; the upper bound counts it as entailed.
    Empty: 0 without an answer, and where precision and recall are 0.
    Agrees with: RAGChecker 0.1.9 (`f1`).
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.

    Example:
        The one claim is true, and one of two true claims:

        >>> pairs = [("response", "a", "answer"), ("truth", "a", "response"), ("truth", "b", "response")]
        >>> labels = [
        ...     {
        ...         "query": "q1",
        ...         "side": side,
        ...         "claim": claim,
        ...         "source": source,
        ...         "label": "entailed" if claim == "a" else "neutral",
        ...     }
        ...     for side, claim, source in pairs
        ... ]
        >>> judged.evaluate_answers({"bot": {"q1": "A."}}, labels=labels, measures="ClaimF")["bot"]["ClaimF"]
        0.6666...
    """
    return harmonic(claim_precision(view), claim_recall(view))


ClaimF = _measure("ClaimF", claim_f, companions=("Words",), conventions=("no_statements",))


def context_recall(view: AnswerView) -> Floats:
    r"""Return the share of the true claims that some passage entails.

    $$\mathrm{ContextRecall} = \frac{|\{g \in G : g \text{ in a passage}\}|}{|G|}$$

    where $G$ holds the claims of the true answer. Unlike `StRecall`, it counts claims that no document supports.

    Title: Context recall: how much of the true answer retrieval found.
    Unlabelled: counts as not entailed; the upper bound counts it as entailed.
    Empty: 0 without an answer, without passages, and without true claims.
    Agrees with: RAGChecker 0.1.9 (`claim_recall`).
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.

    Example:
        The passage has one of two true claims:

        >>> labels = [
        ...     {"query": "q1", "side": "truth", "claim": claim, "source": "p1", "label": label}
        ...     for claim, label in [("a", "entailed"), ("b", "neutral")]
        ... ]
        >>> judged.evaluate_answers({"bot": {"q1": "A."}}, labels=labels, measures="ContextRecall")["bot"][
        ...     "ContextRecall"
        ... ]
        0.5
    """
    return _share(view, view.claims.found, view.claims.truth_offset)


ContextRecall = _measure("ContextRecall", context_recall)


def context_precision(view: AnswerView) -> Floats:
    r"""Return the share of the passages that entail a true claim.

    $$\mathrm{ContextPrecision} = \frac{|\{d \in D : d \text{ useful}\}|}{|D|}$$

    where $D$ holds the passages given to the system, and a passage is useful if it entails a claim of the true answer. The
    context precision of ragas is something else: average precision over the useful passages that were found (`AP_found`).

    Title: Context precision: how many of the passages are of use.
    Unlabelled: counts as not entailed; the upper bound counts it as entailed.
    Empty: 0 without an answer, without passages, and without true claims.
    Agrees with: RAGChecker 0.1.9 (`context_precision`).
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.

    Example:
        One of two passages is useful:

        >>> labels = [
        ...     {"query": "q1", "side": "truth", "claim": "a", "source": document, "label": label}
        ...     for document, label in [("p1", "entailed"), ("p2", "neutral")]
        ... ]
        >>> judged.evaluate_answers({"bot": {"q1": "A."}}, labels=labels, measures="ContextPrecision")["bot"][
        ...     "ContextPrecision"
        ... ]
        0.5
    """
    return _share(view, view.claims.useful, view.claims.passage_offset)


ContextPrecision = _measure("ContextPrecision", context_precision)


def context_use(view: AnswerView) -> Floats:
    r"""Return the share of the true claims in passages that the answer says.

    $$\mathrm{ContextUse} = \frac{|\{g \in G : g \text{ in a passage and said}\}|}{|\{g \in G : g \text{ in a passage}\}|}$$

    where $G$ holds the claims of the true answer.

    Title: Context use: how much of what retrieval found is said.
    Unlabelled: counts as not entailed; more labels may move the value either way.
    Empty: 0 without an answer, and where no passage has a true claim.
    Agrees with: RAGChecker 0.1.9 (`context_utilization`).
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.

    Example:
        The passage has two true claims, the answer one of them:

        >>> pairs = [("a", "p1"), ("b", "p1"), ("a", "response")]
        >>> labels = [
        ...     {"query": "q1", "side": "truth", "claim": claim, "source": source, "label": "entailed"}
        ...     for claim, source in pairs
        ... ]
        >>> judged.evaluate_answers({"bot": {"q1": "A."}}, labels=labels, measures="ContextUse")["bot"]["ContextUse"]
        0.5
    """
    claims = view.claims
    used = segment_count(claims.found & claims.said, claims.truth_offset)
    share = divide(used, segment_count(claims.found, claims.truth_offset))
    return np.where(view.answered, np.where(claims.listed, share, math.nan), 0.0)


ContextUse = _measure("ContextUse", context_use)


def faithfulness(view: AnswerView, *, length_penalty: float = 0) -> Floats:
    r"""Return the share of the claims of an answer that some passage entails.

    $$\mathrm{Faithfulness} = \frac{|\{r \in A : r \text{ in a passage}\}|}{|A|}
        \cdot \min\left(1, e^{1 - \gamma / |A|}\right)$$

    where $A$ holds the claims of the answer, and $\gamma$ is `length_penalty`: answers of fewer claims score less. With 0,
    the default, nothing is taken off. It, `Hallucination` and `SelfKnowledge` sum to 1 for an answer with claims.

    Title: Faithfulness: how much of what is claimed is in the passages.
    Unlabelled: counts as not entailed; the upper bound counts it as entailed.
    Empty: 0 without an answer, and for one without claims unless the protocol's `no_statements` is `skip`, as in ragas.
    Agrees with: RAGChecker 0.1.9 (`faithfulness`); with `length_penalty=10`: FActScore, which leaves abstentions out.
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.
        Min et al. FActScore: fine-grained atomic evaluation of factual precision in long form text generation.
        EMNLP 2023. doi:10.18653/v1/2023.emnlp-main.741

    Example:
        Three of four claims are in the passage, which is few for a penalty below ten:

        >>> labels = [
        ...     {"query": "q1", "side": "response", "claim": claim, "source": "p1", "label": label}
        ...     for claim, label in zip("abcd", ["entailed"] * 3 + ["neutral"])
        ... ]
        >>> names = ["Faithfulness", "Faithfulness(length_penalty=10)"]
        >>> judged.evaluate_answers({"bot": {"q1": "A."}}, labels=labels, measures=names)["bot"].mean()
        {'Faithfulness': 0.75, 'Faithfulness(length_penalty=10)': 0.1673...}
    """
    share = _share(view, view.claims.grounded, view.claims.said_offset, empty=view.no_statements)
    count = np.diff(view.claims.said_offset)
    penalty: Floats = np.exp(1 - np.maximum(divide(np.full(len(count), float(length_penalty)), count), 1.0))
    penalised: Floats = share * penalty
    return penalised


Faithfulness = _measure(
    "Faithfulness",
    faithfulness,
    conventions=("no_statements",),
    extra_parameters={
        "length_penalty": Parameter.number("the number of claims below which an answer scores less", 0, 1e6)
    },
)


def hallucination(view: AnswerView) -> Floats:
    r"""Return the share of the claims of an answer that are neither in a passage nor true.

    $$\mathrm{Hallucination} = \frac{|\{r \in A : r \text{ in no passage and not true}\}|}{|A|}$$

    where $A$ holds the claims of the answer, and a claim is true if the true answer entails it.

    Title: Hallucination: how much of what is claimed comes from nowhere and is wrong.
    Unlabelled: counts as not entailed; more labels only lower the value.
    Empty: 0 without an answer, and for one without claims. Without passages every claim is in none, unless the protocol's
        `no_passages` is `zero`.
    Agrees with: RAGChecker 0.1.9 (`hallucination`), with `no_passages="zero"` also where nothing was retrieved.
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.

    Example:
        Of three claims one is true, and another is in the passage:

        >>> pairs = [
        ...     ("a", "answer", "entailed"),
        ...     ("b", "answer", "neutral"),
        ...     ("c", "answer", "neutral"),
        ...     ("a", "p1", "neutral"),
        ...     ("b", "p1", "entailed"),
        ...     ("c", "p1", "neutral"),
        ... ]
        >>> labels = [
        ...     {"query": "q1", "side": "response", "claim": claim, "source": source, "label": label}
        ...     for claim, source, label in pairs
        ... ]
        >>> judged.evaluate_answers({"bot": {"q1": "A, b, c."}}, labels=labels, measures="Hallucination")["bot"][
        ...     "Hallucination"
        ... ]
        0.3333...
    """
    return _share_of_said(view, ~view.claims.grounded & ~view.claims.true)


Hallucination = _measure(
    "Hallucination",
    hallucination,
    higher_is_better=False,
    conventions=("no_passages",),
    companions=("Words",),
)


def self_knowledge(view: AnswerView) -> Floats:
    r"""Return the share of the claims of an answer that are true, and in no passage.

    $$\mathrm{SelfKnowledge} = \frac{|\{r \in A : r \text{ in no passage and true}\}|}{|A|}$$

    where $A$ holds the claims of the answer, and a claim is true if the true answer entails it.

    Title: Self-knowledge: how much of what is claimed the model knew by itself.
    Unlabelled: counts as not entailed; more labels may move the value either way.
    Empty: 0 without an answer, and for one without claims. Without passages every claim is in none, unless the protocol's
        `no_passages` is `zero`.
    Agrees with: RAGChecker 0.1.9 (`self_knowledge`), with `no_passages="zero"` also where nothing was retrieved.
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.

    Example:
        Of two claims one is true, and none is in the passage:

        >>> labels = [
        ...     {"query": "q1", "side": "response", "claim": claim, "source": source, "label": label}
        ...     for claim, source, label in [
        ...         ("a", "answer", "entailed"),
        ...         ("b", "answer", "neutral"),
        ...         ("b", "p1", "neutral"),
        ...     ]
        ... ]
        >>> judged.evaluate_answers({"bot": {"q1": "A, b."}}, labels=labels, measures="SelfKnowledge")["bot"][
        ...     "SelfKnowledge"
        ... ]
        0.5
    """
    return _share_of_said(view, ~view.claims.grounded & view.claims.true)


SelfKnowledge = _measure("SelfKnowledge", self_knowledge, higher_is_better=None, conventions=("no_passages",))


def noise_sensitivity(
    view: AnswerView, *, passages: Literal["relevant", "irrelevant"] = "relevant"
) -> Floats:
    r"""Return the share of the claims of an answer that are wrong and come from a passage.

    $$\mathrm{NoiseSensitivity} = \frac{|\{r \in A : r \text{ not true and in a passage of that kind}\}|}{|A|}$$

    where $A$ holds the claims of the answer; a passage is relevant if it entails a true claim. A claim counts as of
    irrelevant passages only if no relevant one has it.

    Title: Noise sensitivity: how much that is wrong an answer takes from its passages.
    Unlabelled: counts as not entailed; more labels may move the value either way.
    Empty: 0 without an answer, for one without claims, and without true claims.
    Agrees with: RAGChecker 0.1.9 (`noise_sensitivity_in_relevant`, `noise_sensitivity_in_irrelevant`).
    References: Ru et al. RAGChecker: a fine-grained framework for diagnosing retrieval-augmented generation.
        NeurIPS 2024. arXiv:2408.08067.

    Example:
        The passage has the true claim a, and claim b, which is wrong:

        >>> pairs = [
        ...     ("truth", "a", "p1", "entailed"),
        ...     ("response", "b", "p1", "entailed"),
        ...     ("response", "b", "answer", "neutral"),
        ... ]
        >>> labels = [
        ...     {"query": "q1", "side": side, "claim": claim, "source": source, "label": label}
        ...     for side, claim, source, label in pairs
        ... ]
        >>> judged.evaluate_answers({"bot": {"q1": "B."}}, labels=labels, measures="NoiseSensitivity")["bot"][
        ...     "NoiseSensitivity"
        ... ]
        1.0
    """
    claims = view.claims
    relevant = passages == "relevant"
    from_kind = claims.grounded_relevant if relevant else claims.grounded & ~claims.grounded_relevant
    known = (np.diff(claims.truth_offset) > 0)[segment_ids(claims.said_offset)]
    return _share(view, from_kind & ~claims.true & known, claims.said_offset)


NoiseSensitivity = _measure(
    "NoiseSensitivity",
    noise_sensitivity,
    higher_is_better=False,
    companions=("Words",),
    extra_parameters={
        "passages": Parameter("whether wrong claims of relevant or of irrelevant passages count")
    },
)
