"""Names of measures of sessions: what people write, and in which family it is looked up."""

from __future__ import annotations

import pytest

import judged
from judged.agents.measures import SESSION_MEASURES
from judged.errors import BadMeasure, UnknownName
from judged.measures.groups import MEASURES
from judged.measures.parse import find_measures, parse_measure, parse_measures


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("CG@3", "CG@3"),
        ("cg@LAST", "CG@last"),
        ("CG", "CG@last"),
        ("AvgGain_3", "AvgGain@3"),
        ("avg_gain@3", "AvgGain@3"),
        ("CG(good=3)", "CG(good=3)@last"),
        ("dcg(Discount='ZIPF', good=2)@last", 'DCG(good=2, discount="zipf")@last'),
        ("DCG(discount=0.5)@4", "DCG(discount=0.5)@4"),
        ("G_2", "MarginalGain@2"),
        ("DupR@2", "Dup@2"),
        ("r@2", "R@2"),
        ("recall@2", "Recall@2"),
        ("n", "N"),
        ("iterations_for_all_good_results", "IterationsForAllGoodResults"),
        ('IterationsForAllGoodResults(reference="given")', 'IterationsForAllGoodResults(reference="given")'),
        ("sre-micro@2", "SRE_micro@2"),
        ("gain_per_kilo_token", "GainPerKiloToken@last"),
    ],
)
def test_any_spelling_has_one_canonical_form_that_reads_back(text: str, canonical: str) -> None:
    """Case, underscores and 001's own notation do not matter; `@last` is always written."""
    measure = parse_measure(text, family="session")

    assert str(measure) == canonical
    assert str(parse_measure(canonical, family="session")) == canonical
    assert parse_measure(canonical, family="session") == measure


def test_the_last_iteration_and_none_are_the_same() -> None:
    """`CG`, `CG@last` and the measure itself are equal, and are not `CG@3`."""
    named = {
        parse_measure("CG", family="session"),
        parse_measure("CG@last", family="session"),
        SESSION_MEASURES["CG"],
    }

    assert len(named) == 1
    assert named != {SESSION_MEASURES["CG"] @ 3}


def test_measures_are_values_of_their_package() -> None:
    """Every one by its name, though not at the root, where `DCG` is that of rankings."""
    from judged.agents import measures as session

    assert parse_measure("DCG@3", family="session") == session.DCG @ 3
    assert parse_measure("DCG@3") == judged.measures.DCG @ 3
    assert set(SESSION_MEASURES) <= set(dir(session))
    with pytest.raises(AttributeError, match="no attribute 'AP'"):
        session.AP  # noqa: B018 - looking it up is what fails


def test_one_string_may_hold_several_measures() -> None:
    """Separated by spaces or commas, a comma before a number naming a further iteration; each once."""
    named = parse_measures("CG@1,3 SRR@last, cg@3,srr", family="session")

    assert list(map(str, named)) == ["CG@1", "CG@3", "SRR@last"]
    assert parse_measures([SESSION_MEASURES["CG"] @ 2, "N"], family="session") == [
        SESSION_MEASURES["CG"] @ 2,
        SESSION_MEASURES["N"],
    ]
    assert parse_measures(SESSION_MEASURES["N"], family="session") == [SESSION_MEASURES["N"]]


def test_a_name_is_looked_up_in_the_family_of_what_is_scored() -> None:
    """`DCG@3` of a ranking and of a session are two measures, with the same text."""
    ranked, session = parse_measure("DCG@3"), parse_measure("DCG@3", family="session")

    assert (ranked.family, session.family) == ("ranked", "session")
    assert str(ranked) == str(session)
    assert ranked != session
    assert [measure.family for measure in find_measures("dcg")] == ["ranked", "session"]
    assert [measure.family for measure in find_measures("srr")] == ["session"]
    assert [measure.family for measure in find_measures('nDCG(gain="exp")@5')] == ["ranked"]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("CG@0", "`iteration` of CG must be `last` or a whole number from 1 to 1,000,000, not 0", None),
        ("CG@2.5", "must be `last` or a whole number", None),
        ("CG@first", "`CG@first` is not a measure of sessions", "`CG@last`"),
        ("CG@2@last", "is not a measure of sessions", "`CG@3`"),
        ("CG-l3", "`CG-l3` is not a measure of sessions", "`CG(good=3)@3`"),
        ("CG.3", "`CG.3` is not a measure of sessions", None),
        ("N@3", "N takes no `@`", None),
        ("CG(good=0)", "`good` of CG must be a whole number from 1 to 4, not 0", None),
        ("CG(good=5)", "`good` of CG must be a whole number from 1 to 4, not 5", None),
        ("DCG(discount=1)", "or a number between 0 and 1, not 1", None),
        ('RG(beyond="stop")', "`beyond` of RG must be `hold` or `pad`, not 'stop'", None),
        ("SRR(good=2)", "no parameter of SRR is called `good`", None),
        ("", "is not a measure of sessions", None),
        ("CG@1,2", "names 2 measures where one is wanted", "`CG@1`"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, message: str, hint: str | None) -> None:
    """What was written, and what it could have been."""
    with pytest.raises((BadMeasure, UnknownName)) as caught:
        parse_measure(text, family="session")

    assert message in str(caught.value)
    assert hint is None or hint in str(caught.value)


def test_an_unknown_name_has_a_nearest_one() -> None:
    """Among the measures of sessions, or of all where the family is not known."""
    with pytest.raises(UnknownName, match="no measure of sessions is called `SRQ`"):
        parse_measure("SRQ@3", family="session")
    with pytest.raises(UnknownName, match="did you mean `Coverage`"):
        parse_measure("Coverag", family="session")
    with pytest.raises(UnknownName, match="did you mean `AvgGain`"):
        find_measures("AvgGian")
    with pytest.raises(UnknownName, match="`judged measures` lists them all; for example `CG@3`"):
        parse_measure("xyzzy", family="session")


def test_a_measure_of_the_wrong_family_is_refused() -> None:
    """Of rankings where sessions are scored, and the other way round, by name and as a value."""
    with pytest.raises(
        BadMeasure, match="`AP` is a measure of the family `ranked`, expected one of sessions"
    ):
        parse_measures([MEASURES["AP"]], family="session")
    for measure in ("CG@3", "CG@last", SESSION_MEASURES["CG"] @ 3):
        with pytest.raises(BadMeasure, match="is a measure of sessions, not of ranked results") as caught:
            parse_measures([measure])
        assert "judged.evaluate_sessions" in str(caught.value)
    with pytest.raises(BadMeasure, match="is a measure of sessions, not of ranked results"):
        judged.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["CG@3"])
    with pytest.raises(BadMeasure, match="`@last` of `nDCG@last` is not a positive whole number"):
        parse_measure("nDCG@last")


@pytest.mark.parametrize("nothing", [[], ""])
def test_no_measure_at_all_is_refused(nothing: list[str] | str) -> None:
    """With an example."""
    with pytest.raises(BadMeasure, match="no measure was named"):
        parse_measures(nothing, family="session")


def test_what_is_no_text_is_refused() -> None:
    """A number names nothing."""
    with pytest.raises(BadMeasure, match="must be a Measure or a string, not 3"):
        parse_measures([3], family="session")  # type: ignore[list-item]


def test_a_measure_that_is_defined_cannot_be_pooled() -> None:
    """It gives values and not what they are made of."""
    with pytest.raises(BadMeasure, match="`Shared` cannot be pooled"):
        judged.define("Shared", lambda ranking: ranking.retrieved, aggregate="pooled")
