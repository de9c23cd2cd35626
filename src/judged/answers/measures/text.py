"""Short answers: agreement with reference answers as texts, and whether a system knows what it does not know."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from judged.answers.kernels import AnswerView
from judged.arrays import Floats
from judged.measures.measure import Measure

_measure = partial(Measure, family="answer", zero_if_missing=False)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise_answer(text: str) -> str:
    """Return a text as answers are compared: in lower case, without punctuation, articles and extra white space.

    >>> normalise_answer("  The Eiffel  Tower!")
    'eiffel tower'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_WITHOUT_PUNCTUATION)).split())


def overlap_tokens(answer: str, reference: str) -> float:
    """Return the harmonic mean of the shares of words that two normalised texts have in common; 1 if both are empty.

    >>> overlap_tokens("eiffel tower", "tower")
    0.6666666666666666
    """
    mine, theirs = answer.split(), reference.split()
    if not mine or not theirs:
        return float(mine == theirs)
    common = sum((Counter(mine) & Counter(theirs)).values())
    return 2 * common / (len(mine) + len(theirs))


def _by_reference(view: AnswerView, value: Callable[[str, Iterable[Iterable[str]]], float]) -> Floats:
    """Return a value for each query with reference answers; NaN for the others, 0 without an answer."""
    values = np.full(len(view), math.nan)
    for row, groups in enumerate(view.references):
        if groups:
            normal = [[normalise_answer(spelling) for spelling in group] for group in groups]
            values[row] = value(normalise_answer(view.texts[row]), normal) if view.answered[row] else 0.0
    return values


def exact_match(view: AnswerView) -> Floats:
    r"""Return 1 if an answer is one of the reference answers, else 0.

    $$\mathrm{ExactMatch} = \max_{g \in G} [a = g]$$

    where $a$ is the answer and $G$ holds the reference answers, all in lower case, without punctuation, articles and extra
    white space.

    Title: Exact match: whether the answer is a reference answer.
    Unlabelled: a query without reference answers has no value.
    Empty: 0 without an answer; an empty one matches an empty reference.
    Agrees with: the evaluation script of SQuAD 1.1 (`exact_match`, as a share).
    References: Rajpurkar et al. SQuAD: 100,000+ questions for machine comprehension of text. EMNLP 2016.
        doi:10.18653/v1/D16-1264

    Example:
        >>> references = [{"query": "q1", "answer": "Eiffel Tower"}]
        >>> bot = {"bot": {"q1": "The Eiffel Tower!"}}
        >>> judged.evaluate_answers(bot, references=references, measures="ExactMatch")["bot"]["ExactMatch"]
        1.0
    """
    return _by_reference(
        view, lambda answer, groups: float(any(answer == spelling for group in groups for spelling in group))
    )


ExactMatch = _measure("ExactMatch", exact_match, values="binary")


def token_f1(view: AnswerView) -> Floats:
    r"""Return the overlap of the words of an answer with those of the best reference answer.

    $$\mathrm{TokenF1} = \max_{g \in G} \frac{2 |a \cap g|}{|a| + |g|}$$

    where $a$ holds the words of the answer and $g$ those of a reference answer, as often as they occur, in lower case,
    without punctuation and articles.

    Title: Token F1: the words that an answer shares with a reference answer.
    Unlabelled: a query without reference answers has no value.
    Empty: 0 without an answer; an empty one scores 1 for an empty reference.
    Agrees with: the evaluation script of SQuAD 1.1 (`f1`, as a share).
    References: Rajpurkar et al. SQuAD: 100,000+ questions for machine comprehension of text. EMNLP 2016.
        doi:10.18653/v1/D16-1264

    Example:
        >>> references = [{"query": "q1", "answer": "Eiffel Tower"}]
        >>> judged.evaluate_answers({"bot": {"q1": "the tower"}}, references=references, measures="TokenF1")["bot"][
        ...     "TokenF1"
        ... ]
        0.6666...
    """
    return _by_reference(
        view,
        lambda answer, groups: max(
            overlap_tokens(answer, spelling) for group in groups for spelling in group
        ),
    )


TokenF1 = _measure("TokenF1", token_f1)


