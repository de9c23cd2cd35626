"""Profiles: names of a tool become measures and protocols, and what it has not is refused in words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from judged import PROFILES, Protocol, evaluate
from judged.cli.main import judged
from judged.errors import BadMeasure, UnknownName
from judged.profiles.profile import as_profile

EVERY = pytest.mark.parametrize("name", list(PROFILES))
QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
RUN = {"1": {"a": 2.0, "b": 1.0}}


@EVERY
def test_every_profile_says_what_it_imitates_and_what_not(name: str) -> None:
    """Tool, call and departures are stated, and no name is listed twice for one thing."""
    profile = PROFILES[name]

    assert profile.name == name
    assert profile.tool
    assert profile.about
    assert profile.caveats
    assert len(
        {(spelling.example, str(spelling.kind), spelling.number) for spelling in profile.spellings}
    ) == len(profile.spellings)


@EVERY
def test_every_spelling_can_be_read_back(name: str) -> None:
    """A name with 10 for its number is read as the measure that it names."""
    profile = PROFILES[name]
    for spelling in profile.spellings:
        written = spelling.example.translate(str.maketrans("", "", "[]"))
        for sign, number in {
            "@k": "@10",
            "_k": "_10",
            "_x": "_0.5",
            "@x": "@0.5",
            ".pp": ".80",
            "=r": "=1",
            "=k": "=10",
            "@k-": "@10-",
        }.items():
            written = (
                written.removesuffix(sign) + number
                if written.endswith(sign)
                else written.replace(f"{sign})", f"{number})")
            )

        assert profile.read(written).measure.name == spelling.measure


@EVERY
def test_what_is_usual_can_be_read(name: str) -> None:
    """What a tool computes unasked is among its measures."""
    profile = PROFILES[name]

    assert len(profile.read_all(profile.default_measures or ("nDCG@10", "AP"))) >= 1


def test_a_name_of_ours_means_what_the_tool_means_by_it() -> None:
    """Gdeval's nDCG is exponential, and its ERR knows grades up to 4."""
    gdeval = PROFILES["gdeval"]

    assert str(gdeval.read("nDCG@10").measure) == 'nDCG(gain="exp")@10'
    assert str(gdeval.read("ERR@5").measure) == "ERR(max_grade=4)@5"


@pytest.mark.parametrize(
    ("profile", "name"), [("msmarco", "AP"), ("gdeval", 'nDCG(gain="linear")@10'), ("ranx", "nonsense")]
)
def test_what_a_tool_has_not_is_refused_with_what_it_has(profile: str, name: str) -> None:
    """The error names the profile, the measure, and every name there is."""
    with pytest.raises(BadMeasure) as caught:
        PROFILES[profile].read(name)

    assert f"the profile `{profile}` has no measure `{name}`" in str(caught.value)
    assert PROFILES[profile].spellings[-1].example in str(caught.value)


def test_a_measure_that_needs_a_cutoff_there_is_shown_with_one() -> None:
    """LightGBM has `map@k` alone."""
    with pytest.raises(BadMeasure, match="hint: it needs a cutoff there: `map@10`; it has ndcg@k, map@k"):
        PROFILES["lightgbm"].read("map")


def test_an_unknown_profile_is_named() -> None:
    """With the nearest there is."""
    with pytest.raises(UnknownName, match="did you mean `ranx`"):
        evaluate(QRELS, RUN, "AP", protocol="ranxx")


def test_one_evaluation_may_hold_measures_of_several_protocols() -> None:
    """BEIR's nDCG leaves out the missing query, its MRR counts it as 0; each part says so."""
    made = evaluate(QRELS, RUN, ["NDCG@10", "MRR@10", "P@10"], protocol="beir")
    scores = made.per_query()

    assert made.mean() == {"NDCG@10": 1.0, "MRR@10": 0.5, "P@10": 0.1}
    assert made["MRR@10"] == 0.5
    assert np.isnan(scores.by_query("nDCG@10")["2"])
    assert scores.by_query("RR@10") == {"1": 1.0, "2": 0.0}
    assert [part.protocol.missing for part in made.parts] == ["skip", "zero"]
    assert made.part(made.measures[1]).units == 2


def test_one_protocol_has_one_part() -> None:
    """An evaluation under a protocol, or a profile that has one, is as it always was."""
    plain = evaluate(QRELS, RUN, "AP", protocol=Protocol(missing="skip"))

    assert len(plain.parts) == 1
    assert plain.profile is None
    assert plain["AP"] == evaluate(QRELS, RUN, "map", protocol="pytrec_eval")["map"] == 1.0


