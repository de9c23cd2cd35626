"""Citations: whether what an answer cites supports what it says, and how much of what it says is so supported."""

from __future__ import annotations

from functools import partial

import numpy as np

from judged.answers.kernels import (
    AnswerView,
    Over,
    Per,
    average_passages,
    first_of_sentences,
    harden,
    harmonic,
    is_necessary,
    segment_mean,
    support_sentences,
)
from judged.answers.measures.nuggets import STRICT
from judged.arrays import Floats
from judged.kernels.segments import divide, segment_count, segment_sum
from judged.measures.measure import Measure
from judged.measures.parameters import Parameter

_OVER = Parameter(
    "the citations that count: `all` of them, the `first` of each citing sentence, each `passage` with the mean of its "
    "citations, or the `necessary` ones as in ALCE"
)
_PER = Parameter(
    "the support of a sentence: the `best` of its citations, its `first` one, their `mean`, or that of all of them "
    "together (`joint`)"
)
_measure = partial(Measure, family="answer", zero_if_missing=False)


def citation_precision(view: AnswerView, *, over: Over = "all", strict: bool = False) -> Floats:
    r"""Return the mean support that citations give to the sentences that cite them.

    $$\mathrm{CitationPrecision} = \frac{1}{|C|} \sum_{c \in C} s_c$$

    where $s_c$ is 1 if the passage fully supports the sentence, ½ in part (0 if `strict`), else 0, and $C$ holds all
    citations of the answer (`all`), or the first of each citing sentence (`first`). With `passage`, citations are averaged
    for each passage, and the passages for the answer. With `necessary`, all citations of a sentence must support it
    together, and one counts 1 unless it does not support alone and the others do without it; partial support is
    none there.

    Title: Citation precision: how far the passages cited support what they are cited for.
    Unlabelled: counts as no support; the upper bound counts it as full support.
    Empty: 0 without an answer, and without citations.
    Agrees with: open-rag-eval 0.3.0 (`passage`); the loop of ALCE (`necessary`).
    References: Thakur et al. Support evaluation for the TREC 2024 RAG track. 2025. arXiv:2504.15205.
        Gao et al. Enabling large language models to generate text with citations. EMNLP 2023.
        doi:10.18653/v1/2023.emnlp-main.398

    Example:
        The first sentence cites p1, which supports it in part, and p2, which supports it; the second cites p1 for nothing:

        >>> parts = [
        ...     {"query": "q1", "part": 1, "text": "A.", "citations": ["p1", "p2"]},
        ...     {"query": "q1", "part": 2, "text": "B.", "citations": ["p1"]},
        ... ]
        >>> labels = [
        ...     {"query": "q1", "part": part, "document": document, "label": label}
        ...     for part, document, label in [(1, "p1", "partial"), (1, "p2", "full"), (2, "p1", "none")]
        ... ]
        >>> names = ["CitationPrecision", 'CitationPrecision(over="passage")']
        >>> answers = judged.evaluate_answers({"bot": parts}, labels=labels, measures=names)
        >>> [answers["bot"][name] for name in names]
        [0.5, 0.625]
    """
    citations = view.citations
    state = harden(citations.state, strict=strict)
    if over == "necessary":
        return segment_mean(is_necessary(citations), citations.offset)
    if over == "passage":
        return average_passages(citations, state)
    if over == "first":
        first = first_of_sentences(citations)
        total = segment_sum(np.where(first, state, 0.0), citations.offset)
        return divide(total, segment_count(first, citations.offset))
    return segment_mean(state, citations.offset)


CitationPrecision = _measure(
    "CitationPrecision",
    citation_precision,
    companions=("Cited",),
    extra_parameters={"over": _OVER, "strict": STRICT},
)


