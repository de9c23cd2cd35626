"""What the ranks add sums up to the value, for every measure, on whatever view; and so do filled-in formulas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.explanation.lists import cut_lists, cut_values, select_query, with_every_result
from judged.kernels.ranked.ranking import Ranking
from judged.measures.groups import MEASURES
from support.strategies import Query, queries, variants, view

NUMBERS = [name for name in MEASURES if not MEASURES[name].text]
TERMS = [name for name in MEASURES if MEASURES[name].terms is not None]
EVERY = pytest.mark.parametrize("name", NUMBERS)
few = settings(max_examples=20)


@EVERY
@few
@given(data=st.data(), query=queries(), other=queries())
def test_cuts_end_with_the_value(name: str, data: st.DataObject, query: Query, other: Query) -> None:
    """The list cut after all results scores what the query scores; so all that ranks add sums up."""
    measure = data.draw(variants(MEASURES[name]))
    both = view([other, query])
    cuts = cut_values(measure, both, 1)

    assert len(cuts) == len(query.found) + 1
    assert cuts[-1] == pytest.approx(measure.per_query(both)[1], rel=1e-12, abs=1e-12)
    assert cuts[0] + np.diff(cuts).sum() == pytest.approx(cuts[-1], abs=1e-9)


@EVERY
@few
@given(data=st.data(), query=queries())
def test_a_cut_is_the_shorter_list(name: str, data: st.DataObject, query: Query) -> None:
    """Cutting after some results scores as a list that never had the others, which are missed then."""
    measure = data.draw(variants(MEASURES[name]))
    depth = data.draw(st.integers(0, len(query.found)))
    lost = tuple(grade for grade in query.found[depth:] if grade is not None)
    shorter = replace(query, found=query.found[:depth], missed=lost + query.missed)

    assert cut_values(measure, view([query]))[depth] == pytest.approx(measure.per_query(view([shorter]))[0])


@given(query=queries(), data=st.data())
def test_many_cuts_at_once_are_the_same_as_one_by_one(query: Query, data: st.DataObject) -> None:
    """Blocks of cuts are put together without a seam."""
    whole = view([query])
    first = data.draw(st.integers(0, len(query.found)))
    cuts = np.arange(first, len(query.found) + 1)
    some: Ranking = cut_lists(whole, np.zeros_like(cuts), cuts)

    assert some.retrieved.tolist() == list(range(first, len(query.found) + 1))
    assert select_query(some, 0).rank.tolist() == [rank for rank in whole.rank.tolist() if rank <= first]


def test_measures_with_terms() -> None:
    """No measure has lost its terms."""
    assert len(TERMS) == 38


@pytest.mark.parametrize("name", TERMS)
@few
@given(data=st.data(), query=queries())
def test_filled_in_formulas_give_the_value(name: str, data: st.DataObject, query: Query) -> None:
    """The formula, computed from the numbers that it shows, is the value of the measure; columns have a value for every rank."""
    measure = data.draw(variants(MEASURES[name]))
    own = view([query])
    assert measure.terms is not None
    terms = measure.terms(with_every_result(own, query.found), **measure.parameters)
    value = measure.per_query(own)[0]

    assert all(len(column) == len(query.found) for column in terms.columns.values())
    if terms.formula is not None:
        text = terms.formula.filled.replace("×", "*").replace("−", "-")
        computed = eval(text.format(*map(repr, map(float, terms.formula.numbers))))  # noqa: S307 - our own formula
        assert computed == pytest.approx(value, abs=1e-9)


@EVERY
@few
@given(data=st.data(), query=queries())
def test_an_explanation_holds_the_value_that_evaluate_gives(
    name: str, data: st.DataObject, query: Query
) -> None:
    """From tables to explanation: the rows and the empty list sum up to the score."""
    measure = data.draw(variants(MEASURES[name]))
    found = {f"d{i}": grade for i, grade in enumerate(query.found) if grade is not None}
    graded = {**found, **{f"m{i}": grade for i, grade in enumerate(query.missed)}}
    intents = dict(zip(graded, query.by_intent, strict=True))
    qrels: dict[str, dict[str, Any]] = {"q": intents if measure.needs == "intents" else graded}
    run = {"q": {f"d{i}": float(-(i // 2)) for i in range(len(query.found))}}
    if not qrels["q"]:
        return
    result = judged.explain(qrels, run, measure, query="q")

    assert result.value == judged.evaluate(qrels, run, [measure]).scores[measure][0]
    if run["q"]:
        assert result.empty + sum(row["adds"] for row in result.rows()) == pytest.approx(
            result.value, abs=1e-9
        )


protocols = st.fixed_dictionaries(
    {},
    optional={
        "ties": st.sampled_from(["document-ascending", "input-order"]),
        "precision": st.just("float64"),
        "unjudged": st.just("removed"),
        "rel": st.sampled_from([0.0, 2.0]),
        "depth": st.integers(1, 6),
        "order": st.just("input"),
        "negative": st.sampled_from(["nonrelevant", "removed"]),
        "self_matches": st.just("removed"),
    },
)


@given(
    grades=st.dictionaries(st.sampled_from("abcdefgq"), st.sampled_from([-1, 0, 1, 2]), min_size=1),
    scores=st.dictionaries(st.sampled_from("abcdefgq"), st.sampled_from([1.0, 2.0, 2.00000001]), min_size=1),
    given_=protocols,
    measure=st.sampled_from(["nDCG@3", "AP", "Bpref", "RBP", "SetP", "Judged@5", "infAP", "Q", "INST(T=1)"]),
)
def test_every_protocol_is_explained(grades: Any, scores: Any, given_: Any, measure: str) -> None:
    """Whatever the conventions, the ranking shown is the one that was scored."""
    protocol = judged.Protocol(**given_)
    result = judged.explain({"q": grades}, {"q": scores}, measure, query="q", protocol=protocol)

    assert (
        result.value == judged.evaluate({"q": grades}, {"q": scores}, [measure], protocol=protocol)[measure]
    )
    assert result.empty + sum(row["adds"] for row in result.rows()) == pytest.approx(result.value, abs=1e-9)
    if result.formula is not None and result.rows():
        assert result.formula.value == pytest.approx(result.value, abs=1e-9)