def contains(view: AnswerView) -> Floats:
    r"""Return the share of the short reference answers that occur in an answer.

    $$\mathrm{Contains} = \frac{|\{g \in G : g \subseteq a\}|}{|G|}$$

    where $a$ is the answer, $G$ holds the short answers, and $g \subseteq a$ says that a spelling of $g$ is part of the text
    $a$, both in lower case, without punctuation, articles and extra white space.

    Title: Contains: how many of the short answers occur.
    Unlabelled: a query without reference answers has no value.
    Empty: 0 without an answer.
    Agrees with: the string recall of ALCE (`str_em`, as a share).
    References: Gao et al. Enabling large language models to generate text with citations. EMNLP 2023.
        doi:10.18653/v1/2023.emnlp-main.398

    Example:
        >>> references = [{"query": "q1", "answer": answer} for answer in ("Paris", "Lyon")]
        >>> judged.evaluate_answers({"bot": {"q1": "In Paris."}}, references=references, measures="Contains")["bot"][
        ...     "Contains"
        ... ]
        0.5
    """

    def share(answer: str, groups: Iterable[Iterable[str]]) -> float:
        return float(np.mean([any(spelling in answer for spelling in group) for group in groups]))

    return _by_reference(view, share)


Contains = _measure("Contains", contains, companions=("Words",))


def answered(view: AnswerView) -> Floats:
    r"""Return 1 if a system answered the query, 0 if it said that it cannot, or nothing.

    $$\mathrm{Answered} = [\text{there is an answer that does not abstain}]$$

    An answer abstains if it is empty, or if it is short and says so in words such as "I don't know" (the guide lists them).

    Title: Answered: whether a system gave an answer at all.
    Unlabelled: does not matter.
    Empty: 0 without an answer.
    References: Min et al. FActScore: fine-grained atomic evaluation of factual precision in long form text generation.
        EMNLP 2023. doi:10.18653/v1/2023.emnlp-main.741

    Example:
        >>> answers = {"bot": {"q1": "Paris.", "q2": "I don't know."}}
        >>> judged.evaluate_answers(answers, measures="Answered")["bot"]["Answered"]
        0.5
    """
    return (view.answered & ~view.abstained).astype(float)


Answered = _measure("Answered", answered, values="binary", higher_is_better=None)


def abstention_precision(view: AnswerView) -> Floats:
    r"""Return, for a query that a system abstained from, 1 if it cannot be answered, else 0.

    $$\mathrm{AbstentionPrecision} = [q \text{ cannot be answered}], \quad q \text{ abstained from}$$

    Queries that were answered are left out, so that the mean is the share of the abstentions that were right.

    Title: Abstention precision: how often it was right not to answer.
    Unlabelled: a query of which is not known whether it can be answered has no value.
    Empty: undefined (NaN, left out of the mean and counted) for a query that was answered.
    References: Rajpurkar, Jia and Liang. Know what you don't know: unanswerable questions for SQuAD. ACL 2018.
        doi:10.18653/v1/P18-2124

    Example:
        >>> references = [{"query": "q1", "answerable": "yes", "answer": "Paris"}, {"query": "q2", "answerable": "no"}]
        >>> answers = {"bot": {"q1": "I don't know.", "q2": "I don't know."}}
        >>> judged.evaluate_answers(answers, references=references, measures="AbstentionPrecision")["bot"][
        ...     "AbstentionPrecision"
        ... ]
        0.5
    """
    value = np.where(np.isnan(view.answerable), math.nan, 1.0 - view.answerable)
    return np.where(view.abstained, value, math.nan)


AbstentionPrecision = _measure(
    "AbstentionPrecision", abstention_precision, values="binary", companions=("AbstentionRecall",)
)


def abstention_recall(view: AnswerView) -> Floats:
    r"""Return, for a query that cannot be answered, 1 if a system abstained, else 0.

    $$\mathrm{AbstentionRecall} = [q \text{ abstained from}], \quad q \text{ cannot be answered}$$

    Queries that can be answered are left out, so that the mean is the share of the others that were abstained from.

    Title: Abstention recall: how often a system abstained where there is no answer.
    Unlabelled: a query of which is not known whether it can be answered has no value.
    Empty: undefined (NaN, left out of the mean and counted) for a query that can be answered.
    References: Rajpurkar, Jia and Liang. Know what you don't know: unanswerable questions for SQuAD. ACL 2018.
        doi:10.18653/v1/P18-2124

    Example:
        >>> references = [{"query": "q1", "answerable": "no"}, {"query": "q2", "answerable": "no"}]
        >>> answers = {"bot": {"q1": "I don't know.", "q2": "In 1905."}}
        >>> judged.evaluate_answers(answers, references=references, measures="AbstentionRecall")["bot"][
        ...     "AbstentionRecall"
        ... ]
        0.5
    """
    return np.where(view.answerable == 0, view.abstained.astype(float), math.nan)


AbstentionRecall = _measure(
    "AbstentionRecall", abstention_recall, values="binary", companions=("AbstentionPrecision",)
)
