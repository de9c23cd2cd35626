"""The profile `pytrec_eval` says what pytrec_eval says, query by query and in its means."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from profiles.inputs import Case, agrees, cases

pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")

NAMES = [
    "map", "map_cut_3", "recip_rank", "P_5", "recall_3", "relative_P_5", "success_1", "Rprec", "Rprec_mult_0.40",
    "iprec_at_recall_0.30", "11pt_avg", "ndcg", "ndcg_cut_3", "ndcg_rel", "Rndcg", "G", "binG", "bpref", "infAP",
    "set_P", "set_recall", "set_relative_P", "set_map", "set_F", "set_F_2.0", "utility", "num_ret", "num_rel",
    "num_rel_ret", "num_nonrel_judged_ret", "num_q",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(data=st.data())
def test_says_what_the_tool_says(name: str, data: st.DataObject) -> None:
    """Ties at single precision, missing, unjudged and empty queries, graded judgments."""
    # pytrec_eval divides by zero where these measures meet an empty list
    case = data.draw(cases(empty=name not in {"iprec_at_recall_0.30", "11pt_avg"}))
    found = pytrec_eval.RelevanceEvaluator(case.qrels, {name}).evaluate(case.run)
    queries = {query: next(iter(values.values())) for query, values in found.items()}
    mean = pytrec_eval.compute_aggregated_measure(name, list(queries.values()))

    agrees(case, "pytrec_eval", name, queries, mean)


@pytest.mark.parametrize("name", ["map", "ndcg_cut_3", "bpref", "infAP", "recall_3", "num_rel_ret"])
@settings(max_examples=15)
@given(case=cases(grades=(-2, -1, 0, 1, 2), relevant=True))
def test_says_what_the_tool_says_of_negative_grades(name: str, case: Case) -> None:
    """A negative grade is an unjudged document."""
    found = pytrec_eval.RelevanceEvaluator(case.qrels, {name}).evaluate(case.run)
    queries = {query: values[name] for query, values in found.items()}

    agrees(
        case,
        "pytrec_eval",
        name,
        queries,
        pytrec_eval.compute_aggregated_measure(name, list(queries.values())),
    )


@pytest.mark.parametrize("name", ["gm_map", "gm_bpref"])
@settings(max_examples=15)
@given(case=cases())
def test_says_what_the_tool_says_of_geometric_means(name: str, case: Case) -> None:
    """The tool gives logarithms for queries, so only the aggregate is compared."""
    found = pytrec_eval.RelevanceEvaluator(case.qrels, {name}).evaluate(case.run)
    logarithms = [values[name] for values in found.values()]

    agrees(case, "pytrec_eval", name, None, pytrec_eval.compute_aggregated_measure(name, logarithms))


@settings(max_examples=15)
@given(case=cases())
def test_a_threshold_is_the_relevance_level_of_the_tool(case: Case) -> None:
    """`P(rel=2)@5` is what `relevance_level=2` makes of `P_5`."""
    found = pytrec_eval.RelevanceEvaluator(case.qrels, {"P_5"}, relevance_level=2).evaluate(case.run)
    queries = {query: values["P_5"] for query, values in found.items()}

    agrees(case, "pytrec_eval", "P(rel=2)@5", queries, sum(queries.values()) / len(queries))
