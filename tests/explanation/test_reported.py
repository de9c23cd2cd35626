"""Another tool's values for every query: read in every layout, compared, and explained by conventions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
import pytrec_eval

import judged
from judged.errors import BadInput, JudgedError, UnknownName
from judged.explanation.reported import Reported, explain_reported

QRELS = {
    "q1": {"a": 2, "b": 1, "c": 0},
    "q2": {"a": 1, "d": 2},
    "q3": {"e": 1},
    "q4": {"f": 1, "g": 2},
}
RUN = {
    "q1": {"c": 3.0, "a": 3.0, "b": 1.0},
    "q2": {"d": 2.0, "x": 1.5, "a": 1.0},
    "q4": {"g": 2.0, "f": 1.0},
}


def pytrec_values(**settings: Any) -> dict[str, dict[str, float]]:
    """What pytrec_eval-terrier 0.5.11 computes."""
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"map", "recip_rank"}, **settings)
    return evaluator.evaluate(RUN)  # type: ignore[no-any-return]


LAYOUTS = ["trec_eval", "query first", "json", "json by measure", "wide csv", "long csv", "jsonl", "parquet"]


def write(layout: str, folder: Path, values: dict[str, dict[str, float]]) -> Path:
    """Write values as a tool would, and return the file."""
    rows = [(query, name, value) for query, own in values.items() for name, value in own.items()]
    if layout == "trec_eval":
        path = folder / "out.txt"
        lines = [f"{name:<22}\t{query}\t{value:.4f}\n" for query, name, value in rows]
        path.write_text("".join(["runid                 \tall\tbm25\n", *lines, "map\tall\t0.9999\n"]))
    elif layout == "query first":
        path = folder / "out.txt"
        path.write_text("".join(f"{query}\t{name}\t{value:.4f}\n" for query, name, value in rows))
    elif layout == "json":
        path = folder / "out.json"
        path.write_text(json.dumps(values))
    elif layout == "json by measure":
        path = folder / "out.json"
        names = {name for own in values.values() for name in own}
        path.write_text(
            json.dumps({name: {query: own[name] for query, own in values.items()} for name in names})
        )
    elif layout == "wide csv":
        path = folder / "out.csv"
        pd.DataFrame.from_dict(values, orient="index").to_csv(path)
    else:
        frame = pd.DataFrame(rows, columns=["query_id", "measure", "value"])
        path = folder / f"out.{layout.removeprefix('long ')}"
        if layout == "jsonl":
            frame.to_json(path, orient="records", lines=True)
        elif layout == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_read(layout: str, tmp_path: Path) -> None:
    """The missing query is explained by `missing=skip`, and the level of relevance by `rel=2`."""
    path = write(layout, tmp_path, pytrec_values(relevance_level=2))
    why = judged.explain(QRELS, RUN, "AP", against=path)

    assert (why.compared, why.unexplained) == (4, 0)
    assert "missing=skip" in why.best
    assert "rel=2" in why.best
    assert {row["query"] for row in why.rows()} == {"q1", "q2", "q3", "q4"} - {
        query for query in ("q4",) if pytrec_values(relevance_level=2)[query]["map"] == 1.0
    }


def test_equal_values_are_as_reported() -> None:
    """A dict of pytrec_eval, of which `missing=skip` is a convention of judged."""
    why = explain_reported(QRELS, RUN, "RR", pytrec_values(), protocol="pytrec_eval")

    assert why.differing == 0
    assert "all 3 queries are as in the reported scores" in str(why)


def test_ties_explain_what_ir_measures_reports_for_rr_with_a_cutoff() -> None:
    """Its `RR@k` orders ties by document id ascending (ir_measures 0.4.3)."""
    run = {"q1": {"a": 3.0, "c": 3.0, "b": 1.0}, "q2": RUN["q2"], "q4": RUN["q4"]}
    metrics = ir_measures.iter_calc([ir_measures.RR @ 10], QRELS, run)
    reported = [{"query_id": m.query_id, "measure": str(m.measure), "value": m.value} for m in metrics]
    why = judged.explain(QRELS, run, "RR@10", against=reported)

    (row,) = why.rows()
    assert (row["query"], row["judged"], row["reported"]) == ("q1", 0.5, 1.0)
    assert row["explained by"] == "ties=document-ascending"
    assert "2 results share the score 3" in str(row["evidence"])


def test_what_no_convention_gives_stays_unexplained() -> None:
    """A value that is made up is counted and named; the others are explained on their own."""
    reported = {query: {"map": own["map"]} for query, own in pytrec_values().items()}
    reported["q2"]["map"] = 0.4242
    why = judged.explain(QRELS, RUN, "AP", against=reported)

    assert why.unexplained == 1
    assert {row["query"]: row["explained by"] for row in why.rows()} == {"q2": None, "q3": "missing=skip"}
    assert [row[:2] for row in why.causes.rows] == [("missing=skip", 1), ("unexplained", 1)]
    assert "unexplained: 1 query" in str(why)


def test_several_causes_are_told_apart() -> None:
    """One query is left out, in another ties are ordered otherwise: each has its own change."""
    reported = {"q1": {"RR": 1.0}, "q2": {"RR": 1.0}, "q4": {"RR": 1.0}}
    why = judged.explain(QRELS, RUN, "RR", against=reported)
    causes = {row["query"]: str(row["explained by"]) for row in why.rows()}

    assert causes["q3"] == "missing=skip"
    assert causes["q1"].startswith(("ties=", "order="))
    assert (why.agreeing, why.compared) == (4, 4)
    assert why.best.count("=") == 2


def test_written_digits_decide_what_is_equal(tmp_path: Path) -> None:
    """Two decimals leave more open than four."""
    path = tmp_path / "out.txt"
    path.write_text("map q1 0.58\nmap q2 0.83\nmap q3 0.00\nmap q4 1.00\n")
    rough = judged.explain(QRELS, RUN, "AP", against=path)
    path.write_text("map q1 0.5800\nmap q2 0.8300\nmap q3 0.0000\nmap q4 1.0000\n")
    exact = judged.explain(QRELS, RUN, "AP", against=path)

    assert (rough.differing, exact.differing) == (0, 2)


def test_a_measure_that_the_file_lacks_is_an_error() -> None:
    """It names the measures that there are; a single column of another name is taken as it is."""
    with pytest.raises(UnknownName, match="no measure in the reported scores is called `P@5`") as caught:
        judged.explain(QRELS, RUN, "P@5", against=pytrec_values())
    alone = judged.explain(QRELS, RUN, "AP", against={"q1": {"score": 0.5833}, "q2": {"score": 0.8333}})

    assert "`map`" in str(caught.value.hint)
    assert alone.compared == 4


def test_queries_without_judgments_are_counted() -> None:
    """They have no value here; if all are such, the file is of other judgments."""
    why = judged.explain(QRELS, RUN, "AP", against={**pytrec_values(), "q9": {"map": 0.5}})
    with pytest.raises(BadInput, match="none of which is judged"):
        judged.explain(QRELS, RUN, "AP", against={"x": {"map": 0.5}})

    assert "without judgments: 1 query" in str(why)


def test_malformed_lines_are_refused(tmp_path: Path) -> None:
    """With their numbers, all at once."""
    path = tmp_path / "out.txt"
    path.write_text("map q1 0.5\nmap q1\n1 2 3 4\n")

    with pytest.raises(JudgedError, match="2 columns, expected three") as caught:
        judged.explain(QRELS, RUN, "AP", against=path)
    assert "out.txt:3" in str(caught.value)


def test_query_and_against_exclude_each_other() -> None:
    """One question at a time."""
    with pytest.raises(JudgedError, match="neither of `query` and `against` is given"):
        judged.explain(QRELS, RUN, "AP")  # type: ignore[call-overload]


def test_it_is_a_result(tmp_path: Path) -> None:
    """Saved and loaded, and converted to a frame."""
    why = judged.explain(QRELS, RUN, "AP", against=pytrec_values())
    why.save(tmp_path / "why.json")
    loaded = judged.load(tmp_path / "why.json")

    assert isinstance(loaded, Reported)
    assert str(loaded) == str(why)
    assert list(why.to_pandas()["query"]) == ["q3"]
