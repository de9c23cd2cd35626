"""Pages and their JSON twins show what the library says, newest first, and follow their files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judged
from judged.comparison.api import compare_results
from judged.errors import BadMeasure, BadSample
from judged.web.live import Folder, Input, Live, saved_input
from judged.web.serve import make_server
from support.viewer import QRELS, RUNS, Running, compare, run_server, run_viewer, score, wait_for


def test_a_folder_lists_its_saved_results_the_newest_first(viewer: Running) -> None:
    """Other files, and JSON that is not a result, are left out."""
    listed = json.loads(viewer.ask("/index.json").body)["results"]

    assert [(one["name"], one["kind"]) for one in listed] == [
        ("comparison.json", "comparison"),
        ("tuesday.json.gz", "evaluations"),
        ("monday.json", "evaluations"),
    ]
    assert [one["saved"] for one in listed] == [
        "2023-11-14T22:13:20Z",
        "2023-11-14T22:13:19Z",
        "2023-11-14T22:13:18Z",
    ]
    page = viewer.ask("/").text
    assert [page.index(f">{one['name']}</a>") for one in listed] == sorted(
        page.index(f">{one['name']}</a>") for one in listed
    )


def test_every_address_in_the_list_leads_to_a_page_and_its_twin(viewer: Running, results: Path) -> None:
    """A twin is byte for byte what the library writes of the loaded file, and loads again."""
    for one in json.loads(viewer.ask("/index.json").body)["results"]:
        page, twin = viewer.ask(one["page"]), viewer.ask(one["json"])

        assert page.status == twin.status == 200
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert twin.headers["content-type"] == "application/json"
        assert twin.text == judged.load(results / one["name"]).to_json(per_query=True)


def test_two_results_of_a_folder_are_compared_by_the_library(viewer: Running) -> None:
    """The comparison of two saved evaluations is that of their runs."""
    answer = viewer.ask("/compare.json?first=monday.json&second=tuesday.json.gz")
    expected = judged.compare(QRELS, RUNS, ["nDCG@10", "AP"])

    assert json.loads(answer.body)["tables"]["differences"] == expected.to_dict()["tables"]["differences"]
    assert viewer.ask("/compare?first=monday.json&second=tuesday.json.gz").status == 200


def test_systems_of_the_same_name_carry_that_of_their_result() -> None:
    """A system compared with itself of another day differs by nothing, under two names."""
    compared = compare_results({"monday": score("bm25"), "tuesday": compare()})

    assert compared.systems == ("bm25 (monday)", "bm25 (tuesday)", "dense")
    assert compared.contrast("bm25 (tuesday)", "bm25 (monday)").difference == 0


def test_results_without_a_measure_or_a_value_in_common_are_not_compared() -> None:
    """The error names what each has."""
    with pytest.raises(BadMeasure, match=r"no measure is shared.*bm25: AP; dense: RR"):
        compare_results({"a": score("bm25", measures=("AP",)), "b": score("dense", measures=("RR",))})
    with pytest.raises(BadSample, match="`b` has no values"):
        compare_results({"a": score("bm25"), "b": judged.explain(QRELS, RUNS["bm25"], "AP", query="q1")})


def test_results_scored_on_other_judgments_are_compared_with_a_warning(tmp_path: Path) -> None:
    """So are those computed under other protocols."""
    for name, grade in (("old", 1), ("new", 2)):
        (tmp_path / f"{name}.txt").write_text(f"q1 0 d1 {grade}\nq2 0 d1 1\n")
    scored = {
        name: judged.evaluate_many(
            str(tmp_path / f"{name}.txt"), {name: RUNS["bm25"]}, ["AP"], protocol=protocol
        )
        for name, protocol in (("old", "trec_eval-9"), ("new", "ranx"))
    }

    codes = [note.code for note in compare_results(scored).notes if note.severity == "warning"]
    assert codes[:2] == ["judgments", "protocol"]


def test_results_that_cannot_be_compared_are_shown_side_by_side(viewer: Running, results: Path) -> None:
    """The page says why they are not compared."""
    score("dense", measures=("RR",)).save(results / "other.json")
    answer = viewer.ask("/compare?first=monday.json&second=other.json")

    assert answer.status == 200
    assert "not comparable: no measure is shared" in answer.text
    twins = json.loads(viewer.ask("/compare.json?first=monday.json&second=other.json").body)
    assert [list(twin["systems"]) for twin in twins] == [["bm25"], ["dense"]]


def test_what_is_not_there_is_not_found(viewer: Running) -> None:
    """An unknown name, a missing one and an unknown address; a result compared with itself is refused."""
    assert viewer.ask("/result?name=tuesday.json").status == 404
    assert "did you mean `tuesday.json.gz`?" in viewer.ask("/result?name=tuesday.json").text
    assert viewer.ask("/result").status == viewer.ask("/result.json").status == 404
    assert viewer.ask("/nothing").status == 404
    assert viewer.ask("/compare?first=monday.json&second=monday.json").status == 422


def test_a_head_request_has_the_headers_of_the_page_and_no_body(viewer: Running) -> None:
    """HEAD is GET without the page."""
    got, head = viewer.ask("/"), viewer.ask("/", method="HEAD")

    assert head.body == b""
    assert viewer.ask("/events", method="HEAD").status == 200
    assert head.headers["content-length"] == str(len(got.body)) == got.headers["content-length"]


def test_texts_that_cannot_be_read_are_an_error_on_the_page(results: Path) -> None:
    """The viewer goes on, and shows the page when the texts are there."""
    texts = results.parent / "queries.tsv"
    server = make_server(Live(Folder(results)), title="results", port=0, report={"queries": str(texts)})
    with run_server(server) as viewer:
        assert viewer.ask("/result?name=monday.json").status == 422
        assert "queries.tsv" in viewer.ask("/result?name=monday.json").text
        texts.write_text("q1\tthe first query\n")
        assert viewer.ask("/result?name=monday.json").status == 200


def test_a_new_result_and_a_changed_one_are_shown(viewer: Running, results: Path) -> None:
    """The list and the page of a result follow the files."""
    before = viewer.ask("/result.json?name=monday.json").text
    score("dense").save(results / "monday.json")
    score("bm25").save(results / "wednesday.json")

    wait_for(lambda: viewer.ask("/result.json?name=monday.json").text != before)
    after = viewer.ask("/result.json?name=monday.json").text
    assert after == judged.load(results / "monday.json").to_json(per_query=True)
    assert list(json.loads(after)["systems"]) == ["dense"]
    newest = json.loads(viewer.ask("/index.json").body)["results"][0]
    assert newest["name"] == "wednesday.json"


def test_a_damaged_file_keeps_the_last_good_page_and_says_so(viewer: Running, results: Path) -> None:
    """So does a file that is gone; a repaired one is shown again without the warning."""
    good = viewer.ask("/result.json?name=monday.json").text
    whole = (results / "monday.json").read_bytes()
    (results / "monday.json").write_bytes(whole[: len(whole) // 2])
    wait_for(lambda: "older than its files" in viewer.ask("/result?name=monday.json").text)
    damaged = viewer.ask("/result.json?name=monday.json")

    assert damaged.text == good
    assert damaged.headers["judged-warning"].startswith("This page is older than its files: ")
    (results / "monday.json").unlink()
    wait_for(lambda: "No such file" in viewer.ask("/result?name=monday.json").text)
    assert viewer.ask("/result.json?name=monday.json").text == good
    (results / "monday.json").write_bytes(whole)
    wait_for(lambda: "older than its files" not in viewer.ask("/result?name=monday.json").text)


def test_a_file_that_is_being_written_is_not_read(tmp_path: Path) -> None:
    """A changed file is read when two checks in a row found it the same."""
    path, reads = tmp_path / "growing.txt", []
    path.write_text("1")

    def load() -> tuple[judged.Result, ...]:
        reads.append(path.read_text())
        return (score("bm25"),)

    live = Live({"growing": Input("growing", (path,), load)})
    live.read("growing")
    for text in ("12", "123", "1234"):
        path.write_text(text)
        live.check()
    live.check()
    live.check()

    assert reads == ["1", "1234"]


def test_a_damaged_result_that_was_never_good_says_what_is_wrong(viewer: Running, results: Path) -> None:
    """Its page is an error, which is replaced when the file is repaired."""
    (results / "bad.json").write_text('{"schema": "judged.evaluation/1", "state"')

    assert "bad.json is not a saved result" in viewer.ask("/result?name=bad.json").text
    assert viewer.ask("/result?name=bad.json").status == 422
    assert viewer.ask("/result.json?name=bad.json").status == 422
    score("bm25").save(results / "bad.json")
    assert viewer.ask("/result?name=bad.json").status == 200


def test_several_inputs_are_one_report_with_one_twin(tmp_path: Path) -> None:
    """The twin is a list of what the library writes of each; addresses of folders are not there."""
    for name in ("bm25", "dense"):
        score(name).save(tmp_path / f"{name}.json")
    live = Live({name: saved_input(name, tmp_path / f"{name}.json") for name in ("bm25", "dense")})
    with run_viewer(live) as viewer:
        documents = json.loads(viewer.ask("/index.json").body)

        assert documents == [
            json.loads(judged.load(tmp_path / f"{name}.json").to_json(per_query=True))
            for name in ("bm25", "dense")
        ]
        assert viewer.ask("/").status == 200
        assert viewer.ask("/result?name=bm25").status == 404


def test_many_results_are_shown_in_bounded_memory(viewer: Running, results: Path) -> None:
    """Of a hundred results, a few stay loaded."""
    data = (results / "monday.json").read_bytes()
    for number in range(100):
        (results / f"{number}.json").write_bytes(data)
        assert viewer.ask(f"/result.json?name={number}.json").status == 200

    assert len(viewer.server.viewer.live._states) == 16
