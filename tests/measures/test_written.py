"""Names as users write them: shown as written, found by any name, kept by every file, canonical for machines."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.comparison.api import compare_results
from judged.errors import JudgedError, UnknownName
from judged.measures.groups import SCOPES
from judged.measures.parse import parse_measure, parse_measures
from judged.measures.written import merge_spellings, spell

QRELS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"a": 1}, "q3": {"b": 1, "c": 1}}
OLD = {"q1": {"c": 3.0, "a": 2.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
NEW = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"a": 2.0}, "q3": {"a": 2.0, "c": 1.0}}
RUNS = {"old": OLD, "new": NEW}
FORMATS = ("table", "markdown", "latex")


@pytest.mark.parametrize(
    ("text", "shown", "name"),
    [
        ("Hit@5", "Hit@5", "Success@5"),
        ("hit@5", "hit@5", "Success@5"),
        ("MRR", "MRR", "RR"),
        ("MRR@10", "MRR@10", "RR@10"),
        ("recip_rank", "recip_rank", "RR"),
        ("Recall@20", "Recall@20", "R@20"),
        ("ndcg_cut_10", "ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "ndcg_cut.10", "nDCG@10"),
        ("map@10", "map@10", "AP@10"),
        ("P_5", "P_5", "P@5"),
        ("Precision(rel=2)@5", "Precision(rel=2)@5", "P(rel=2)@5"),
        ("ndcg@10", "nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10", "nDCG@10"),
        ("rr", "RR", "RR"),
        ("p(REL=2, cutoff=5)", "P(rel=2)@5", "P(rel=2)@5"),
        ('nDCG(gain="exp")@10', 'nDCG(gain="exp")@10', 'nDCG(gain="exp")@10'),
        (" MRR ", "MRR", "RR"),
    ],
)
def test_a_known_name_is_shown_as_written_and_a_misspelt_case_as_canonical(
    text: str, shown: str, name: str
) -> None:
    """A measure stays the same value, whatever it is called."""
    measure = parse_measure(text)

    assert (measure.label, str(measure)) == (shown, name)
    assert measure == parse_measure(name)
    assert hash(measure) == hash(parse_measure(name))


@pytest.mark.parametrize(("text", "shown"), [("cg", "CG@last"), ("CG@LAST", "CG@last"), ("cg@3", "CG@3")])
def test_other_families_have_the_same_rule(text: str, shown: str) -> None:
    """`CG` is the name of `CG@last`, in any case."""
    assert parse_measure(text, family="session").label == shown


def test_a_changed_measure_has_its_own_name_again() -> None:
    """What was written says nothing of another cutoff."""
    measure = parse_measure("MRR")

    assert (measure @ 10).label == "RR@10"
    assert measure(rel=2).label == "RR(rel=2)"
    assert measure().label == "MRR"


def test_numbers_after_a_name_make_a_name_each() -> None:
    """As `ndcg_cut_5,10` names two measures."""
    assert [measure.label for measure in parse_measures("ndcg_cut_5,10 P.5,10 Hit@1,5")] == [
        *("ndcg_cut_5", "ndcg_cut_10", "P.5", "P.10", "Hit@1", "Hit@5")
    ]


def test_two_spellings_of_one_measure_are_one_column_under_the_first() -> None:
    """A note says which, and look-ups take both."""
    found = judged.evaluate(QRELS, NEW, "MRR recip_rank RR AP map")

    assert found.keys() == ["MRR", "AP"]
    assert found["MRR"] == found["recip_rank"] == found["RR"] == found[judged.RR]
    assert found["AP"] == found["map"]
    assert [note.message for note in found.notes if note.code == "spellings"] == [
        "MRR is RR; recip_rank is MRR too; map is AP too"
    ]


def test_two_measures_never_share_a_name() -> None:
    """Where a profile means another measure by a canonical name, both are shown in full."""
    found = merge_spellings([parse_measure("AP@10"), spell(parse_measure("R@5"), "AP@10")])

    assert [measure.label for measure in found] == ["AP@10", "R@5"]


def test_a_profile_has_its_own_names() -> None:
    """Exactly as its tool writes them; another case of a canonical name is canonical."""
    ranx = judged.evaluate(QRELS, NEW, "ndcg@10 mrr NDCG@5", protocol="ranx")
    beir = judged.evaluate(QRELS, NEW, "NDCG@10 MRR@10", protocol="beir")

    assert ranx.keys() == ["ndcg@10", "mrr", "nDCG@5"]
    assert beir.keys() == ["NDCG@10", "MRR@10"]
    assert beir["nDCG@10"] == beir["NDCG@10"]
    assert beir["RR@10"] == beir["MRR@10"]


SPELLINGS = sorted(
    name + ("@5" if SCOPES["ranked"][alias.measure].at_parameter == "cutoff" else "")
    for name, alias in SCOPES["ranked"].aliases.items()
    if alias.measure in {"RR", "AP", "Success", "R", "P", "nDCG", "Rprec", "Bpref", "ERR", "DCG"}
    and not alias.explicit
)
"""Names of other tools for measures that every run has a mean of."""
spellings = st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=4, unique=True)


def read_names(texts: list[str]) -> dict[str, str]:
    """Return the canonical name of each name that is shown; skip what the parser refuses."""
    try:
        measures = parse_measures(texts)
    except JudgedError:
        return {}
    return {measure.label: str(measure) for measure in measures if not measure.text}


@settings(max_examples=25, deadline=None)
@given(texts=spellings)
def test_names_survive_every_verb_and_every_file(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Evaluate, compare and gate; saved, and as tables of scores in every format; look-ups take both names."""
    names = read_names(texts)
    if not names:
        return
    folder: Path = tmp_path_factory.mktemp("written")
    evaluations = judged.evaluate_many(QRELS, RUNS, texts)
    compared = judged.compare(list(evaluations.values()), baseline="old", resamples=50)
    report = judged.gate(evaluations["new"], baseline=evaluations["old"], min_delta=-0.01)
    results: list[Any] = [evaluations, compared, report]
    for number, result in enumerate(results):
        result.save(folder / f"{number}.json")
    evaluations_2, compared_2, report_2 = (judged.load(folder / f"{number}.json") for number in range(3))

    for scored in (evaluations, evaluations_2):
        assert scored.first.keys() == list(names)
        assert scored.first.written.keys() >= names.keys()
    for comparison in (compared, compared_2, compare_results({"a": evaluations_2})):
        assert comparison.measures == tuple(names)
        assert comparison.names == names
    for gated in (report, report_2):
        assert list(gated.verdicts) == list(names)
    for label, name in names.items():
        assert evaluations_2["new"][label] == evaluations_2["new"][name] == evaluations["new"][label]
        assert compared_2.mean("new", label) == compared_2.mean("new", name)
        assert report_2[label].measure == report_2[name].measure == label
        assert list(evaluations_2.sort(f"-{label}")) == list(evaluations.sort(f"-{name}"))
    for extension in ("parquet", "csv", "jsonl", "tsv"):
        path = folder / f"scores.{extension}"
        write_scores(evaluations, path)
        again = judged.compare(path, baseline="old", resamples=50)
        assert again.names == names
        assert judged.compare(path, measures=list(names)[::-1], resamples=50).measures == tuple(names)[::-1]


