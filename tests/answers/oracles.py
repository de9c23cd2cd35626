"""The published computations of nuggetizer, RAGChecker and ALCE, written again as plain loops over one answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

Matrix = Sequence[Sequence[bool]]


def nugget_scores(nuggets: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Return the scores of nuggetizer 0.0.5 (`nuggetizer/core/metrics.py`) for pairs of importance and assignment."""

    def share(pairs: Sequence[tuple[str, str]], *, partial: float) -> float:
        total = 0.0
        for _, assignment in pairs:
            if assignment == "support":
                total += 1
            elif assignment == "partial_support":
                total += partial
        return total / len(pairs) if pairs else 0.0

    vital = [pair for pair in nuggets if pair[0] == "vital"]
    return {
        "all_score": share(nuggets, partial=0.5),
        "strict_all_score": share(nuggets, partial=0),
        "vital_score": share(vital, partial=0.5),
        "strict_vital_score": share(vital, partial=0),
    }


def claim_scores(
    true: Sequence[bool], said: Sequence[bool], by_response: Matrix, by_truth: Matrix
) -> dict[str, float]:
    """Return the metrics of RAGChecker 0.1.9 (`ragchecker/computation.py`).

    `true` says which claims of the response the true answer entails, `said` which true claims the response entails; the
    matrices have a row for each claim of the response or of the true answer, and a column for each passage.
    """
    passages = len(by_response[0]) if by_response else len(by_truth[0]) if by_truth else 0
    out = dict.fromkeys(
        ("claim_recall", "context_precision", "context_utilization", "faithfulness", "hallucination"), 0.0
    ) | dict.fromkeys(("self_knowledge", "noise_relevant", "noise_irrelevant"), 0.0)
    out["precision"] = sum(true) / len(true) if true else 0.0
    out["recall"] = sum(said) / len(said) if said else 0.0
    both = out["precision"] + out["recall"]
    out["f1"] = 2 * out["precision"] * out["recall"] / both if out["precision"] and out["recall"] else 0.0
    useful = [any(row[place] for row in by_truth) for place in range(passages)]
    found = [any(row) for row in by_truth]
    if said and passages:
        out["claim_recall"] = sum(found) / len(found)
        out["context_precision"] = sum(useful) / passages
        used = sum(1 for there, stated in zip(found, said, strict=True) if there and stated)
        out["context_utilization"] = used / sum(found) if any(found) else 0.0
    if not true or not passages:
        return out
    for claim, right in enumerate(true):
        holders = [place for place in range(passages) if by_response[claim][place]]
        share = 1 / len(true)
        out["faithfulness"] += share * bool(holders)
        out["hallucination"] += share * (not holders and not right)
        out["self_knowledge"] += share * (not holders and right)
        if said and not right and holders:
            relevant = any(useful[place] for place in holders)
            out["noise_relevant" if relevant else "noise_irrelevant"] += share
    return out


def alce_scores(
    sentences: Sequence[Sequence[str]], entails: Callable[[int, tuple[str, ...]], bool]
) -> tuple[float, float]:
    """Return the citation recall and precision of one answer as ALCE's `eval.py` computes them (`compute_autoais`).

    `sentences` has the citations of each sentence in order; `entails` says whether passages together entail a sentence.
    """
    supported = right = total = 0
    for number, cited in enumerate(sentences):
        if not cited:
            continue
        total += len(cited)
        if not entails(number, tuple(cited)):
            continue
        supported += 1
        if len(cited) == 1:
            right += 1
            continue
        for place, passage in enumerate(cited):
            others = tuple(cited[:place]) + tuple(cited[place + 1 :])
            if entails(number, (passage,)) or not entails(number, others):
                right += 1
    return supported / len(sentences), right / total if total else 0.0


def open_rag_scores(
    sentences: Sequence[Sequence[str]], states: Mapping[tuple[int, str], float]
) -> tuple[float, float]:
    """Return the weighted recall and precision of open-rag-eval 0.3.0 (`metrics/citation_metric.py`)."""
    by_passage: dict[str, list[float]] = {}
    by_sentence: list[list[float]] = []
    for number, cited in enumerate(sentences):
        by_sentence.append([states[number, passage] for passage in cited])
        for passage in cited:
            by_passage.setdefault(passage, []).append(states[number, passage])
    recall = sum(sum(row) / len(row) if row else 0.0 for row in by_sentence) / len(by_sentence)
    means = [sum(row) / len(row) for row in by_passage.values()]
    return recall, sum(means) / len(means) if means else 0.0