def test_a_profile_can_be_departed_from() -> None:
    """A convention set by the user holds for every measure of the tool."""
    zero = PROFILES["pytrec_eval"].replace(missing="zero")

    assert evaluate(QRELS, RUN, "map", protocol=zero)["map"] == 0.5
    assert str(zero) == "pytrec_eval (pytrec_eval-terrier 0.5.11), missing=zero"
    with pytest.raises(UnknownName):
        zero.replace(nothing="at all")


def test_a_protocol_reads_every_measure() -> None:
    """A profile made of a protocol has no names of its own."""
    assert str(as_profile(Protocol(depth=5)).read("ndcg_cut_3").measure) == "nDCG@3"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"order": "input"}, 0.5),
        ({"unjudged_queries": "zero"}, 2 / 3),
        ({"no_relevant": "skip"}, 1.0),
        ({"self_matches": "removed"}, 1.0),
        ({}, 1.0),
    ],
)
def test_later_conventions_do_what_they_say(changes: dict[str, str], expected: float) -> None:
    """By hand: query 1 has its own id among its results, query 9 was never judged."""
    qrels = {"1": {"a": 1}, "2": {"b": 1}}
    run = {"1": {"1": 1.0, "a": 2.0}, "2": {"c": 1.0, "b": 2.0}, "9": {"a": 1.0}}

    assert evaluate(qrels, run, "RR", protocol=Protocol(**changes))["RR"] == pytest.approx(expected)  # type: ignore[arg-type]


def test_queries_without_a_relevant_document_may_be_left_out() -> None:
    """Two queries, one of them without a relevant document: 1/2, or 1."""
    qrels, run = {"1": {"a": 1}, "2": {"a": 0}}, {"1": {"a": 1.0}, "2": {"a": 1.0}}
    skipped = evaluate(qrels, run, "AP", protocol=Protocol(no_relevant="skip"))

    assert evaluate(qrels, run, "AP")["AP"] == 0.5
    assert skipped["AP"] == 1.0
    assert list(map(str, skipped.notes)) == ["1 query without any relevant document: left out"]


def test_negative_grades_may_be_judgments() -> None:
    """One of two results has a negative grade: half of them judged, or all."""
    qrels, run = {"1": {"a": 1, "b": -1}}, {"1": {"a": 2.0, "b": 1.0}}

    assert evaluate(qrels, run, "Judged")["Judged"] == 0.5
    assert evaluate(qrels, run, "Judged", protocol=Protocol(negative="nonrelevant"))["Judged"] == 1.0


def test_removed_documents_are_counted() -> None:
    """A note counts the results with the id of their query."""
    made = evaluate(
        {"1": {"a": 1}}, {"1": {"1": 2.0, "a": 1.0}}, "RR", protocol=Protocol(self_matches="removed")
    )

    assert made["RR"] == 1.0
    assert "1 result has the id of the query: removed" in list(map(str, made.notes))


@EVERY
def test_the_command_line_lists_a_profile(name: str) -> None:
    """As text and as JSON."""
    result = CliRunner().invoke(judged, ["measures", "--profile", name])
    document = json.loads(
        CliRunner().invoke(judged, ["measures", "--profile", name, "--format", "json"]).stdout
    )

    assert result.exit_code == 0
    assert "Not imitated:" in result.stdout
    assert document["name"] == name
    assert len(document["measures"]) == len(PROFILES[name].spellings)


def test_the_command_line_names_the_protocol_of_every_number(tmp_path: Path) -> None:
    """Under BEIR's profile two protocols are printed, each with its measures, and JSON holds both."""
    (tmp_path / "q").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1.0 tag\n")
    command = ["score", str(tmp_path / "q"), str(tmp_path / "r"), "--profile", "beir"]
    result = CliRunner().invoke(judged, command)
    document = json.loads(CliRunner().invoke(judged, [*command, "--per-query", "--format", "json"]).stdout)

    assert "Profile: beir (beir 2.2.0)" in result.stderr
    assert "Protocol of MRR@10: custom protocol (ties in input order" in result.stderr
    assert document["profile"] == "beir (beir 2.2.0)"
    assert [protocol["missing"] for protocol in document["provenance"]["protocols"]] == ["skip", "zero"]
    rows = document["tables"]["scores"]
    assert {row["value"] for row in rows if (row["query"], row["measure"]) == ("2", "nDCG@10")} == {None}
