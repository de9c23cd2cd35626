"""Embeddings of an OpenAI-compatible endpoint: texts are sent, answers are checked before a number is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np

from judged.errors import BadProtocol, EndpointFailed
from judged.net.http import Bounds
from judged.net.llm import Endpoint, ModelClient
from judged.studies.stages.cosine import normalise_rows
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.spares import Spares
from judged.studies.stages.stage import Matrix, StageFailed, Vector
from judged.studies.stages.tokens import spend

ANSWER_BYTES = 256 << 20
"""The largest answer that is read: 2,048 vectors of 4,096 numbers, in JSON."""


class OpenAI(EncoderSpec, tag="openai", frozen=True, kw_only=True):
    """A model behind an OpenAI-compatible endpoint for embeddings."""

    extra: ClassVar[str] = "endpoint"
    steadiness: ClassVar[float] = (
        0.03  # endpoints return vectors that differ with what else they are working on
    )

    model: str
    """The name that the endpoint has for the model."""
    url: str = ""
    """The address of the endpoint; empty takes it from the environment variable OPENAI_BASE_URL."""
    key_variable: str | None = None
    """The environment variable with the key; null takes OPENAI_API_KEY, if it is set."""
    dimensions: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Ask for vectors of this length, from models that shorten them."""
    query_prefix: str = ""
    document_prefix: str = ""
    normalise: bool = False
    """Whether vectors are scaled to length 1."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 60.0
    """Seconds that one request may take."""
    total_timeout: Annotated[float, msgspec.Meta(gt=0)] = 300.0
    """Seconds that a batch may take, with all retries and the waits between them."""
    retries: Annotated[int, msgspec.Meta(ge=0)] = 4
    """Number of retries of a request that fails temporarily: status 429 or 5xx, no connection, no answer in time."""

    def load(self, documents: Sequence[str]) -> EndpointEncoder:
        """Connect to the endpoint; nothing is sent yet."""
        del documents
        try:
            endpoint = Endpoint(self.url, self.key_variable, timeout=self.timeout)
            return EndpointEncoder(self, endpoint)
        except BadProtocol as error:
            raise StageFailed(error.message, hint="set `url` and `key_variable`") from None

    def to_dict(self) -> dict[str, object]:
        """Return every setting that vectors depend on."""
        left_out = {"key_variable", "timeout", "total_timeout", "retries"}
        return {name: value for name, value in super().to_dict().items() if name not in left_out}


class EndpointEncoder:
    """A connection to an endpoint, kept open from one request to the next."""

    untrained = False

    def __init__(self, spec: OpenAI, endpoint: Endpoint) -> None:
        self.spec, self._endpoint = spec, endpoint
        bounds = Bounds(endpoint.timeout, ANSWER_BYTES)
        self._clients = Spares(
            lambda: ModelClient(
                endpoint, spec.model, bounds=bounds, extra=spec.extra, needed_by="the encoder `openai`"
            )
        )
        with self._clients.borrow() as client:
            self.url, self._show = client.url, client.show
        self.identity = {"endpoint": self.url}
        self._dimensions = spec.dimensions

    @property
    def dimensions(self) -> int:
        """The length of its vectors, as the first answer has it."""
        if self._dimensions is None:
            self._dimensions = len(self.encode_query("dimensions"))
        return self._dimensions

    def notes(self) -> list[str]:
        """Return what the clients say, each thing once."""
        return list(dict.fromkeys(note for client in self._clients.all for note in client.notes()))

    def forget(self) -> None:
        """Forget how many requests were repeated."""
        for client in self._clients.all:
            client.forget()

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of documents, from one request."""
        return self._encode([self.spec.document_prefix + text for text in texts])

    def encode_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        vector: Vector = self._encode([self.spec.query_prefix + text])[0]
        return vector

    def _encode(self, texts: list[str]) -> Matrix:
        vectors = self._read(self._ask(texts), len(texts))
        if self._dimensions is None:
            self._dimensions = vectors.shape[1]
        if vectors.shape[1] != self._dimensions:
            msg = f"{self.url} returned vectors of {vectors.shape[1]:,} dimensions, expected {self._dimensions:,}"
            hint = f"does `{self.spec.model}` shorten its vectors? else leave `dimensions` out"
            raise StageFailed(msg, hint=hint if self.spec.dimensions else None)
        return normalise_rows(vectors) if self.spec.normalise else vectors

    def _ask(self, texts: list[str]) -> Any:
        request: dict[str, object] = {"input": texts, "model": self.spec.model, "encoding_format": "float"}
        if self.spec.dimensions is not None:
            request["dimensions"] = self.spec.dimensions
        try:
            with self._clients.borrow() as client:
                answer = client.ask(
                    "POST",
                    f"{self._endpoint.url}/embeddings",
                    request,
                    attempts=1 + self.spec.retries,
                    deadline=self.spec.total_timeout,
                )
        except EndpointFailed as error:
            raise StageFailed(error.message, hint=error.hint) from None
        usage = answer.get("usage") if isinstance(answer, dict) else None
        count = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        known = isinstance(count, int) and count >= 0
        spend(self.spec.model, count if known else None, 0 if known else None)
        return answer

    def _read(self, answer: Any, count: int) -> Matrix:
        """Return the vectors in the order of the texts; raise `StageFailed` unless there is one for each."""
        try:
            rows = {row["index"]: row["embedding"] for row in answer["data"]}
            number = len(answer["data"])
        except (TypeError, LookupError):
            shown = self._show(str(answer), 80)
            msg = f"{self.url} returned an answer that is not one of embeddings: `{shown}`"
            raise StageFailed(msg) from None
        if number != count or rows.keys() != set(range(count)):
            msg = f"{self.url} returned {number:,} vectors for {count:,} texts, expected one for each, numbered from 0"
            raise StageFailed(msg)
        try:
            with np.errstate(over="ignore"):  # infinity, which is refused with the text that it came for
                vectors = np.array([rows[place] for place in range(count)], dtype=np.float32)
        except (TypeError, ValueError):
            vectors = np.empty(0, dtype=np.float32)
        if vectors.ndim != 2:
            msg = f"{self.url} returned vectors that are not rows of numbers of one length"
            raise StageFailed(msg)
        return vectors
