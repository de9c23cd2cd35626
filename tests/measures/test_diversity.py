"""Measures of intents: by hand, in exact fractions, beyond ndeval's depth, weighted, and beside each other."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from judged.kernels.examples import make_ranking
from judged.measures.parse import parse_measure
from judged.scoring.evaluate import evaluate

# Three intents. Found: {1, 2}, {2}, unjudged, {1}; missed: {3}, {2, 3}. With α = 1/2 the novelties are 2, 1/2, 0, 1/2.
# Greedy by first listed: {1, 2} 2, then {2, 3} 1 1/2, then {1} or {3} 1/2 each, then {2} 1/4.
VIEW = make_ranking([1, 1, None, 1], missed=[[1, 1]], intents=[[{1, 2}, {2}, {1}, {3}, {2, 3}]])


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("ERR_IA@2", (2 + Fraction(1, 4)) / (3 * (1 + Fraction(1, 4)))),
        (
            "ERR_IA@4",
            (2 + Fraction(1, 4) + Fraction(1, 8))
            / (3 * (1 + Fraction(1, 4) + Fraction(1, 12) + Fraction(1, 32))),
        ),
        ("ERR_IA@1", Fraction(2, 3)),
        ("alpha_DCG@1", Fraction(2, 3)),
        ("alpha_nDCG@1", Fraction(1)),
        ("nERR_IA@2", (2 + Fraction(1, 4)) / (2 + Fraction(3, 4))),
        ("NRBP", (2 + Fraction(1, 4) + Fraction(1, 16)) * Fraction(3, 4) / 3),
        (
            "nNRBP",
            (2 + Fraction(1, 4) + Fraction(1, 16))
            / (2 + Fraction(3, 4) + Fraction(1, 8) + Fraction(1, 16) + Fraction(1, 64)),
        ),
        ("AP_IA", (Fraction(1, 2) * (1 + Fraction(1, 2)) + Fraction(1, 3) * 2) / 3),
        ("P_IA@4", Fraction(2 + 2, 4 * 3)),
        ("StRecall@4", Fraction(2, 3)),
        ("RR_IA", Fraction(2, 3)),
        ("Success_IA@1", Fraction(2, 3)),
    ],
)
def test_values_are_the_exact_fractions(measure: str, expected: Fraction) -> None:
    """Worked out by hand from the novelties above."""
    assert parse_measure(measure).per_query(VIEW)[0] == pytest.approx(float(expected), abs=1e-15)


def test_a_ranking_can_surpass_the_greedy_order() -> None:
    """The greedy order begins with a document that spoils two others; taking those first scores above 1."""
    qrels = {"q": {"z": dict.fromkeys("137", 1), "b": dict.fromkeys("346", 1), "a": dict.fromkeys("125", 1)}}
    got = evaluate(qrels, {"q": ["b", "a"]}, "alpha_nDCG@2")["alpha_nDCG@2"]

    assert got == pytest.approx((3 + 3 / math.log2(3)) / (3 + 2.5 / math.log2(3)), abs=1e-12)


def slow_greedy(judged: dict[str, set[int]], alpha: float) -> list[float]:
    """The novelties of the greedy order, one document at a time; of several the greatest id."""
    left, worth, gains = dict(judged), {}, []
    while left:
        gain = {name: sum(worth.get(i, 1.0) for i in sorted(intents)) for name, intents in left.items()}
        best = max(left, key=lambda name: (gain[name], name.encode()))
        gains.append(gain[best])
        worth |= {i: worth.get(i, 1.0) * (1 - alpha) for i in left.pop(best)}
    return gains


@pytest.mark.parametrize("alpha", [0.3, 0.5])
@pytest.mark.parametrize("cutoff", [21, 50, 100, 1000, None])
def test_any_cutoff_will_do(alpha: float, cutoff: int | None) -> None:
    """Beyond ndeval's 20, the value is what the definition says, document after document."""
    numbers = random.Random(5)  # noqa: S311 - the same documents every time
    judged = {f"d{n}": set(numbers.sample(range(7), numbers.choice([1, 1, 2, 3]))) for n in range(120)}
    found = numbers.sample([*judged, *(f"u{n}" for n in range(80))], 150)
    seen: dict[int, int] = {}
    gains = []
    for name in found:
        gains.append(sum((1 - alpha) ** seen.get(i, 0) for i in judged.get(name, ())))
        seen |= {i: seen.get(i, 0) + 1 for i in judged.get(name, ())}
    sums = [
        sum(gain / math.log2(i + 1) for i, gain in enumerate(ordered[:cutoff], 1))
        for ordered in (gains, slow_greedy(judged, alpha))
    ]
    qrels = {"q": {name: dict.fromkeys(map(str, intents), 1) for name, intents in judged.items()}}
    at = "" if cutoff is None else f"@{cutoff}"
    measure = f"alpha_nDCG(alpha={alpha}){at}"

    assert evaluate(qrels, {"q": found}, measure)[measure] == pytest.approx(sums[0] / sums[1], abs=1e-12)


QRELS = {
    "1": {"a": {"1": 1, "2": 1}, "b": {"2": 1}, "c": {"3": 2}, "d": {"1": 0}},
    "2": {"x": {"1": 1}, "y": {"5": 2, "1": 1}},
}
RUN = {"1": ["u", "b", "a", "v", "d"], "2": ["y", "w"]}


