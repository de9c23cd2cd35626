"""Arrays: scores and grades by group give the numbers of the same rows with ids, and what means nothing is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged import Protocol, evaluate, evaluate_arrays
from judged.errors import BadInput, BadMeasure, WrongKind

SCORES = [0.9, 0.8, 0.8, 0.1, 0.5, 0.4, 0.3, 0.2]
GRADES = [0, 3, 1, 2, 0, 0, 0, 2]
SIZES = [4, 3, 1]
IDS = list("aaaabbbc")
# The worked example, nDCG@3 of the groups a (a tie between grades 3 and 1), b (nothing relevant) and c (one document),
# and the mean, to the digits that each tool prints: LightGBM 4.7.0, XGBoost 3.2.0, CatBoost 1.2.10, scikit-learn 1.9.1
# (`ndcg_score` of the groups a and b; it refuses c), torchmetrics 1.9.0. The first two rows are worked by hand.
WORKED = [
    ("trec_eval-9", "nDCG@3", (0.4475, 0, 1), 0.4825),
    ({"ties": "input-order"}, "nDCG@3", (0.5025, 0, 1), 0.5008),
    ("lightgbm", "ndcg@3", (0.5234, 1, 1), 0.8411),
    ("xgboost", "ndcg@3", (0.5234, 1, 1), 0.8411),
    ("xgboost", "ndcg@3-", (0.5234, 0, 1), 0.5078),
    ("xgboost", "ndcg(ndcg_exp_gain=False)@3", (0.5025, 1, 1), 0.8342),
    ("catboost", "NDCG:top=3", (0.4475, 1, 1), 0.8158),
    ("catboost", "NDCG:top=3;type=Exp", (0.4398, 1, 1), 0.8133),
    ("catboost", "NDCG:top=3;denominator=Position", (0.3462, 1, 1), 0.7821),
    ("sklearn", "ndcg_score(k=3)", (0.4750, 0, 1), 0.4917),
    ("torchmetrics", "RetrievalNormalizedDCG(top_k=3)", (0.4750, 0, 1), 0.4917),
    ("trec_eval-9", "AP@3", (0.3889, 0, 1), 0.4630),
    ("lightgbm", "map@3", (0.3889, 1, 1), 0.7963),
    ("xgboost", "map@3", (0.3889, 1, 1), 0.7963),
    ("catboost", "MAP:top=3", (0.3889, 0, 1), 0.4630),
    ("torchmetrics", "RetrievalMAP(top_k=3)", (0.5833, 0, 1), 0.5278),
]
# The same with the scores of the tied rows exchanged for rows in the other order.
EXCHANGED = [
    ("lightgbm", "ndcg@3", 0.4398),
    ("xgboost", "ndcg(ndcg_exp_gain=False)@3", 0.4475),
    ("catboost", "NDCG:top=3", 0.4475),
    ("sklearn", "ndcg_score(k=3)", 0.4750),
]


@pytest.mark.parametrize(("profile", "name", "groups", "mean"), WORKED)
def test_the_worked_example_has_the_numbers_of_every_tool(
    profile: Any, name: str, groups: tuple[float, ...], mean: float
) -> None:
    """Group by group and in the mean, to four decimals."""
    scored = evaluate_arrays(SCORES, GRADES, SIZES, name, protocol=profile)
    measure = scored.measures[0]

    assert scored.per_query()[measure].round(4).tolist() == list(groups)
    assert round(scored[measure], 4) == mean


@pytest.mark.parametrize(("profile", "name", "value"), EXCHANGED)
def test_the_order_of_tied_rows_matters_where_tools_say_so(profile: str, name: str, value: float) -> None:
    """Input order moves the number of LightGBM and XGBoost, and neither CatBoost's nor scikit-learn's."""
    grades = [0, 1, 3, 2]
    scored = evaluate_arrays(SCORES[:4], grades, group_sizes=[4], measures=name, protocol=profile)

    assert round(scored[scored.measures[0]], 4) == value


def test_arguments_in_the_order_of_other_libraries_are_noticed() -> None:
    """`(y_true, y_score)` gives whole scores and fractional grades, which a note asks about; the right order has none."""
    swapped = evaluate_arrays(GRADES, SCORES, SIZES, "nDCG")
    assert [note.severity for note in swapped.notes if note.code == "swapped"] == ["warning"]
    for scores, grades in ((SCORES, GRADES), (GRADES, GRADES), (SCORES, SCORES), ([np.inf, 1.0], [0.0, 1.0])):
        sizes = SIZES if len(scores) > 2 else [2]
        notes = evaluate_arrays(scores, grades, group_sizes=sizes, measures="nDCG").notes
        assert "swapped" not in [note.code for note in notes]


def test_hopeless_queries_that_score_1_are_counted_in_a_note() -> None:
    """The mean is lifted by their share, so that it is said, and left out where a measure has its own threshold."""
    (note,) = [
        n
        for n in evaluate_arrays(SCORES, GRADES, SIZES, "ndcg@3", protocol="lightgbm").notes
        if n.code == "no-relevant"
    ]
    two = evaluate_arrays(SCORES, GRADES, SIZES, "AP P(rel=3)@1", protocol={"no_relevant": "one"}).notes

    assert note.message == "1 of 3 queries has no relevant document and scores 1"
    assert [n.message for n in two if n.code == "no-relevant"] == [
        "1 of 3 queries has no relevant document and scores 1 in AP",
        "2 of 3 queries have no relevant document and score 1 in P(rel=3)@1",
    ]


rows = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from([0.5, 1.0, 1.0000000001, 2.0, -3.0]), st.sampled_from([-1, 0, 0, 1, 2, 0.5])
        ),
        min_size=1,
        max_size=5,
    ),
    min_size=1,
    max_size=4,
)
PROTOCOLS = st.builds(
    Protocol,
    ties=st.sampled_from(
        ["document-descending", "document-ascending", "input-order", "expected", "pessimistic", "optimistic"]
    ),
    precision=st.sampled_from(["float32", "float64"]),
    no_relevant=st.sampled_from(["zero", "skip", "one"]),
    negative=st.sampled_from(["unjudged", "nonrelevant", "removed"]),
    order=st.sampled_from(["score", "score", "input"]),
    depth=st.sampled_from([None, 2]),
    rel=st.sampled_from([1.0, 2.0]),
) | st.builds(
    Protocol, unjudged=st.just("removed"), ties=st.sampled_from(["input-order", "pessimistic", "expected"])
)
MEASURES = [
    "nDCG@3",
    'nDCG(gain="exp", discount="position")',
    "AP",
    "RR",
    "P@2",
    "Bpref",
    "Judged@2",
    "NumRet",
    "AP_found",
    "Success@1",
]


@settings(max_examples=150, deadline=None)
@given(groups=rows, protocol=PROTOCOLS)
def test_arrays_score_as_rows_with_rising_ids_do(
    groups: list[list[tuple[float, float]]], protocol: Protocol
) -> None:
    """Every query and measure, under any protocol, to the last bit; notes count the same ties."""
    named = {
        f"q{number}": {f"d{place}": row for place, row in enumerate(group)}
        for number, group in enumerate(groups)
    }
    qrels = {query: {name: row[1] for name, row in group.items()} for query, group in named.items()}
    run = {query: {name: row[0] for name, row in group.items()} for query, group in named.items()}
    flat = [row for group in groups for row in group]

    ids = [query for query, group in named.items() for _ in group]
    ours = evaluate_arrays(
        [s for s, _ in flat], [g for _, g in flat], group_ids=ids, measures=MEASURES, protocol=protocol
    )
    theirs = evaluate(qrels, run, MEASURES, protocol=protocol)

    assert ours.per_query().queries.to_pylist() == theirs.per_query().queries.to_pylist()
    for name in theirs:
        assert ours.per_query()[name].tolist() == theirs.per_query()[name].tolist()
    assert tuple(note for note in ours.notes if note.code != "swapped") == theirs.notes


@given(groups=rows, seed=st.integers(0, 99))
def test_permuting_groups_changes_no_value(groups: list[list[tuple[float, float]]], seed: int) -> None:
    """Groups may come in any order, and their rows between those of others, if their own order stays."""
    flat = [(number, *row) for number, group in enumerate(groups) for row in group]
    keys = np.random.default_rng(seed).random(len(groups))
    mixed = sorted(enumerate(flat), key=lambda pair: (pair[0] % 3, keys[pair[1][0]]))
    first: dict[int, list[tuple[int, float, float]]] = {}
    for _, row in sorted(enumerate(flat)):
        first.setdefault(row[0], []).append(row)
    shuffled = [
        first[row[0]].pop(0) for _, row in mixed
    ]  # the slots are mixed, each group's rows stay in order

    def score(table: list[tuple[int, float, float]]) -> dict[str, float]:
        ids, scores, grades = zip(*table, strict=True)
        return (
            evaluate_arrays(scores, grades, group_ids=ids, measures="nDCG", protocol={"ties": "input-order"})
            .per_query()
            .by_query("nDCG")
        )

    assert score(shuffled) == score(flat)


def test_matrices_have_a_group_in_each_row_and_are_never_flattened() -> None:
    """Masked places are no documents, whatever they hold; ids may name the rows."""
    scores = np.array([[0.9, 0.8, 0.8, 0.1], [0.5, 0.4, 0.3, np.nan], [0.2, np.nan, np.nan, np.nan]])
    grades = np.array([[0, 3, 1, 2], [0, 0, 0, -7], [2, 5, 5, 5]])
    mask = np.isfinite(scores)

    plain = evaluate_arrays(SCORES, GRADES, IDS, "nDCG@3")
    scored = evaluate_arrays(scores, grades, ["a", "b", "c"], "nDCG@3", mask=mask)

    assert scored.per_query().by_query("nDCG@3") == plain.per_query().by_query("nDCG@3")
    with pytest.raises(BadInput, match="row 2, column 4: score is nan"):
        evaluate_arrays(scores, grades, measures="nDCG@3")


def test_arrays_of_every_library_are_read() -> None:
    """NumPy, Arrow, pandas, PyTorch in a graph, and what shares its memory by DLPack."""
    expected = evaluate_arrays(SCORES, GRADES, SIZES, "nDCG@3")["nDCG@3"]
    kinds: list[Any] = [np.array, pa.array, lambda values: pa.chunked_array([values[:3], values[3:]])]
    if (torch := pytest.importorskip("torch", reason="PyTorch is not installed")) is not None:
        kinds += [torch.tensor, lambda values: torch.tensor(values, dtype=torch.float64, requires_grad=True)]
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    kinds += [pandas.Series, lambda values: DLPack(np.array(values, dtype=np.float64))]
    kinds += [lambda values: Arrow(pa.array(values)), lambda values: Arrow(pa.chunked_array([values]))]

    for kind in kinds:
        assert evaluate_arrays(kind(SCORES), kind(GRADES), IDS, "nDCG@3")["nDCG@3"] == expected


class Arrow:
    """A column that offers nothing but Arrow's interface."""

    def __init__(self, column: Any) -> None:
        name = "__arrow_c_array__" if isinstance(column, pa.Array) else "__arrow_c_stream__"
        setattr(type(self), name, lambda _, requested_schema=None: getattr(column, name)(requested_schema))

    def __new__(cls, column: Any) -> Any:  # noqa: ARG004 - of `__init__`
        """Return an object of a class of its own, since interfaces are looked up on classes."""
        return super().__new__(type("Column", (cls,), {}))