def write_scores(evaluations: Any, path: Path) -> None:
    """Write the scores of every query as a table, as `--per-query` does."""
    from judged.blocks import Display

    content = evaluations.render(path.suffix[1:], Display(per_query=True))
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


TEXTS = "Hit@1 MRR Recall@20"
LABELS = ("Hit@1", "MRR", "Recall@20")
CANONICAL = ("Success@1", "RR", "R@20")


def make_results() -> dict[str, judged.Result]:
    """Return a result of every verb that shows measures, asked for by other names."""
    evaluations = judged.evaluate_many(QRELS, RUNS, TEXTS)
    return {
        "evaluation": judged.evaluate(QRELS, NEW, TEXTS),
        "evaluations": evaluations,
        "comparison": judged.compare(QRELS, RUNS, TEXTS, baseline="old"),
        "every pair": judged.compare(QRELS, {**RUNS, "third": NEW}, TEXTS, also=["friedman", "anova"]),
        "gate": judged.gate(QRELS, NEW, TEXTS, baseline=OLD, min_delta=-0.01),
        "explanation": judged.explain(QRELS, NEW, "MRR", query="q1"),
        "difference": judged.explain_difference(QRELS, NEW, "MRR", against="ties=input-order"),
    }


@pytest.mark.parametrize("name", make_results())
@pytest.mark.parametrize("format", FORMATS)
def test_people_see_the_names_that_they_wrote(name: str, format: str) -> None:  # noqa: A002 - what it is
    """In tables, sentences and charts; the canonical name stands in the notes alone."""
    import re

    from judged.blocks import Display

    result = make_results()[name]
    shown = result.render(format, Display(notes=False))
    text = shown.decode() if isinstance(shown, bytes) else shown
    text = "\n".join(line for line in text.splitlines() if "MRR is RR" not in line)

    assert "MRR" in text
    for canonical in ("Success@1", "R@20"):
        assert canonical not in text
    assert not re.search(r"(?<![MA-Za-z])RR\b", text)


