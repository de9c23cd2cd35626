"""Nuggets: how much of what an answer should say it does say, and at what length."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from judged.answers.kernels import AnswerView, harden
from judged.arrays import Floats
from judged.kernels.segments import divide, segment_sum
from judged.measures.measure import Measure
from judged.measures.parameters import Parameter

STRICT = Parameter.flag("whether partial support counts as none")


def nugget_recall(
    view: AnswerView, *, importance: Literal["all", "vital", "weighted"] = "all", strict: bool = False
) -> Floats:
    r"""Return the share of the nuggets of a query that its answer has.

    $$\mathrm{NuggetRecall} = \frac{\sum_i w_i s_i}{\sum_i w_i}$$

    where $s_i$ is 1 for a nugget that the answer supports, ½ for one that it supports in part (0 if `strict`) and 0 for
    one that it lacks; $w_i$ is 1 (`all`), 1 for vital nuggets and 0 for the others (`vital`), or 1 for vital nuggets and
    ½ for the others (`weighted`). The strict recall of vital nuggets is the main score of the TREC 2024 RAG track.

    Title: Nugget recall: how much of what should be said an answer says.
    Unlabelled: counts as no support; the upper bound counts it as support.
    Empty: 0 without an answer. A query without vital nuggets has no recall of them, unless the protocol's `no_vital`
        is `zero`; one without nuggets has no value.
    Agrees with: nuggetizer 0.0.5 (`all_score`, `strict_all_score`; `vital_score` and `strict_vital_score` with
        `no_vital="zero"`); weighted: open-rag-eval 0.3.0, where a query has nuggets of both kinds.
    References: Pradeep et al. Initial nugget evaluation results for the TREC 2024 RAG track with the AutoNuggetizer
        framework. 2024. arXiv:2411.09607.

    Example:
        Of three vital nuggets one is supported and one in part; of two others one is supported:

        >>> labels = {"v1": "support", "v2": "partial_support", "v3": "not_support", "o1": "support", "o2": "not_support"}
        >>> rows = [
        ...     {"query": "q1", "nugget": name, "importance": "vital" if name[0] == "v" else "okay", "label": label}
        ...     for name, label in labels.items()
        ... ]
        >>> answers = judged.evaluate_answers(
        ...     {"bot": {"q1": "An answer."}}, labels=rows, measures="NuggetRecall strict_vital_score"
        ... )
        >>> answers["bot"]["NuggetRecall"], answers["bot"]["strict_vital_score"]
        (0.5, 0.3333...)
    """
    nuggets = view.nuggets
    weight = {
        "all": np.ones(len(nuggets.state)),
        "vital": nuggets.vital.astype(float),
        "weighted": np.where(nuggets.vital, 1.0, 0.5),
    }[importance]
    total = segment_sum(weight, nuggets.offset)
    supported = segment_sum(weight * harden(nuggets.state, strict=strict), nuggets.offset)
    empty = np.where(nuggets.listed, view.no_vital, math.nan)
    return np.where(total > 0, divide(supported, total), empty)


NuggetRecall = Measure(
    "NuggetRecall",
    nugget_recall,
    family="answer",
    zero_if_missing=False,
    conventions=("no_vital",),
    companions=("Words",),
    extra_parameters={
        "importance": Parameter(
            "which nuggets count: all alike, the vital ones alone, or the others half as much (`weighted`)"
        ),
        "strict": STRICT,
    },
)


def words(view: AnswerView) -> Floats:
    r"""Return the number of words of an answer.

    $$\mathrm{Words} = |\{w : w \text{ a word of the answer}\}|$$

    Words are what white space separates, marks of citations left out. Recall rises with length, so it is shown with it.

    Title: Words: how long an answer is.
    Unlabelled: does not matter.
    Empty: 0 without an answer.
    References: Pradeep et al. Initial nugget evaluation results for the TREC 2024 RAG track with the AutoNuggetizer
        framework. 2024. arXiv:2411.09607.

    Example:
        The mark of the citation is not a word:

        >>> judged.evaluate_answers({"bot": {"q1": "Cats chase mice [1]."}}, measures="Words")["bot"]["Words"]
        3.0
    """
    return view.words.astype(float)


Words = Measure(
    "Words",
    words,
    family="answer",
    bounds=(0.0, math.inf),
    unit="words",
    higher_is_better=None,
    zero_if_missing=False,
)
