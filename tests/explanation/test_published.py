"""`explain_published` finds the conventions that give a number, with the fewest changes, and claims no proof."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.errors import BadMeasure
from judged.result import load

QRELS = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"a": 1, "e": 2}, "q3": {"x": 1}}
RUN = {"q1": {"b": 3.0, "u": 2.0, "a": 1.0}, "q2": {"a": 2.0, "e": 2.0, "f": 1.0}}


def found(measure: str, published: str | float, **settings: Any) -> list[str]:
    """What has to be changed to get the number."""
    result = judged.explain_published(QRELS, RUN, measure, published, **settings)
    return [row["changed"] for row in result.rows()]


def test_the_number_itself_needs_no_change() -> None:
    """RR: q1 1, q2 1 (both are relevant), q3 missing: 2/3."""
    result = judged.explain_published(QRELS, RUN, "RR", "0.6667")

    assert result.rows() == [
        {"changes": 0, "changed": "nothing", "measure": "RR", "value": pytest.approx(2 / 3)}
    ]
    assert str(result).splitlines()[-1] == "the conventions as given match"


def test_one_change_is_found_before_two() -> None:
    """Leaving out the missing query makes RR 1; so do the profiles that do that."""
    result = judged.explain_published(QRELS, RUN, "RR", "1.0000")

    assert {row["changes"] for row in result.rows()} == {1}
    assert {"missing=skip", "profile=pytrec_eval (missing=skip)"} <= {row["changed"] for row in result.rows()}


def test_the_gain_of_a_measure_is_among_the_changes() -> None:
    """q1 with gains 1, 0, 7 at ranks 1 to 3: 4.5/7.6309; q2: (3 + 1/log₂3)/(3 + 1/log₂3) = 1; mean of three 0.5299."""
    assert "gain=exp" in found("nDCG@10", "0.5299")


def test_two_changes_are_found() -> None:
    """At the first rank q1 has 1/7 with that gain, q2 has 1: 0.3810."""
    assert "cutoff=1, gain=exp" in found("nDCG@10", "0.3810")


def test_a_training_library_is_found_by_its_conventions() -> None:
    """Ties in input order, q2 then having (1 + 3/log₂3)/(3 + 1/log₂3): 0.4621 is LightGBM's `ndcg@10`."""
    assert any(change.startswith("profile=lightgbm (") for change in found("nDCG@10", "0.4621"))


def test_a_profile_says_what_it_changes() -> None:
    """The exponential gain over the two queries that have results, 0.7949, is gdeval.pl's."""
    (result,) = found("nDCG@10", "0.7949")

    assert result.startswith("profile=gdeval (")
    assert {"missing=skip", "gain=exp"} <= set(result.removesuffix(")").partition("(")[2].split(", "))


def test_printed_digits_say_how_exactly_a_number_is_known() -> None:
    """0.67 holds for 0.6667, 0.670 does not; a float has the digits that Python prints."""
    assert found("RR", "0.67") == found("RR", 0.67) == ["nothing"]
    assert "nothing" not in found("RR", "0.670", changes=0)


@pytest.mark.parametrize("published", ["66.67", "66.67%", " 66.7 % "])
def test_percentages_are_understood(published: str) -> None:
    """A number above 1 for a measure up to 1, or one with its sign."""
    result = judged.explain_published(QRELS, RUN, "RR", published)

    assert result.rows()[0]["changed"] == "nothing"
    assert f"{published.strip()} was taken as a percentage" in str(result)


def test_where_nothing_matches_the_nearest_is_shown() -> None:
    """With its distance, how many were tried, and how likely a chance match is there."""
    result = judged.explain_published(QRELS, RUN, "RR", "0.1234", changes=1)
    distances = [abs(row[-1]) for row in result.nearest.rows]  # type: ignore[arg-type]

    assert result.rows() == []
    assert distances == sorted(distances)
    assert "no combination that was tried gives the published number" in str(result)
    assert f"{result.tried} combinations were tried; no other number near 0.1234 matches one of them" in str(
        result
    )
    assert result.chance == 0


def test_other_orders_of_ties_may_give_it() -> None:
    """One relevant document of three tied ones: RR is 1/3, 1/2 or 1; no rule of the search gives 1/2 here."""
    run = {"q": {"b": 1.0, "c": 1.0, "a": 1.0}}
    result = judged.explain_published({"q": {"c": 1}}, {"q": {**run["q"], "d": 1.0}}, "RR", "0.7000")

    assert result.orders == (0.25, 1.0)
    assert "the orders of tied results give values from 0.2500 to 1.0000: some order may give it" in str(
        result
    )


@pytest.mark.parametrize("published", ["about 0.7", "", "0,7", "170", "-0.1", "1.2e3"])
def test_what_the_measure_cannot_be_is_refused(published: str) -> None:
    """No number, or none that the measure can have."""
    with pytest.raises(BadMeasure):
        judged.explain_published(QRELS, RUN, "RR", published)


def test_every_match_gives_the_number_when_it_is_asked_for() -> None:
    """What a match states, `evaluate` confirms."""
    result = judged.explain_published(QRELS, RUN, "nDCG@10", "0.3810")

    assert result.rows()
    for row in result.rows():
        given = dict(change.split("=") for change in row["changed"].split(", "))
        fields = {name: value for name, value in given.items() if name in judged.Protocol().to_dict()}
        ends = judged.evaluate(QRELS, RUN, [row["measure"]], protocol=judged.Protocol().replace(**fields))
        assert round(ends[row["measure"]], 4) == 0.3810, row


def test_the_threshold_behind_a_real_run_is_found(shared_data: Callable[[str], Path], tmp_path: Path) -> None:
    """TREC Deep Learning counts a passage as relevant from grade 2: trec_eval's `-l 2 -m map_cut.100` gives 0.2476."""
    folder = shared_data("dl19_dl20_runs")
    with tarfile.open(folder / "runs.tar.gz") as runs:
        runs.extract("retrieve/BM25__trec_results_dl19.txt", tmp_path, filter="data")
    run = tmp_path / "retrieve" / "BM25__trec_results_dl19.txt"
    result = judged.explain_published(folder / "qrels.dl19-passage.txt", run, "AP@100", "0.2476")

    assert [row["changed"] for row in result.rows()] == ["rel=2"]


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    """What comes back prints the same."""
    result = judged.explain_published(QRELS, RUN, "RR", "66.67%")
    result.save(tmp_path / "result.json")
    loaded = load(tmp_path / "result.json")

    assert isinstance(loaded, judged.explanation.published.Published)
    assert (str(loaded), loaded.to_dict()) == (str(result), result.to_dict())
