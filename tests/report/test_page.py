"""The report as a file: its policy, its packing, what it says about what it lacks, and pages for every kind of result."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import struct
import subprocess
from html import unescape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import judged
from judged.figures import PALETTE
from judged.report.charts import CHARTS, fill
from judged.report.draw import draw
from judged.report.entry import make_entries
from judged.report.packing import Numbers, escape_script, pack
from judged.report.page import make_policy, read_script, render_report
from judged.report.pages import CORE_PAGES, PAGES, list_pages
from judged.report.vega import load_chart_runtime
from judged.result import RESULTS, Result
from support.report_results import HOSTILE, make_all, make_comparison, make_runs, make_sessions


def open_block(page: str, name: str) -> Any:
    """Return a block of plain data of a page."""
    return json.loads(gzip.decompress(base64.b64decode(find_block(page, name))))


def find_block(page: str, name: str) -> str:
    """Return a block as it is packed."""
    found = re.search(rf'data-block="{re.escape(name)}">([^<]*)<', page)
    assert found is not None
    return found[1]


def read_head(page: str) -> dict[str, Any]:
    """Return the plain data of the first screen."""
    found = re.search(r'<script type="application/json" id="head">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    head: dict[str, Any] = json.loads(found[1])
    return head


def unpack_numbers(packed: str) -> list[np.ndarray[Any, Any]]:
    """Return packed arrays, read as the format describes, without the code that writes it."""
    data = gzip.decompress(base64.b64decode(packed))
    (length,) = struct.unpack("<I", data[:4])
    at, arrays = 4 + length, []

    def take(count: int, width: int) -> bytes:
        nonlocal at
        part = data[at : at + count * width]
        at += count * width
        return b"".join(bytes(part[byte * count + i] for byte in range(width)) for i in range(count))

    for head in json.loads(data[4 : 4 + length]):
        count, table = head["count"], head["table"]
        if head["kind"] == "f8":
            arrays.append(np.array(struct.unpack(f"<{count}d", take(count, 8))))
            continue
        values = struct.unpack(f"<{table}d", take(table, 8))
        width, code = (1, "B") if head["kind"] == "u1" else (2, "H")
        arrays.append(np.array([values[i] for i in struct.unpack(f"<{count}{code}", take(count, width))]))
    return arrays


@given(st.lists(st.lists(st.floats(width=64), max_size=40), max_size=4))
@settings(max_examples=60)
def test_packed_numbers_keep_every_bit(columns: list[list[float]]) -> None:
    """Zeros keep their sign, and values that are not numbers stay as they are."""
    arrays = [np.array(column, dtype=np.float64) for column in columns]
    found = unpack_numbers(pack(Numbers(arrays)))

    assert [array.tobytes() for array in found] == [array.tobytes() for array in arrays]


@pytest.mark.parametrize("different", [3, 300, 70_000], ids=["byte", "word", "float"])
def test_every_kind_of_packing_keeps_every_bit(different: int) -> None:
    """Few different values, more of them, and too many for a table."""
    values = np.random.default_rng(1).random(different)
    array = values[np.arange(max(different, 1000)) % different]

    assert unpack_numbers(pack(Numbers([array])))[0].tobytes() == array.tobytes()


@given(st.text())
def test_no_text_can_end_the_script_that_holds_it(text: str) -> None:
    """The escaped JSON has no bracket, and is still the same text."""
    escaped = escape_script(json.dumps(text, ensure_ascii=False))

    assert not set("<>&\u2028\u2029") & set(escaped)
    assert json.loads(escaped) == text


def test_the_policy_allows_the_scripts_and_the_style_of_the_file_alone() -> None:
    """The hashes are those of what the file holds, and no other source is named."""
    page = render_report([make_comparison(make_runs(systems=2, queries=6))])
    policy = unescape(re.search(r'Content-Security-Policy" content="(.*?)"', page)[1])  # type: ignore[index]
    style, script = (
        re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]  # type: ignore[index]
        for tag in ("style", "script")
    )
    runtime = gzip.decompress(base64.b64decode(find_block(page, "runtime"))).decode()

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert policy == make_policy(style, [script, runtime])
    assert f"script-src {digest(script)} {digest(runtime)};" in policy
    assert f"style-src {digest(style)};" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_file_names_no_other_file() -> None:
    """Nothing is loaded: no address stands where a browser would follow it by itself."""
    page = render_report([make_comparison(make_runs(systems=2, queries=6))])
    shell = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)

    assert re.findall(r'\s(?:src|href|srcset|action|style|on\w+)="(?!#main|data:,)[^"]*"', shell) == []


def test_the_scripts_evaluate_nothing_and_parse_no_html() -> None:
    """Data can only become text."""
    banned = r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser"

    assert re.findall(banned, read_script()) == []


@pytest.mark.skipif(which("node") is None, reason="node is not installed")
def test_the_joined_script_parses(tmp_path: Path) -> None:
    """The files of the page make one valid script."""
    (tmp_path / "page.js").write_text(read_script(), encoding="utf-8")

    subprocess.run(["node", "--check", str(tmp_path / "page.js")], check=True)


def test_every_page_has_a_script() -> None:
    """A page is one file in Python, and one of the same name in JavaScript."""
    scripts = {file.name for file in files("judged.report").joinpath("assets", "pages").iterdir()}

    assert scripts == {f"{name}.js" for name in CORE_PAGES}
    assert all(f'definePage("{name}"' in PAGES[name].read_script() for name in PAGES)
    assert all(PAGES[name].id == name for name in PAGES)


def test_hostile_strings_stay_within_the_data() -> None:
    """Titles, names and texts are nowhere in the file as markup."""
    results, data = make_all(HOSTILE)
    inputs = {name: data[name] for name in ("qrels", "runs", "queries", "documents")}
    page = render_report(
        results, title=HOSTILE[1], titles=HOSTILE[: len(results)], command=HOSTILE[2], **inputs
    )

    assert "<script>document.title" not in page
    assert "<img src=x" not in page
    assert read_head(page)["title"] == HOSTILE[1]


def test_every_kind_of_result_has_a_page() -> None:
    """Each kind has pages of its own or the page for any result, and provenance beside."""
    results, data = make_all()
    subjects = make_entries(results, inputs=(data["qrels"], data["runs"]))
    pages = {subject.result.kind: [page.id for page in list_pages(subject)] for subject in subjects}

    assert pages == {
        "comparison": ["leaderboard", "queries", "query", "curves", "provenance"],
        "evaluations": ["leaderboard", "queries", "query", "curves", "provenance"],
        "sessions": ["leaderboard", "queries", "curves", "sessions", "gate", "provenance"],
        "agreement": ["agreement", "provenance"],
        "gate": ["gate", "provenance"],
        "explanation": ["result", "provenance"],
        "study": ["study", "leaderboard", "queries", "query", "curves", "provenance"],
        "index": ["index", "provenance"],
    }


def test_a_kind_that_is_added_later_gets_the_page_for_any_result() -> None:
    """Every registered kind names its pages, or falls to the one that shows blocks."""
    falling = {kind for kind in RESULTS if RESULTS[kind].pages == ("result",)}

    assert Result.pages == ("result",)
    assert falling >= {"explanation", "difference", "published", "lint"}
    assert all(name in PAGES for kind in RESULTS for name in RESULTS[kind].pages)


def test_several_results_are_one_file_with_a_title_each() -> None:
    """The same title is made different."""
    data = make_runs(systems=2, queries=6)
    comparison = make_comparison(data)
    head = read_head(render_report([comparison, comparison], titles=["dl19", "dl19"]))

    assert [subject["title"] for subject in head["subjects"]] == ["dl19 (1)", "dl19 (2)"]


def test_what_is_left_out_is_said() -> None:
    """Without files and inputs there are no ranked lists, and the page says why."""
    data = make_runs(systems=2, queries=6)
    (subject,) = read_head(render_report([make_comparison(data)]))["subjects"]

    assert subject["pages"]["query"]["why"] == "judgments and runs were not read from files"
    assert subject["pages"]["curves"]["why"] == "judgments and runs were not read from files"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A saved comparison of two runs in files."""
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 2\n3 0 c 1\n")
    (tmp_path / "one.run").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 a 1 1 x\n")
    (tmp_path / "two.run").write_text("1 Q0 b 1 2 y\n3 Q0 c 1 1 y\n")
    runs = {name: str(tmp_path / f"{name}.run") for name in ("one", "two")}
    comparison = judged.compare(str(tmp_path / "qrels.txt"), runs, ["nDCG@10", "RR"], baseline="one")
    comparison.save(tmp_path / "saved.json")
    return tmp_path