def citation_recall(view: AnswerView, *, per: Per = "best", strict: bool = False) -> Floats:
    r"""Return the mean support of the sentences of an answer by what they cite.

    $$\mathrm{CitationRecall} = \frac{1}{|S|} \sum_{t \in S} \max_{c \in C_t} s_c$$

    where $S$ holds all sentences of the answer, $C_t$ the citations of sentence $t$, and $s_c$ is 1 if the passage fully
    supports the sentence, ½ in part (0 if `strict`), else 0. A sentence without citations counts 0. In place of the best
    citation may count the `first`, the `mean`, or the support of all together (`joint`), partial support being none there. A
    set of passages is labelled as a list of documents; one that has no label of its own is full support if one of its
    passages is.

    Title: Citation recall: how much of what is said is supported by what is cited for it.
    Unlabelled: counts as no support; the upper bound counts it as full support.
    Empty: 0 without an answer.
    Agrees with: open-rag-eval 0.3.0 (`mean`); the loop of ALCE (`joint`).
    References: Thakur et al. Support evaluation for the TREC 2024 RAG track. 2025. arXiv:2504.15205.
        Gao et al. Enabling large language models to generate text with citations. EMNLP 2023.
        doi:10.18653/v1/2023.emnlp-main.398

    Example:
        Of two sentences one is supported, in part:

        >>> parts = [
        ...     {"query": "q1", "part": 1, "text": "A.", "citations": ["p1"]},
        ...     {"query": "q1", "part": 2, "text": "B.", "citations": []},
        ... ]
        >>> labels = [{"query": "q1", "part": 1, "document": "p1", "label": "partial"}]
        >>> judged.evaluate_answers({"bot": parts}, labels=labels, measures="CitationRecall")["bot"]["CitationRecall"]
        0.25
    """
    return segment_mean(support_sentences(view.citations, per, strict=strict), view.citations.sentence_offset)


CitationRecall = _measure(
    "CitationRecall",
    citation_recall,
    companions=("Words",),
    extra_parameters={"per": _PER, "strict": STRICT},
)


def citation_f(view: AnswerView, *, over: Over = "all", per: Per = "best", strict: bool = False) -> Floats:
    r"""Return the harmonic mean of citation precision and recall.

    $$\mathrm{CitationF} = \frac{2 P R}{P + R}$$

    where $P$ is `CitationPrecision` with the same `over` and $R$ is `CitationRecall` with the same `per`.

    Title: Citation F: precision and recall of citations in one number.
    Unlabelled: counts as no support; the upper bound counts it as full support.
    Empty: 0 without an answer, and without citations.
    Agrees with: open-rag-eval 0.3.0 (`over="passage", per="mean"`).
    References: Gao et al. Enabling large language models to generate text with citations. EMNLP 2023.
        doi:10.18653/v1/2023.emnlp-main.398

    Example:
        Precision 1, recall ½:

        >>> parts = [
        ...     {"query": "q1", "part": 1, "text": "A.", "citations": ["p1"]},
        ...     {"query": "q1", "part": 2, "text": "B.", "citations": []},
        ... ]
        >>> labels = [{"query": "q1", "part": 1, "document": "p1", "label": "full"}]
        >>> judged.evaluate_answers({"bot": parts}, labels=labels, measures="CitationF")["bot"]["CitationF"]
        0.6666...
    """
    precision = citation_precision(view, over=over, strict=strict)
    return harmonic(precision, citation_recall(view, per=per, strict=strict))


CitationF = _measure(
    "CitationF",
    citation_f,
    companions=("Cited", "Words"),
    extra_parameters={"over": _OVER, "per": _PER, "strict": STRICT},
)


def cited(view: AnswerView) -> Floats:
    r"""Return the share of the sentences of an answer that cite anything.

    $$\mathrm{Cited} = \frac{|\{t \in S : C_t \neq \emptyset\}|}{|S|}$$

    where $S$ holds all sentences of the answer, and $C_t$ the citations of sentence $t$. It needs no labels: precision says
    nothing about what is not cited.

    Title: Cited: how much of an answer has a citation.
    Unlabelled: does not matter.
    Empty: 0 without an answer.
    References: Thakur et al. Support evaluation for the TREC 2024 RAG track. 2025. arXiv:2504.15205.

    Example:
        One sentence of two:

        >>> judged.evaluate_answers({"bot": {"q1": "Cats purr [1]. Dogs bark."}}, measures="Cited")["bot"]["Cited"]
        0.5
    """
    citations = view.citations
    count = np.bincount(citations.sentence, minlength=len(citations.joint))
    return segment_mean(count > 0, citations.sentence_offset)


Cited = _measure("Cited", cited, higher_is_better=None)
