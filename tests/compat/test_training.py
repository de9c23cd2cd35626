"""Callbacks of training libraries: the number that judged reports, and refusals of what has none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judged import evaluate_arrays
from judged.compat import catboost, lightgbm, xgboost
from judged.errors import BadInput, BadMeasure, WrongKind

SCORES = np.array([0.9, 0.8, 0.8, 0.1, 0.5, 0.4, 0.3, 0.2])
GRADES = np.array([0.0, 3, 1, 2, 0, 0, 0, 2])
SIZES = np.array([4, 3, 1])
IDS = np.repeat(np.arange(3), SIZES)


def dataset(groups: Any = SIZES, weight: Any = None, **params: Any) -> Any:
    """What a callback asks of `lightgbm.Dataset`."""
    return SimpleNamespace(
        get_label=lambda: GRADES, get_group=lambda: groups, get_weight=lambda: weight, params=params
    )


def matrix(cuts: Any = (0, 4, 7, 8), weight: Any = ()) -> Any:
    """What a callback asks of `xgboost.DMatrix`."""
    return SimpleNamespace(
        get_label=lambda: GRADES,
        get_uint_info=lambda name: np.array({"group_ptr": cuts}[name], dtype=np.uint32),
        get_weight=lambda: np.array(weight),
    )


def test_each_library_is_given_the_number_of_its_own_metric() -> None:
    """The worked example, under the profile of the library."""
    metric = catboost.Metric("nDCG@3", group_id=IDS, grades=GRADES)

    assert lightgbm.metric("nDCG@3")(SCORES, dataset()) == ("nDCG@3", pytest.approx(0.8411, abs=1e-4), True)
    assert xgboost.metric("nDCG@3")(SCORES, matrix()) == ("nDCG@3", pytest.approx(0.8411, abs=1e-4))
    value = metric.get_final_error(*metric.evaluate([SCORES], GRADES, None))
    assert value == pytest.approx(0.8158, abs=1e-4)
    assert metric.is_max_optimal()


def test_the_number_is_that_of_the_evaluation_to_the_last_bit() -> None:
    """Under any protocol, by any name."""
    protocol = {"ties": "expected", "no_relevant": "skip"}
    expected = evaluate_arrays(SCORES, GRADES, SIZES, "RR", protocol=protocol)["RR"]

    assert lightgbm.metric("RR", protocol=protocol, name="mrr")(SCORES, dataset()) == ("mrr", expected, True)
    assert lightgbm.ranker_metric("RR", protocol=protocol)(GRADES, SCORES, None, SIZES)[1] == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_predictions_that_are_not_finite_are_refused(bad: float) -> None:
    """Training has diverged; no mean could say so."""
    scores = SCORES.copy()
    scores[5] = bad

    with pytest.raises(BadInput, match="row 6: prediction is"):
        lightgbm.metric("nDCG@3")(scores, dataset())


def test_data_without_groups_is_refused() -> None:
    """A mean over groups needs them."""
    with pytest.raises(BadInput, match="has no groups, and nDCG@3 is a mean over groups"):
        lightgbm.metric("nDCG@3")(SCORES, dataset(None))
    with pytest.raises(BadInput, match=r"`eval_metric=ranker_metric\(…\)`"):
        lightgbm.metric("nDCG@3")(GRADES, SCORES)  # as `LGBMRanker` calls it
    with pytest.raises(BadInput, match="has no groups"):
        lightgbm.ranker_metric("nDCG@3")(GRADES, SCORES, None, None)
    with pytest.raises(BadInput, match="has no groups"):
        xgboost.metric("nDCG@3")(SCORES, matrix(()))
    with pytest.raises(BadInput, match="`XGBRanker` calls `eval_metric` without groups"):
        xgboost.metric("nDCG@3")(GRADES, SCORES)


def test_catboost_recognises_its_data_sets_by_their_grades() -> None:
    """Neither groups nor data sets are passed to it; rows in another order are refused, for their groups are unknown."""
    other = GRADES[::-1].copy()
    metric = catboost.Metric("nDCG@3", group_id=[IDS, IDS[:4]], grades=[GRADES, GRADES[:4]])

    assert metric.evaluate([SCORES[:4]], GRADES[:4], None) == (pytest.approx(0.4475, abs=1e-4), 1.0)
    with pytest.raises(BadInput, match="8 rows in another order than they were given in"):
        metric.evaluate([SCORES], other, None)
    with pytest.raises(BadInput, match="3 rows, expected 8 or 4"):
        metric.evaluate([SCORES[:3]], GRADES[:3], None)
    with pytest.raises(BadInput, match="2 predictions for each row, expected one"):
        metric.evaluate([SCORES, SCORES], GRADES, None)
    with pytest.raises(BadInput, match="3 group ids, expected 8, one for each of the scores"):
        catboost.Metric("nDCG@3", group_id=IDS[:3], grades=GRADES)
    with pytest.raises(BadInput, match="the same grades and different groups"):
        catboost.Metric("nDCG@3", group_id=[IDS, np.zeros(8, dtype=int)], grades=[GRADES, GRADES])
    with pytest.raises(WrongKind, match="no groups are given, and CatBoost passes none"):
        catboost.Metric("nDCG@3")
    with pytest.raises(WrongKind, match="belong together"):
        catboost.Metric("nDCG@3", group_id=IDS)


def test_measures_without_a_direction_cannot_guide_training() -> None:
    """Counts describe, and intents are not in arrays."""
    for name in ("NumRet", "relstring", "alpha_nDCG@3"):
        with pytest.raises(BadMeasure, match="cannot guide training"):
            lightgbm.metric(name, protocol="trec_eval-9")


def test_a_worker_says_which_groups_it_saw() -> None:
    """Each of several workers has a share of the groups, and its number is of these alone; it is said once."""
    metric = lightgbm.metric("nDCG@3")
    with pytest.warns(UserWarning, match=r"nDCG@3 is of the 3 groups \(8 rows\) of one worker of 4"):
        metric(SCORES, dataset(num_machines=4))
    metric(SCORES, dataset(num_machines=4))
    with pytest.warns(UserWarning, match="of one worker of 2"):
        lightgbm.metric("nDCG@3")(SCORES, dataset(machines="a:1,b:1"))


def test_weights_are_not_used_in_silence() -> None:
    """The mean is over groups, each counted once."""
    with pytest.warns(UserWarning, match="nDCG@3 does not use weights"):
        xgboost.metric("nDCG@3")(SCORES, matrix(weight=[1.0, 2.0, 1.0]))


# Models that stop early by judged's number; each library is modest and none is a requirement of the tests.

rng = np.random.default_rng(0)
MANY = rng.integers(1, 20, 300)
FEATURES = rng.normal(size=(int(MANY.sum()), 5))
LABELS = np.clip(np.round(FEATURES[:, 0] + rng.normal(size=len(FEATURES))), 0, 4)
CUT = int(MANY[:200].sum())
TRAIN, VALID = slice(0, CUT), slice(CUT, None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_lightgbm_stops_on_the_number_of_the_evaluation() -> None:
    """Its own `ndcg@10` in every round, and the best one is what judged says of the model afterwards."""
    library = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    data = library.Dataset(FEATURES[TRAIN], LABELS[TRAIN], group=MANY[:200])
    valid = library.Dataset(FEATURES[VALID], LABELS[VALID], group=MANY[200:], reference=data)
    result: dict[str, Any] = {}
    settings = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [10],
        "verbosity": -1,
        "learning_rate": 0.3,
    }
    callbacks = [library.record_evaluation(result), library.early_stopping(10, verbose=False)]
    model = library.train(
        settings,
        data,
        200,
        valid_sets=[valid],
        feval=lightgbm.metric("nDCG@10", name="judged"),
        callbacks=callbacks,
    )
    ours, theirs = (result["valid_0"][name] for name in ("judged", "ndcg@10"))
    scores = model.predict(FEATURES[VALID], num_iteration=model.best_iteration)
    final = evaluate_arrays(
        scores, LABELS[VALID], group_sizes=MANY[200:], measures="nDCG@10", protocol="lightgbm"
    )

    assert ours == pytest.approx(theirs, abs=1e-12)
    assert len(ours) == model.best_iteration + 10
    assert final["nDCG@10"] == pytest.approx(max(ours), abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_xgboost_stops_on_six_decimals_of_the_number_of_the_evaluation() -> None:
    """It passes values on as text with six decimals."""
    library = pytest.importorskip("xgboost", reason="xgboost is not installed")
    ids = np.repeat(np.arange(300), MANY)
    data, valid = (library.DMatrix(FEATURES[part], LABELS[part], qid=ids[part]) for part in (TRAIN, VALID))
    metric, result = xgboost.metric("RR", protocol="trec_eval-9", name="judged"), {}
    model = library.train(
        {"objective": "rank:ndcg"},
        data,
        100,
        evals=[(valid, "valid")],
        custom_metric=metric,
        callbacks=[xgboost.early_stopping(metric, 10)],
        evals_result=result,
        verbose_eval=False,
    )
    ours = result["valid"]["judged"]
    scores = model.predict(valid, iteration_range=(0, model.best_iteration + 1))
    final = evaluate_arrays(scores, LABELS[VALID], group_sizes=MANY[200:], measures="RR")

    assert len(ours) == model.best_iteration + 11
    assert max(ours) == ours[model.best_iteration] == pytest.approx(final["RR"], abs=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_catboost_stops_on_the_number_of_the_evaluation() -> None:
    """Its own `NDCG:top=10` in every round; shuffled rows of ordered boosting are refused."""
    library = pytest.importorskip("catboost", reason="catboost is not installed")
    ids = np.repeat(np.arange(300), MANY)
    data, valid = (library.Pool(FEATURES[part], LABELS[part], group_id=ids[part]) for part in (TRAIN, VALID))
    metric = catboost.Metric("nDCG@10", pools=[data, valid])
    settings = {
        "loss_function": "YetiRank",
        "eval_metric": metric,
        "custom_metric": ["NDCG:top=10"],
        "verbose": 0,
    }
    settings |= {
        "early_stopping_rounds": 10,
        "allow_writing_files": False,
        "thread_count": 2,
        "iterations": 60,
    }
    model = library.CatBoost(settings | {"boosting_type": "Plain"}).fit(data, eval_set=valid)
    found = model.get_evals_result()["validation"]

    assert found["Metric"] == pytest.approx(found["NDCG:top=10;type=Base"], abs=1e-12)
    assert model.get_best_iteration() == int(np.argmax(found["Metric"]))
    with pytest.raises(library.CatBoostError, match="in another order than they were given in"):
        library.CatBoost(settings | {"boosting_type": "Ordered"}).fit(data, eval_set=valid)
