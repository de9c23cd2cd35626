"""A measure is a value: written, compared, hashed, never changed."""

from __future__ import annotations

import numpy as np
import pytest

from judged.agents.measures import SESSION_MEASURES
from judged.errors import BadMeasure
from judged.kernels.examples import make_ranking
from judged.measures.groups import MEASURES, PREFERENCE_MEASURES, list_groups, registry_for
from judged.measures.parameters import format_value

P, AP, nDCG, RBP = (MEASURES[name] for name in ("P", "AP", "nDCG", "RBP"))


def test_a_measure_prints_as_it_is_written() -> None:
    """Name, parameters in the order of the signature, then what `@` sets."""
    assert str(P(rel=2) @ 5) == "P(rel=2)@5"
    assert str(RBP(rel=1, p=0.9)) == "RBP(p=0.9, rel=1)"
    assert repr(nDCG(gain="exp") @ 10) == 'nDCG(gain="exp")@10'
    assert str(nDCG(gains={2: 9, 1: 3.5})) == "nDCG(gains={1: 3.5, 2: 9})"
    assert str(MEASURES["AP11"](points=(0.5, 0))) == "AP11(points=[0, 0.5])"


def test_measures_with_equal_parameters_are_equal() -> None:
    """However they were given: as default, as integer, in another order."""
    assert P(cutoff=5) == P @ 5
    assert nDCG == nDCG(gain="linear")
    assert P(rel=1.0) @ 5 == P(rel=1) @ 5
    assert hash(RBP(p=0.8)) == hash(RBP)
    assert P @ 5 != P @ 10
    assert AP != "AP"
    assert len({AP, AP(over="relevant"), MEASURES["gm_AP"]}) == 2


def test_giving_parameters_changes_nothing() -> None:
    """A new measure is made each time."""
    ten = nDCG @ 10
    twenty = ten @ 20

    assert (str(nDCG), str(ten), str(twenty)) == ("nDCG", "nDCG@10", "nDCG@20")


def test_none_takes_a_parameter_back() -> None:
    """Where that is its default; elsewhere it is refused."""
    assert (AP @ 10)(cutoff=None) == AP
    assert str(P(rel=2, cutoff=5)(rel=None)) == "P@5"
    with pytest.raises(BadMeasure, match="`p` of RBP must be"):
        RBP(p=None)


def test_numbers_of_numpy_are_numbers() -> None:
    """A cutoff may come out of an array."""
    assert str(P @ np.int64(5)) == "P@5"
    assert str(RBP(p=np.float64(0.5))) == "RBP(p=0.5)"


@pytest.mark.parametrize("value", [True, "5", 0, -1, 2.5, float("nan"), float("inf"), None, [5]])
def test_a_cutoff_is_a_whole_number(value: object) -> None:
    """Nothing else is taken for one."""
    with pytest.raises(BadMeasure, match="`cutoff` of P must be a whole number from 1"):
        P(cutoff=value)


def test_what_must_be_given_is_asked_for() -> None:
    """A measure without what it needs says how to write it."""
    with pytest.raises(BadMeasure, match="P needs `cutoff`") as caught:
        P.per_query(make_ranking([1]))

    assert "write it as `P@10`" in str(caught.value)


def test_words_are_those_of_the_signature() -> None:
    """The same parameter takes other words in another measure."""
    assert P.words["over"] == ("cutoff", "retrieved")
    assert AP.words["over"] == ("relevant", "cutoff")
    assert P.words["rel"] == ()
    assert nDCG(gain="EXP") == nDCG(gain="exp")


def test_values_come_into_one_form() -> None:
    """A table of gains is the same whether it comes as a dict, as pairs or with whole floats."""
    assert dict(MEASURES["nDCG"](gains={2: 9.0, 1.0: 3}).set_parameters)["gains"] == ((1, 3), (2, 9))
    assert dict(MEASURES["nDCG"](gains=((1, 3), (2, 9))).set_parameters)["gains"] == ((1, 3), (2, 9))
    assert format_value(((1.0, 3.5),)) == "{1: 3.5}"


def test_groups_hold_every_measure_once() -> None:
    """The lists of groups are the catalogue."""
    listed = [name for names in list_groups().values() for name in names]

    families = ("neighbour", "routing", "skipping", "reranking", "answer", "click")
    others = [name for family in families for name in registry_for(family)]
    core = [*MEASURES, *PREFERENCE_MEASURES, *registry_for("exposure"), *registry_for("timing")]
    assert listed == [*core, *SESSION_MEASURES, *others]
    for group, names in list_groups().items():
        measures = [registry_for(group)[name] for name in names]
        assert {measure.group for measure in measures} == {group}
        assert len({measure.family for measure in measures}) == 1
        assert [measure.name for measure in measures] == list(names)