class DLPack:
    """An array that offers nothing but DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        (([1, 2], [0], [2]), {}, "2 scores and 1 grades, expected a grade for each score"),
        (([1.0, np.nan], [0, 1], [2]), {}, "row 2: score is nan, expected a number"),
        (([1, 2], [0, np.inf], [2]), {}, "row 2: grade is inf, expected a finite number"),
        (([1, 2], [0, 1], [3]), {}, "1 values that add up to 3, expected 2 ids, or sizes that add up to 2"),
        (([1, 2], [0, 1], [1, 1]), {}, "2 values that could be ids of 2 rows, and sizes that add up to 2"),
        (
            ([1, 2], [0, 1]),
            {"group_sizes": [1, 2]},
            "2 sizes that add up to 3, expected 2, one for each score",
        ),
        (([1, 2], [0, 1]), {"group_ids": ["a", None]}, "row 2: group id is None, expected an id"),
        (
            ([1, 2], [0, 1]),
            {"group_ids": [1.0, 1.5]},
            "row 2: group id is 1.5, expected a whole number or text",
        ),
        (([[1, 2]], [[0, 1]]), {"mask": [[True]]}, "a mask of 1 × 1 values for 1 × 2 scores"),
    ],
)
def test_what_means_nothing_is_refused_in_words(arguments: Any, named: dict[str, Any], message: str) -> None:
    """What is wrong, where, what was given and what was expected."""
    with pytest.raises(BadInput) as caught:
        evaluate_arrays(*arguments, measures="nDCG@3", **named)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((["x"], [1], [1]), {}, "the scores are of type `<U1`, expected numbers"),
        ((1.5, [1], [1]), {}, "the scores are of type `float`, expected an array"),
        (
            (np.ma.array([1.0, 2.0], mask=[0, 1]), [1, 2], [2]),
            {},
            "are a masked array, whose mask would be lost",
        ),
        (([1, 2], [0, 1]), {}, "none of `groups`, `group_ids` and `group_sizes` is given, expected one"),
        (([1, 2], [0, 1], [2]), {"group_ids": [1, 1]}, "`groups` and `group_ids` are given, expected one"),
        (([1, 2], [0, 1], [2]), {"mask": [True, True]}, "`mask` is given with one-dimensional scores"),
        (([[1, 2]], [[0, 1]]), {"group_sizes": [2]}, "`group_sizes` is given with matrices"),
    ],
)
def test_arguments_of_another_kind_are_refused(arguments: Any, named: dict[str, Any], message: str) -> None:
    """Text, numbers alone, masks that would be lost, and groups given twice or not at all."""
    with pytest.raises(WrongKind) as caught:
        evaluate_arrays(*arguments, measures="nDCG@3", **named)

    assert message in str(caught.value)


def test_measures_that_need_more_than_grades_are_refused() -> None:
    """Arrays have no intents."""
    with pytest.raises(BadMeasure, match="looks at intents, and arrays have grades alone"):
        evaluate_arrays(SCORES, GRADES, SIZES, "alpha_nDCG@3")


def test_it_is_an_evaluation_like_any_other(tmp_path: Any) -> None:
    """Compared, gated, saved and loaded."""
    rng = np.random.default_rng(3)
    grades, sizes = rng.integers(0, 4, 200), [10] * 20
    one, two = (
        evaluate_arrays(rng.random(200) + grades * weight, grades, sizes, "nDCG@10", name=name)
        for name, weight in (("one", 0.1), ("two", 0.5))
    )
    compared = judged.compare([one, two])
    two.save(tmp_path / "two.json")

    assert compared.evaluations()[1].mean() == two.mean()
    assert judged.load(tmp_path / "two.json").mean() == two.mean()


def test_a_group_without_documents_is_a_query_without_anything() -> None:
    """It scores 0, and 1 where hopeless queries do."""
    for protocol, value in (("trec_eval-9", 0.0), ("lightgbm", 1.0)):
        scored = evaluate_arrays([1.0], [1], group_sizes=[0, 1], measures="nDCG@3", protocol=protocol)
        assert scored.per_query()[scored.measures[0]].tolist() == [value, 1.0]


def test_a_group_without_rows_scores_as_the_libraries_say() -> None:
    """0, or 1 with no relevant document in LightGBM 4.7.0 and XGBoost 3.2.0 (`ndcg@3` of sizes 4, 0, 1: .8411447738803797)."""
    scores, grades, sizes = [0.9, 0.8, 0.8, 0.1, 0.2], [0, 3, 1, 2, 1], [4, 0, 1]
    scored = evaluate_arrays(scores, grades, group_sizes=sizes, measures="ndcg@3", protocol="lightgbm")

    assert scored.mean() == {"ndcg@3": pytest.approx(0.8411447738803797, abs=1e-12)}
    assert scored.per_query().by_query("ndcg@3")["1"] == 1.0
    assert "1 query of the run without any result: scored 0, or 1 where nothing is relevant" in [
        note.message for note in scored.notes
    ]
    assert evaluate_arrays([], [], group_sizes=[], measures="nDCG@3").mean() == {"nDCG@3": 0.0}
    with pytest.raises(BadInput, match="expected whole numbers from 0, got -1"):
        evaluate_arrays(scores, grades, group_sizes=[6, -1], measures="nDCG")
