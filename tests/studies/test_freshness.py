"""What a study keeps of earlier runs: whatever may have changed is asked again, and what is kept is dated."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.studies.running.run import open_study, run_study
from support.json_server import JsonServer, Reply, run_server
from support.studies import DOCUMENTS, QUERIES, count_calls, own

pytest.importorskip("bm25s")
WORDS = {"name": "words", "search": "bm25"}
ASKED = {"name": "asked", "retriever": "parts:retrieve"}
HELPED = {"name": "helped", "retriever": "fresh_mine:find"}


@pytest.fixture(autouse=True)
def _at_the_desk(desk: Path) -> None:
    """Every test has a folder of its own."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JsonServer]:
    """A server that finds `d1` and `d2`."""
    pytest.importorskip("httpx2", reason="the extra `endpoint` is not installed")
    monkeypatch.setattr("judged.net.retry.FIRST_WAIT", 0.01)
    with run_server(lambda _asked: Reply([{"id": "d1"}, {"id": "d2"}])) as running:
        yield running


def study(*systems: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """A study of the small collection."""
    return {"collection": "pets", "systems": list(systems), "measures": ["RR"], **settings}


def http(server: JsonServer) -> dict[str, Any]:
    """The system behind the server."""
    return {
        "name": "http",
        "retriever": {"type": "http", "url": server.address, "body": {"q": "{query}"}, "attempts": 1},
    }


def first_results(name: str) -> set[str]:
    """The documents that a written run has in the first place."""
    rows = [line.split() for line in Path("out", "runs", f"{name}.run").read_text().splitlines()]
    return {row[2] for row in rows if row[3] == "1"}


def test_a_server_whose_index_changed_is_asked_again(server: JsonServer) -> None:
    """Nothing of it can be seen from here: a finished run is no reason to believe its answers."""
    run_study(study(http(server)), output="out")
    before = first_results("http")
    server.answer = lambda _asked: Reply([{"id": "d8"}])
    found = run_study(study(http(server)), output="out")

    assert before == {"d1"}
    assert first_results("http") == {"d8"}
    assert found.systems[0].answers_of == ""


def test_kept_answers_are_dated_in_table_files_and_notes(server: JsonServer) -> None:
    """`reuse` asks nothing, and says so."""
    run_study(study(http(server), WORDS), output="out")
    asked = len(server.asked)
    found = run_study(study(http(server), WORDS), output="out", reuse=True)
    rows = {row["system"]: row for row in found.to_arrow("systems").to_pylist()}

    assert len(server.asked) == asked
    assert rows["http"]["answers_of"].endswith(" UTC")
    assert f"answers of {rows['http']['answers_of']}" in str(found)
    assert any(note.code == "kept-answers" and "http" in note.message for note in found.notes)


def test_what_is_built_here_is_kept_and_dated() -> None:
    """Everything that BM25 depends on is in the key; its times are of the earlier run, and marked."""
    first = run_study(study(WORDS), output="out")
    second = run_study(study(WORDS), output="out")

    assert first.systems[0].answers_of == ""
    assert second.systems[0].answers_of
    assert [one.seconds.tolist() for one in first.times] == [one.seconds.tolist() for one in second.times]


HELPERS = ("fresh_mine", "fresh_helper", "fresh_deep")


def write_helpers(desk: Path, found: str) -> None:
    """A retriever that imports a helper, which imports another one."""
    (desk / "fresh_mine.py").write_text(
        "from fresh_helper import search\ndef find(text):\n    return search(text)\n"
    )
    (desk / "fresh_helper.py").write_text(
        "import fresh_deep\ndef search(text):\n    return [fresh_deep.ANSWER]\n"
    )
    (desk / "fresh_deep.py").write_text(f"ANSWER = {found!r}\n")


def test_a_helper_module_is_part_of_the_key(desk: Path) -> None:
    """One that is imported by what the study names: not even `reuse`, or an unfinished run, keeps its answers."""
    write_helpers(desk, "d1")
    run_study(study(HELPED), output="out")
    assert open_study(study(HELPED), desk / "out", reuse=True).done == len(QUERIES)
    write_helpers(desk, "d8")
    for module in HELPERS:  # another process would import them anew
        sys.modules.pop(module)
    importlib.invalidate_caches()
    assert open_study(study(HELPED), desk / "out", reuse=True).done == 0
    run_study(study(HELPED), output="out")

    assert first_results("helped") == {"d8"}


def test_a_file_that_code_reads_unseen_changes_answers_and_vectors(desk: Path) -> None:
    """No key has it: the encoder is asked about a few cached documents, and its vectors are no longer those."""
    (desk / "fresh_weights.py").write_text(
        "import numpy as np\nfrom pathlib import Path\nimport parts\n"
        "def encode(texts):\n    return parts.encode(texts) * np.float32(Path('weights').read_text())\n"
    )
    (desk / "weights").write_text("1")
    system = {
        "name": "own",
        "encoder": {"type": "function", "function": "fresh_weights:encode"},
        "search": "exact",
    }
    ip = {**system, "search": {"type": "index", "engine": "exact", "metric": "ip"}}
    run_study(study(ip), output="out")
    run = Path("out", "runs", "own.run").read_text()
    (desk / "weights").write_text("-1")
    found = run_study(study(ip), output="out")

    assert any("all documents were encoded again" in note.message for note in found.notes)
    assert not found.systems[0].vectors_of
    assert Path("out", "runs", "own.run").read_text() == run  # both signs changed


def test_what_is_built_here_is_computed_again_after_a_change_that_can_be_seen(desk: Path) -> None:
    """Of a setting, or of a document."""
    run_study(study(WORDS), output="out")
    changed = {**WORDS, "search": {"type": "bm25", "k1": 0.9}}
    assert open_study(study(WORDS), desk / "out").done == len(QUERIES)
    assert open_study(study(changed), desk / "out", reuse=True).done == 0
    with (desk / "pets" / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d9", "title": "", "text": "a new one"}\n')

    assert open_study(study(WORDS), desk / "out", reuse=True).done == 0


def test_a_model_file_is_part_of_the_key(desk: Path) -> None:
    """A folder of a model that a study names, by the size and time of its files."""
    (desk / "model").mkdir()
    (desk / "model" / "weights.bin").write_bytes(b"1")
    system = {
        "name": "m",
        "encoder": {"type": "sentence-transformers", "model": str(desk / "model")},
        "search": "exact",
    }
    before = open_study(study(system), desk / "out").plan[0].key
    (desk / "model" / "weights.bin").write_bytes(b"22")

    assert open_study(study(system), desk / "out").plan[0].key != before


def test_an_address_from_the_environment_is_part_of_the_key(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address, not the name of the variable."""
    system = {
        "name": "store",
        "encoder": own(),
        "search": {"type": "index", "engine": "pgvector-exact", "url": "${STORE}"},
    }
    keys = set()
    for host in ("one", "two"):
        monkeypatch.setenv("STORE", f"postgresql://{host}/x")
        keys.add(open_study(study(system), desk / "out").plan[0].key)

    assert len(keys) == 2


def break_at(monkeypatch: pytest.MonkeyPatch, system: dict[str, Any], **more: Any) -> None:
    """Run a study that ends at its fourth query."""
    monkeypatch.setenv("BREAK", "1")
    run_study(study(system, WORDS, **more), output="out")
    monkeypatch.delenv("BREAK")


def test_an_unfinished_run_is_gone_on_with(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it had is dated: half of the answers are older."""
    break_at(monkeypatch, ASKED, warmup=2)
    before = count_calls(desk, "retrieve")
    found = run_study(study(ASKED, WORDS, warmup=2), output="out")

    assert count_calls(desk, "retrieve") - before == 2 + 3
    assert found.systems[0].answers_of.endswith("(3 of 6)")
    run_study(study(ASKED, WORDS, warmup=2), output="out")
    assert count_calls(desk, "retrieve") - before == 2 + 3 + 2 + 6


def test_an_unfinished_run_of_a_system_that_changed_begins_anew(
    server: JsonServer,
) -> None:
    """The warm-up shows it: what the server now returns is not what is in the log."""
    turns = iter(range(100))

    def fail_late(_asked: Any) -> Reply:
        return Reply([{"id": "d1"}]) if next(turns) < 7 else Reply({"error": "down"}, status=500)

    server.answer = fail_late
    broken = run_study(study(http(server)), output="out")
    assert "http" in broken.failures
    server.answer = lambda _asked: Reply([{"id": "d8"}])
    found = run_study(study(http(server)), output="out")

    assert first_results("http") == {"d8"}
    assert found.systems[0].answers_of == ""


def test_a_system_that_is_down_leaves_its_old_answers(server: JsonServer) -> None:
    """They may be kept with `reuse`; without it the system has failed, and is not scored by them."""
    run_study(study(http(server), warmup=0), output="out")
    server.answer = lambda _asked: Reply({"error": "down"}, status=500)
    down = run_study(study(http(server), WORDS, warmup=0), output="out")

    assert "http" in down.failures
    assert not run_study(study(http(server), warmup=0), output="out", reuse=True).failures


def test_more_passes_of_a_finished_run_are_a_new_run(desk: Path) -> None:
    """The first pass would be of another day than the others."""
    run_study(study(ASKED, warmup=0), output="out")
    run_study(study(ASKED, warmup=0, repeats=2), output="out")

    assert count_calls(desk, "retrieve") == 6 + 12


def test_fresh_computes_everything_again(desk: Path) -> None:
    """Answers and vectors, of one system or of all."""
    system = {"name": "own", "encoder": own(), "search": "exact"}
    both = {"name": "both", "fuse": {"of": ["own", "words"]}}
    run_study(study(WORDS, system, both), output="out")
    calls = count_calls(desk, "encode")
    everything = run_study(study(WORDS, system, both), output="out", fresh=True)

    assert count_calls(desk, "encode") - calls >= len(DOCUMENTS) + len(QUERIES)
    assert not any(one.answers_of or one.vectors_of for one in everything.systems)
    named = run_study(study(WORDS, system, both), output="out", fresh=["words"], reuse=True)
    assert {one.name: bool(one.answers_of) for one in named.systems} == {
        "words": False,
        "own": True,
        "both": False,
    }


def test_only_runs_what_is_named_and_what_it_consists_of() -> None:
    """Pairs are compared where the baseline is left out."""
    both = {"name": "both", "fuse": {"of": ["asked", "words"]}}
    systems = (WORDS, ASKED, both, {"name": "other", "search": "tantivy"})
    found = run_study(study(*systems, baseline="other"), only=["both"])

    assert [one.name for one in found.systems] == ["words", "asked", "both"]
    for wrong in ({"only": ["bth"]}, {"fresh": ["bth"]}):
        with pytest.raises(judged.JudgedError, match="bth"):
            run_study(study(*systems), **wrong)
    with pytest.raises(judged.JudgedError, match="expected one of them"):
        run_study(study(*systems), reuse=True, fresh=True)
