"""Measures of intents are those of ndeval, query by query, on random judgments and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings, strategies as st

from judged.measures.groups import MEASURES
from judged.scoring.evaluate import evaluate
from judged.tables.judgments import Judgments

pyndeval = pytest.importorskip("pyndeval", reason="pyndeval, which the values come from, is not installed")

# pyndeval 0.0.8 holds ndeval 4.5 and returns its values as doubles, unrounded; what is left is the order of sums.
CLOSE = 1e-9
CUTOFFS = (2, 3, 5, 10, 20)
NAMES = {
    "ERR_IA": "ERR-IA",
    "nERR_IA": "nERR-IA",
    "alpha_DCG": "alpha-DCG",
    "alpha_nDCG": "alpha-nDCG",
    "P_IA": "P-IA",
    "StRecall": "strec",
}
WHOLE = {"NRBP": "NRBP", "nNRBP": "nNRBP", "AP_IA": "MAP-IA"}


@dataclass(frozen=True)
class Diversity:
    """One query: its judgments by intent, and its results, best first."""

    judged: tuple[tuple[int, str, int], ...]
    """Intent, document and grade, by intent."""
    ranked: tuple[str, ...]

    def judgments(self) -> Judgments:
        """The judgments as judged reads them."""
        intent, document, grade = (list(column) for column in zip(*self.judged, strict=True))
        return Judgments.from_columns(["q"] * len(intent), document, grade, intent=intent)

    def ndeval(self, measures: Sequence[str], **settings: float) -> dict[str, float]:
        """What ndeval says; it numbers intents as they come, hence by intent."""
        qrels = [pyndeval.SubtopicQrel("q", str(intent), d, grade) for intent, d, grade in self.judged]
        run = [pyndeval.ScoredDoc("q", d, -float(place)) for place, d in enumerate(self.ranked)]
        values: dict[str, float] = pyndeval.RelevanceEvaluator(qrels, measures, **settings).evaluate(run)["q"]
        return values


@st.composite
def diversities(draw: st.DrawFn) -> Diversity:
    """Up to 25 documents, some judged for several of up to 12 intents, some retrieved."""
    documents = [f"d{number}" for number in range(draw(st.integers(1, 25)))]
    intents = draw(st.lists(st.integers(0, 12), min_size=1, max_size=8, unique=True))
    pairs = [(intent, document) for intent in sorted(intents) for document in documents]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=60, unique=True))
    grade = st.sampled_from([0, 1, 1, 1, 2])
    judged = tuple((intent, document, draw(grade)) for intent, document in sorted(chosen))
    found = draw(st.permutations([*documents, *(f"u{number}" for number in range(5))]))
    return Diversity(judged, tuple(found[: draw(st.integers(1, len(found)))]))


ALPHA = st.sampled_from([0, 0.1, 0.3, 0.5, 0.8, 1])


@settings(max_examples=150, deadline=None)
@given(case=diversities(), alpha=ALPHA, beta=st.sampled_from([0, 0.3, 0.5, 0.9]), rel=st.sampled_from([1, 2]))
def test_agrees_with_ndeval(case: Diversity, alpha: float, beta: float, rel: int) -> None:
    """Every measure, cutoff, α, β and level of relevance; ties in the greedy ideal included."""
    measures, theirs = [], []
    for name, other in NAMES.items():
        given_alpha = {"alpha": alpha} if "alpha" in MEASURES[name].defaults else {}
        measures += [MEASURES[name](rel=rel, **given_alpha) @ cutoff for cutoff in CUTOFFS]
        theirs += [f"{other}@{cutoff}" for cutoff in CUTOFFS]
    for name, other in WHOLE.items():
        own = {} if name == "AP_IA" else {"alpha": alpha, "beta": beta}
        measures.append(MEASURES[name](rel=rel, **own))
        theirs.append(other)
    expected = case.ndeval(theirs, relevance_level=rel, alpha=alpha, beta=beta)
    got = evaluate(case.judgments(), {"q": list(case.ranked)}, measures).mean()

    expected = {name: value if value == value else 0.0 for name, value in expected.items()}  # noqa: PLR0124 - 0 over 0
    assert list(got.values()) == pytest.approx([expected[other] for other in theirs], abs=CLOSE)


@settings(max_examples=25, deadline=None)
@given(case=diversities(), alpha=ALPHA)
def test_at_one_ndeval_forgets_the_number_of_intents(case: Diversity, alpha: float) -> None:
    """Its ERR-IA@1 and alpha-DCG@1 are ours times the number of intents, and may exceed 1."""
    theirs = case.ndeval(["ERR-IA@1", "alpha-DCG@1"], alpha=alpha)
    measures = [MEASURES[name](alpha=alpha) @ 1 for name in ("ERR_IA", "alpha_DCG")]
    got = evaluate(case.judgments(), {"q": list(case.ranked)}, measures).mean()
    intents = len({intent for intent, _, grade in case.judged if grade >= 1})

    assert [value * intents for value in got.values()] == pytest.approx(list(theirs.values()), abs=CLOSE)


def test_the_example_of_pyndeval_comes_out() -> None:
    """The values in pyndeval's own test (version 0.0.8, tests/test_pyndeval.py), to the four digits it has."""
    qrels = {"0": {"A": {"a": 1}, "B": {"b": 1}, "D": {"b": 1}, "C": {"c": 1}}}
    run = {"0": {"A": 9.3, "D": 8.4, "E": 8.1, "B": 7.6}}
    expected = {
        "ERR-IA@5": 0.3933,
        "ERR-IA@20": 0.3907,
        "nERR-IA@10": 0.8297,
        "alpha-DCG@5": 0.4052,
        "alpha-DCG@20": 0.3997,
        "alpha-nDCG@10": 0.7868,
        "NRBP": 0.3906,
        "nNRBP": 0.8620,
        "MAP-IA": 0.5000,
        "P-IA@5": 0.2000,
        "strec@5": 0.6667,
    }
    got = evaluate(qrels, run, list(expected)).mean()

    assert list(got.values()) == pytest.approx(list(expected.values()), abs=1e-4)


@pytest.mark.parametrize("spoiler", ["z", "0"])
def test_of_equal_documents_the_greatest_id_is_ideal(spoiler: str) -> None:
    """Three documents are tied for the first place; only if the spoiler has it, the next is worth less."""
    intents = {spoiler: (1, 3, 7), "b": (3, 4, 6), "a": (1, 2, 5)}
    judged = sorted((intent, name, 1) for name, answered in intents.items() for intent in answered)
    case = Diversity(tuple(judged), ("b", "a"))
    theirs = case.ndeval(["alpha-nDCG@2"])["alpha-nDCG@2"]
    got = evaluate(case.judgments(), {"q": ["b", "a"]}, "alpha_nDCG@2")["alpha_nDCG@2"]

    assert got == pytest.approx(theirs, abs=CLOSE)
    assert (got > 1.01) == (spoiler == "z")