def test_a_saved_result_shows_ranked_lists_from_its_files(saved: Path) -> None:
    """The judgments and runs that it names are read again."""
    page = render_report([judged.load(saved / "saved.json")])
    lists = open_block(page, "1/query/lists:0")

    assert [query["d"] for query in lists] == [["a", "b"], ["a"], ["c"]]
    assert lists[0]["l"] == [[0, 1], [1]]
    assert lists[0]["g"] == [1, 0]


def test_a_file_that_has_changed_is_not_shown(saved: Path) -> None:
    """A run with another hash than the recorded one is refused, by name."""
    (saved / "two.run").write_text("1 Q0 a 1 2 y\n")
    (subject,) = read_head(render_report([judged.load(saved / "saved.json")]))["subjects"]

    assert subject["pages"]["query"]["why"].endswith("two.run` has changed since it was scored")


def test_scores_in_the_file_are_those_of_the_comparison() -> None:
    """Every value of every system, query and measure, bit for bit."""
    comparison = make_comparison(make_runs())
    arrays = unpack_numbers(find_block(render_report([comparison]), "1/queries/values"))
    for scores, array in zip(comparison.scores, arrays, strict=True):
        expected = np.array([scores.column(name) for name in comparison.ranked()])

        assert array.tobytes() == expected.tobytes()


