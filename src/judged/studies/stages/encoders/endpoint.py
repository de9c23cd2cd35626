"""Embeddings of an OpenAI-compatible endpoint: texts are sent, answers are checked before a number is used."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import numpy as np

from judged._optional import need
from judged.errors import BadProtocol
from judged.studies.stages.cosine import normalise_rows
from judged.studies.stages.encoders.encoder import EncoderSpec
from judged.studies.stages.stage import Matrix, StageFailed, Vector
from judged.wording import counted

if TYPE_CHECKING:
    from judged.labels.client import Endpoint, Key

ANSWER_BYTES = 256 << 20
"""The largest answer that is read: 2,048 vectors of 4,096 numbers, in JSON."""
_MESSAGE_LENGTH = 300


class OpenAI(EncoderSpec, tag="openai", frozen=True, kw_only=True):
    """A model behind an OpenAI-compatible endpoint for embeddings."""

    extra: ClassVar[str] = "endpoint"

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
    """How often a request is repeated that fails in passing: status 429 or 5xx, no connection, no answer in time."""

    def load(self, documents: Sequence[str]) -> EndpointEncoder:
        """Connect to the endpoint; nothing is sent yet."""
        from judged.labels.client import URL_VARIABLE, Endpoint, Key

        del documents
        try:
            url = (self.url or os.environ.get(URL_VARIABLE, "")).rstrip("/").removesuffix("/embeddings")
            return EndpointEncoder(
                self, Endpoint(url, self.key_variable, timeout=self.timeout), Key(self.key_variable)
            )
        except BadProtocol as error:
            raise StageFailed(error.message, hint="set `url` and `key_variable`") from None

    def to_dict(self) -> dict[str, object]:
        """Return every setting that vectors depend on."""
        left_out = {"key_variable", "timeout", "total_timeout", "retries"}
        return {name: value for name, value in super().to_dict().items() if name not in left_out}


class EndpointEncoder:
    """A connection to an endpoint, kept open from one request to the next."""

    untrained = False

    def __init__(self, spec: OpenAI, endpoint: Endpoint, key: Key) -> None:
        from judged.labels.client import limit_answer

        self.spec, self._key = spec, key
        self.retries = 0
        """How many requests had to be repeated."""
        self.url = key.redact(endpoint.url)
        self.identity = {"endpoint": self.url}
        self._dimensions = spec.dimensions
        self._openai = need("openai", extra=spec.extra, needed_by="the encoder `openai`")
        portal = need("anyio.from_thread", extra=spec.extra, needed_by="the encoder `openai`")
        self._client = self._openai.AsyncOpenAI(
            base_url=endpoint.url,
            api_key=key.reveal(),
            timeout=endpoint.timeout,
            max_retries=spec.retries,
            default_headers={"Accept-Encoding": "identity"},
            http_client=self._openai.DefaultAsyncHttpxClient(
                follow_redirects=False,  # texts go to the named address only
                event_hooks={"response": [limit_answer(ANSWER_BYTES)]},
            ),
        )
        stack = ExitStack()
        # An event loop in a thread of its own: a total timeout needs one, and a notebook has its own already.
        self._thread = stack.enter_context(portal.start_blocking_portal())
        stack.callback(self._thread.call, self._client.close)
        self.close = weakref.finalize(self, stack.close)

    @property
    def dimensions(self) -> int:
        """The length of its vectors, as the first answer has it."""
        if self._dimensions is None:
            self._dimensions = len(self.encode_query("dimensions"))
        return self._dimensions

    def notes(self) -> list[str]:
        """Return how many requests were repeated."""
        if not self.retries:
            return []
        count = counted(self.retries, "request")
        return [f"{count} to {self.url} had to be repeated; the waits are part of the times"]

    def encode_documents(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of documents, from one request."""
        return self._encode([self.spec.document_prefix + text for text in texts])

    def encode_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        vector: Vector = self._encode([self.spec.query_prefix + text])[0]
        return vector

    def _encode(self, texts: list[str]) -> Matrix:
        answer = self._thread.call(self._ask, texts)
        found = self._read(answer, len(texts))
        if self._dimensions is None:
            self._dimensions = found.shape[1]
        if found.shape[1] != self._dimensions:
            msg = (
                f"{self.url} returned vectors of {found.shape[1]:,} dimensions, expected {self._dimensions:,}"
            )
            hint = f"does `{self.spec.model}` shorten its vectors? else leave `dimensions` out"
            raise StageFailed(msg, hint=hint if self.spec.dimensions else None)
        return normalise_rows(found) if self.spec.normalise else found

    async def _ask(self, texts: list[str]) -> Any:
        more = {} if self.spec.dimensions is None else {"dimensions": self.spec.dimensions}
        try:
            async with asyncio.timeout(
                self.spec.total_timeout
            ):  # those of the client start anew with every byte
                response = await self._client.embeddings.with_raw_response.create(
                    input=texts, model=self.spec.model, encoding_format="float", **more
                )
                self.retries += response.retries_taken
                return response.parse()
        except self._openai.APIStatusError as error:
            raise self._refuse(error) from None
        except (self._openai.APITimeoutError, TimeoutError):
            msg = f"{self.url} gave no answer in time: {self.spec.timeout:g} s for a request, {self.spec.total_timeout:g} s with retries"
            raise StageFailed(msg, hint="raise `timeout`, or lower `batch`") from None
        except self._openai.APIConnectionError as error:
            msg = f"{self.url} gave no answer: {self._describe(error.__cause__ or error)}"
            raise StageFailed(msg) from None
        except (
            self._openai.APIError,
            ValueError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:  # the body is another one
            msg = f"{self.url} returned an answer that is not one of embeddings: {self._describe(error)}"
            raise StageFailed(msg) from None

    def _refuse(self, error: Any) -> StageFailed:
        """Return the error for a status other than 200."""
        status = error.status_code
        if 300 <= status < 400:
            target = self._key.redact(error.response.headers.get("location", "nowhere"))[:_MESSAGE_LENGTH]
            msg = f"{self.url} redirects to `{target}` ({status}), which is not followed"
            return StageFailed(msg, hint="if you trust that address, give it as `url`")
        hint = None
        if status in {401, 403}:
            hint = f"the key is taken from the environment variable {self._key.variable}, which is {'set' if self._key else 'not set'}"
        elif status == 404:
            hint = f"the requested model is `{self.spec.model}`; most addresses end in /v1"
        return StageFailed(f"{self.url} answered with status {status}: {self._describe(error)}", hint=hint)

    def _describe(self, error: BaseException) -> str:
        """Return the message of an error on one line, without the key."""
        text = " ".join(str(error).split()) or type(error).__name__
        return self._key.redact(text)[:_MESSAGE_LENGTH]

    def _read(self, answer: Any, count: int) -> Matrix:
        """Return the vectors in the order of the texts; raise `StageFailed` unless there is one for each."""
        data = getattr(answer, "data", None)
        if not isinstance(data, list):
            shown = self._key.redact(" ".join(str(answer).split()))[:80]
            msg = f"{self.url} returned an answer that is not one of embeddings: `{shown}`"
            raise StageFailed(msg)
        places = [getattr(one, "index", None) for one in data]
        if len(data) != count or sorted(map(str, places)) != sorted(map(str, range(count))):
            msg = f"{self.url} returned {len(data):,} vectors for {count:,} texts, expected one for each, numbered from 0"
            raise StageFailed(msg)
        try:
            rows = [one.embedding for one in sorted(data, key=lambda one: int(one.index))]
            with np.errstate(over="ignore"):  # infinity, which is refused with the text that it came for
                found = np.array(rows, dtype=np.float32)
        except (TypeError, ValueError, AttributeError):
            found = np.empty(0, dtype=np.float32)
        if found.ndim != 2:
            msg = f"{self.url} returned vectors that are not rows of numbers of one length"
            raise StageFailed(msg)
        return found
