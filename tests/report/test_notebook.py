"""Results in notebooks: text, HTML without scripts, and figures as Vega-Lite with a picture."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest

import judged
from judged.blocks import Figure
from judged.report import notebook
from judged.report.notebook import VEGA_LITE, to_bundle, to_bundles
from judged.result import Result

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}, "q3": {"d3": 1}}
HOSTILE = "<script>alert(1)</script>"
RUNS = {HOSTILE: {"q1": {"d1": 2.0}, "q2": {"d2": 1.0}}, "dense": {"q1": {"d2": 2.0}, "q3": {"d3": 1.0}}}
CELLS = """\
import judged
qrels = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
runs = {"bm25": {"q1": {"d1": 2.0}}, "dense": {"q2": {"d1": 1.0}}}
comparison = judged.compare(qrels, runs, ["nDCG@10", "AP"])
---
comparison
---
comparison.draw_ranks()
---
judged.evaluate(qrels, runs["bm25"], ["AP"])
---
print(comparison._repr_html_()[:6])
"""


@pytest.fixture(scope="module")
def comparison() -> Result:
    """Two systems, one with a hostile name."""
    return judged.compare(QRELS, RUNS, ["nDCG@10", "AP"], resamples=100)


def test_a_comparison_is_tables_and_then_its_figures(comparison: Result) -> None:
    """The first output has text and HTML; the second is the chart of the means, with every number."""
    (tables, _), (chart, _) = to_bundles(comparison)

    assert tables["text/plain"] == repr(comparison)
    assert "<table>" in tables["text/html"]
    bars = chart[VEGA_LITE]["data"]["values"]
    means = comparison.to_arrow("means").to_pylist()
    assert {(bar["name"], bar["group"]): bar["value"] for bar in bars} == {
        (mean["system"], mean["measure"]): mean["mean"] for mean in means
    }
    assert chart["text/plain"] == "Figure: Means"


def test_a_figure_has_a_picture_of_its_size(comparison: Result) -> None:
    """The PNG has two pixels for each that it is shown with; the Vega-Lite specification is plain JSON."""
    (figure,) = comparison.charts()
    forms, metadata = to_bundle(figure)
    picture = base64.b64decode(forms["image/png"])
    width, height = struct.unpack(">II", picture[16:24])

    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert metadata["image/png"] == {"width": round(width / 2), "height": round(height / 2)}
    assert forms[VEGA_LITE]["$schema"].endswith("/vega-lite/v5.json")
    assert json.loads(json.dumps(forms[VEGA_LITE], allow_nan=False)) == forms[VEGA_LITE]
    assert figure._repr_mimebundle_() == (forms, metadata)


def test_html_is_whole_without_scripts(comparison: Result) -> None:
    """Charts are pictures within the page; names are text."""
    html = comparison._repr_html_()

    assert "<script" not in html
    assert html.count('<img alt="Means" src="data:image/svg+xml;base64,') == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_without_the_extra_figures_are_vega_lite_alone(
    comparison: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables need nothing."""
    monkeypatch.setattr(notebook, "find_spec", lambda _: None)
    (figure,) = comparison.charts()

    assert to_bundle(figure)[0].keys() == {VEGA_LITE, "text/plain"}
    assert "<img" not in comparison._repr_html_()


def test_of_many_systems_the_first_measure_is_drawn() -> None:
    """Ten systems are ten bars, the best first."""
    runs = {f"s{number}": {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}} for number in range(9)}
    compared = judged.compare(QRELS, {**runs, "worst": {"q1": {"d2": 1.0}}}, ["AP", "RR"], resamples=10)
    (figure,) = compared.charts()

    bars: list[dict[str, Any]] = figure.spec["data"]["values"]  # type: ignore[index]
    assert [bar["group"] for bar in bars][-1] == "worst"
    assert {bar["name"] for bar in bars} == {"AP"}


def test_scores_of_several_systems_have_a_chart_and_those_of_one_have_none() -> None:
    """Counts are not drawn beside shares."""
    scored = judged.evaluate_many(QRELS, RUNS, ["AP", "NumRet"])
    (figure,) = scored.charts()

    assert isinstance(figure, Figure)
    assert {bar["group"] for bar in figure.spec["data"]["values"]} == {"AP"}  # type: ignore[index]
    assert list(judged.evaluate(QRELS, RUNS["dense"], ["AP"]).charts()) == []


@pytest.mark.slow
def test_a_notebook_is_executed() -> None:
    """A real kernel shows tables and charts; the notebook is valid, and can be saved."""
    nbformat, client = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(text.strip()) for text in CELLS.split("---\n")]
    made = client.NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=120).execute()
    nbformat.validate(made)
    outputs = [[set(output.get("data", {})) for output in cell.outputs] for cell in made.cells]

    picture = {VEGA_LITE, "image/png", "text/plain"}
    assert outputs[1] == [{"text/html", "text/plain"}, picture]
    assert outputs[2] == [picture]
    assert outputs[3] == [{"text/html", "text/plain"}]
    assert made.cells[4].outputs[0].text.startswith("<")