@pytest.mark.parametrize("name", ["evaluation", "evaluations", "comparison", "every pair", "gate"])
def test_the_report_and_the_notebook_show_them_too(name: str) -> None:
    """The data of every page is under the names that are shown."""
    import re

    result = make_results()[name]
    page = result.render("html")
    figures = json.dumps([figure.spec for figure in result.charts()])
    text = page.decode() if isinstance(page, bytes) else page

    assert "MRR" in text
    assert "MRR" in result._repr_html_()
    assert not re.search(r"\bSuccess@1\b", figures)
    if "figures" in figures or "MRR" in figures:
        assert '"RR"' not in figures


def test_tables_for_machines_have_canonical_names_and_the_written_ones_next_to_them() -> None:
    """In the column `measure`; columns of their own are called as they were asked for."""
    results = make_results()
    for name, table in (("evaluations", "means"), ("evaluations", "scores"), ("comparison", "means")):
        rows = results[name].rows(table)

        assert dict.fromkeys((row["written"], row["measure"]) for row in rows) == dict.fromkeys(
            zip(LABELS, CANONICAL, strict=True)
        )
    for table in ("differences", "queries", "answers"):
        assert {row["measure"] for row in results["comparison"].rows(table)} == set(CANONICAL)
    assert [row["measure"] for row in results["gate"].rows("measures")] == list(CANONICAL)
    assert list(results["evaluations"].to_arrow("systems").column_names) == ["system", *LABELS]
    plain = judged.evaluate_many(QRELS, RUNS, "AP nDCG@10")
    assert "written" not in plain.to_arrow("means").column_names
    assert "written" not in plain.to_arrow("scores").column_names


def test_csv_and_json_of_the_command_line(tmp_path: Path) -> None:
    """Golden: what `judged score` prints for the names of the sources."""
    from click.testing import CliRunner

    from judged.cli.main import judged as command

    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    arguments = ["score", str(tmp_path / "qrels"), str(tmp_path / "a.run"), "-m", "Hit@1 Hit@5 MRR Recall@20"]
    shown = CliRunner().invoke(command, arguments)
    wide = CliRunner().invoke(command, [*arguments, "--format", "csv"]).stdout
    long = CliRunner().invoke(command, [*arguments, "--format", "csv", "--per-query"]).stdout

    assert shown.stdout.splitlines()[0].split() == ["system", "Hit@1", "Hit@5", "MRR", "Recall@20"]
    assert "Note: Hit@1 is Success@1; Hit@5 is Success@5; MRR is RR; Recall@20 is R@20" in shown.stderr
    assert wide == "system,Hit@1,Hit@5,MRR,Recall@20\na,0.0,1.0,0.5,1.0\n"
    assert [(row["measure"], row["written"], row["value"]) for row in csv.DictReader(io.StringIO(long))] == [
        ("Success@1", "Hit@1", "0.0"),
        ("Success@5", "Hit@5", "1.0"),
        ("RR", "MRR", "0.5"),
        ("R@20", "Recall@20", "1.0"),
    ]


def test_an_unknown_name_lists_the_names_that_are_shown() -> None:
    """In every look-up."""
    results = make_results()
    for look_up in (
        lambda: results["evaluation"]["AP"],  # type: ignore[index]
        lambda: results["comparison"].mean("new", "AP"),  # type: ignore[attr-defined]
        lambda: results["gate"]["AP"],  # type: ignore[index]
        lambda: results["evaluations"].sort("AP"),  # type: ignore[attr-defined]
    ):
        with pytest.raises(UnknownName, match="MRR") as unknown:
            look_up()
        assert "RR," not in str(unknown.value).replace("MRR", "")


def test_results_that_were_asked_for_by_different_names_are_compared() -> None:
    """By canonical names, under those of the first."""
    old = judged.evaluate(QRELS, OLD, "MRR Hit@1", name="old")
    new = judged.evaluate(QRELS, NEW, "RR hit@1 AP", name="new")
    compared = compare_results({"then": old, "now": new})

    assert compared.names == {"MRR": "RR", "Hit@1": "Success@1"}
    assert judged.compare([new, old], measures="recip_rank").measures == ("recip_rank",)
    assert judged.gate(new, baseline=old, measures="RR").verdicts.keys() == {"RR"}