def test_without_the_extra_the_file_has_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables are there, and the page knows that it cannot draw."""
    monkeypatch.setattr("judged.report.vega.find_spec", lambda _name: None)
    page = render_report([make_comparison(make_runs(systems=2, queries=6))])

    assert read_head(page)["figures"] is False
    assert 'data-block="runtime"' not in page


def test_the_runtime_is_that_of_the_installed_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing in a cache folder takes its place, and nothing is kept there."""
    converter = pytest.importorskip("vl_convert")
    monkeypatch.setenv("JUDGED_CACHE", str(tmp_path))
    planted = "alert(1)"
    digest = hashlib.sha256(planted.encode()).hexdigest()
    (tmp_path / f"vega-{version('vl-convert-python')}.js").write_text(f"// sha256 {digest}\n{planted}")
    page = render_report([make_comparison(make_runs(systems=2, queries=6))])
    runtime = load_chart_runtime()

    assert runtime is not None
    assert runtime.script == f"(()=>{{{converter.javascript_bundle()}}})();"
    assert planted not in page
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", CHARTS)
def test_charts_of_the_page_are_drawn_without_a_browser(name: str) -> None:
    """The same specification gives a picture, in colours of the palette alone."""
    row: dict[str, Any] = {
        "system": "s", "slice": "s", "measure": "m", "role": "a", "sign": "won", "kind": "new", "verdict": "pass",
        "band": True, "one": False, "order": 0, "iteration": 1, "label": 1, "low": 0.1, "high": 0.5, "mean": 0.3,
        "value": 0.3, "difference": 0.2, "margin": -0.1, "x": 0.5, "y": 0.25, "from": 0, "to": 1, "share": 0.5,
        "count": 3, "gain": 2.0, "cost": 10.0,
    }  # fmt: skip
    words = {
        "A": "s", "B": "t", "measure": "m", "title": "m", "x": "x", "y": "y", "n": 1, "count": "1 query", "least": 0,
        "most": 1, "ticks": [1], "grades": [0, 1], "scale": "linear", "systems": ["s"], "kinds": ["new"],
        "colours": [PALETTE["a"][0]], "columns": 1, "cell": 200,
    }  # fmt: skip
    picture = draw(fill(name, [row], words), ".svg").decode()
    colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', picture))

    assert "{" not in re.sub(r"<style.*?</style>", "", picture, flags=re.DOTALL)
    assert colours <= {light for light, _ in PALETTE.values()}
    assert "<path" in picture


def test_sessions_are_kept_as_they_happened() -> None:
    """The page has the timelines of all sessions, those with the most duplicates first."""
    report = make_sessions()
    lines = open_block(render_report([report]), "1/sessions/timelines")
    duplicates = [line["duplicates"] for line in lines]

    assert len(lines) == 24
    assert duplicates == sorted(duplicates, reverse=True)
    assert sum(duplicates) == sum(
        not result["new"] for line in lines for search in line["searches"] for result in search["r"]
    )


def test_a_result_writes_its_report(tmp_path: Path) -> None:
    """`Result.report` takes a path."""
    make_comparison(make_runs(systems=2, queries=6)).report(tmp_path / "report.html", title="Mine")

    assert "<title>Mine</title>" in (tmp_path / "report.html").read_text(encoding="utf-8")
