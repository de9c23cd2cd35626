"""User-defined encoders: a function, a class or an object, named by "module:attribute" or by an entry point."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import msgspec
import numpy as np

from judged.store.source import hash_source
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.functions import call, import_stage
from judged.studies.stages.stage import Matrix, StageFailed, Vector


class Function(EncoderSpec, tag="function", frozen=True, kw_only=True):
    """A function from a list of texts to an array with a row for each, or an object with such methods.

    The methods are `encode_documents(texts)` and `encode_query(text)`, or `encode(texts)` for both. A class is called
    with the settings first; functions and methods are called with them each time.
    """

    function: str
    """`module:attribute`, or a name announced under the entry points `judged.encoders`."""
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    """Keyword arguments of the class, or of every call of the function or of the object's methods."""
    untrained: bool = False
    """Whether tables and charts say that its weights are random."""

    def load(self, documents: Sequence[str]) -> FunctionEncoder:
        """Import the object, and call it with the settings if it is a class."""
        del documents
        target = import_stage(self.function, kind="encoder")
        made = call(target, self.function, **self.settings) if inspect.isclass(target) else target
        identity = {"source": hash_source(target)}
        identity |= {name: str(value) for name, value in getattr(made, "identity", {}).items()}
        untrained = self.untrained or bool(getattr(made, "untrained", False))
        settings = {} if inspect.isclass(target) else self.settings
        return FunctionEncoder(self, *self._find_methods(made, settings), untrained, identity)

    def _find_methods(
        self, made: object, settings: Mapping[str, object]
    ) -> tuple[Callable[..., object], Callable[..., object]]:
        """Return what encodes documents and what encodes a query."""
        if hasattr(made, "encode_documents") and hasattr(made, "encode_query"):
            return partial(made.encode_documents, **settings), partial(made.encode_query, **settings)
        encode = getattr(made, "encode", made)
        if not callable(encode):
            msg = f"`{self.function}` is of the type `{type(made).__name__}`, expected a function, or an object with `encode_documents` and `encode_query`, or `encode`"
            raise StageFailed(msg)
        documents = partial(encode, **settings)
        return documents, lambda text: self._take_only(call(documents, self.function, [text]))

    def _take_only(self, returned: object) -> object:
        """Return the one row of an array."""
        rows = np.asarray(returned)
        if len(rows) != 1:
            msg = f"`{self.function}` returned an array of shape {rows.shape} for one text, expected one row"
            raise StageFailed(msg)
        return rows[0]


@dataclass(eq=False)
class FunctionEncoder:
    """A user-defined encoder."""

    spec: Function
    documents: Callable[[list[str]], object]
    query: Callable[[str], object]
    untrained: bool
    identity: Mapping[str, str]

    @cached_property
    def dimensions(self) -> int:
        """The length of its vectors."""
        first = self.encode_query("dimensions")
        if first.ndim != 1:
            msg = f"`{self.spec.function}` returned an array of shape {first.shape} for one text, expected one row of numbers"
            raise StageFailed(msg)
        return len(first)

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of documents."""
        return self._convert(call(self.documents, self.spec.function, list(texts)))

    def encode_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        return self._convert(call(self.query, self.spec.function, text))

    def _convert(self, returned: object) -> Matrix:
        try:
            with np.errstate(over="ignore"):  # infinity, which is refused with the text that it came for
                return np.asarray(returned, dtype=np.float32)
        except (TypeError, ValueError) as error:
            msg = f"`{self.spec.function}` returned a `{type(returned).__name__}` that is not an array of numbers: {error}"
            raise StageFailed(msg) from None