def test_two_alphas_in_one_call_are_both_right() -> None:
    """Each has the value that it has alone; ir_measures 0.4.3 gives 0 for the second."""
    names = ["alpha_nDCG(alpha=0.5)@10", "alpha_nDCG(alpha=0.8)@10"]
    together = evaluate(QRELS, RUN, names)
    alone = [evaluate(QRELS, RUN, name)[name] for name in names]

    assert [together[name] for name in names] == alone
    assert alone[0] != alone[1]
    assert min(alone) > 0


def test_unjudged_documents_can_be_removed() -> None:
    """With `unjudged="removed"` the values are those of a run without them; ir_measures 0.4.3 fails so."""
    from judged.protocol import Protocol

    names = ["alpha_nDCG@5", "ERR_IA@5", "NRBP", "AP_IA", "P_IA@2", "StRecall@1", "nDCG_IA@5"]
    judged_only = {
        query: [document for document in found if document not in "uvw"] for query, found in RUN.items()
    }
    removed = evaluate(QRELS, RUN, names, protocol=Protocol(unjudged="removed"))

    assert removed.mean() == evaluate(QRELS, judged_only, names).mean()
    assert removed.mean() != evaluate(QRELS, RUN, names).mean()


@pytest.mark.parametrize(
    ("one", "other"),
    [("AP_IA", 'IA(of="AP")'), ("P_IA@3", 'IA(of="P@3")'), ("StRecall@2", 'IA(of="Success@2")')],
)
def test_some_are_means_over_intents(one: str, other: str) -> None:
    """A measure with a name of its own equals the general form."""
    result = evaluate(QRELS, RUN, [one, other])

    assert result.scores[one].tolist() == result.scores[other].tolist()


def test_an_intent_is_scored_like_a_query() -> None:
    """nDCG-IA is the mean of nDCG over judgments cut into one file for each intent."""
    apart = {
        f"{query} {intent}": {
            document: grades[intent] for document, grades in documents.items() if intent in grades
        }
        for query, documents in QRELS.items()
        for intent in ("1", "2", "3", "5")
    }
    apart = {name: grades for name, grades in apart.items() if any(grades.values())}
    run = {name: RUN[name.split()[0]] for name in apart}
    whole = evaluate(QRELS, RUN, "nDCG_IA@10").scores['IA(of="nDCG@10")'].tolist()
    parts = dict(zip(apart, evaluate(apart, run, "nDCG@10").scores["nDCG@10"].tolist(), strict=True))

    for query, value in zip(QRELS, whole, strict=True):
        own = [score for name, score in parts.items() if name.split()[0] == query]
        assert value == pytest.approx(sum(own) / len(own), abs=1e-12)


def test_weights_of_intents_count() -> None:
    """An intent of weight 3 counts as three of weight 1 that are answered alike."""
    from judged.tables.judgments import Judgments

    rows = [("1", "a", 3), ("2", "b", 1)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    weighted = Judgments.from_columns(["q", "q"], columns[1], [1, 1], intent=columns[0], weight=columns[2])
    plain = {"q": {"a": dict.fromkeys("134", 1), "b": {"2": 1}}}
    names = [
        "alpha_nDCG@5",
        "alpha_DCG@5",
        "nERR_IA@5",
        "NRBP",
        "nNRBP",
        "AP_IA",
        "P_IA@2",
        "StRecall@1",
        "RR_IA",
    ]
    run = {"q": ["b", "u", "a"]}

    assert evaluate(weighted, run, names).mean() == pytest.approx(
        evaluate(plain, run, names).mean(), abs=1e-12
    )
    assert evaluate(weighted, {"q": ["a"]}, "StRecall@1")["StRecall@1"] == 0.75


def test_a_target_is_the_one_intent_of_a_document() -> None:
    """Where judgments have targets, subtopic recall is diversity recall."""
    from judged.tables.judgments import Judgments

    judgments = Judgments.from_columns(["q"] * 3, ["a", "b", "c"], [1, 1, 1], ["x", "x", None])
    result = evaluate(judgments, {"q": ["a", "b"]}, ["StRecall@2", "DR@2"])

    assert result["StRecall@2"] == result["DR@2"] == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IA(of='DCG@10')", "`of` of IA must be a measure from 0 to 1"),
        (
            "IA(of='alpha_nDCG@10')",
            "that does not look at intents itself",
        ),
        ("NumRel_IA", "`of` of IA must be"),
        ("relstring_IA", "`of` of IA must be"),
        ("IA(of='nDGC')", "no measure is called `nDGC`"),
        ("nonsense_IA@3", "no measure is called `nonsense_IA`"),
        ("IA(of='P')", "complete with its cutoff"),
        ("alpha_nDCG(alpha=2)", "`alpha` of alpha_nDCG must be a number from 0 to 1"),
    ],
)
def test_what_has_no_mean_over_intents_is_refused(text: str, message: str) -> None:
    """Counts, text, sums without bound and measures of intents themselves; and what is no measure at all."""
    from judged.errors import JudgedError

    with pytest.raises(JudgedError, match=message):
        parse_measure(text)
