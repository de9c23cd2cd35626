"""Existing systems behind an address: any endpoint that answers with JSON, and `_search` of Elasticsearch and OpenSearch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import msgspec

from judged.errors import BadProtocol, EndpointFailed
from judged.io.answer_shapes import BadAnswer, check_whole
from judged.io.search_results import AnswerReader, Found, SearchReply, read_score
from judged.net.http import Bounds, HttpClient
from judged.net.secrets import is_exposed, read_secret, redact
from judged.studies.stages.retrievers.retriever import RetrieveSpec, naming_answer
from judged.studies.stages.spares import Spares
from judged.studies.stages.stage import StageFailed
from judged.wording import name_some

MOST_FIELDS = 8
"""Fields of an answer that an error names."""
ANSWER_BYTES = 32 << 20
"""The largest answer that is read."""
_SECRET_HEADERS = {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"}
_PLACEHOLDER = re.compile(r"\{(query|depth)\}")
_UP_TO_LIST = re.compile(r"\$[^*]*?(?=\[\*\]|\.\*)")
"""The part of a JSONPath before its first wildcard: the list of results."""
_IDS, _SCORES = "$.hits.hits[*]._id", "$.hits.hits[*]._score"


class EndpointSpec(RetrieveSpec, frozen=True, kw_only=True):
    """Base of systems behind an address."""

    url: str
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    secrets: dict[str, str] = msgspec.field(default_factory=dict)
    """Headers whose value is a secret: the name of the environment variable that has it."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 30.0
    """Seconds to wait for an answer, from the request to its last byte."""
    attempts: Annotated[int, msgspec.Meta(ge=1)] = 4
    """Number of attempts for a request that fails temporarily: status 429 or 5xx, no connection, no answer in time."""

    extra: ClassVar[str] = "endpoint"
    id_hint: ClassVar[str] = "ids: $.results[*].doc_id"

    def connect(self) -> SearchClient:
        """Return the client; nothing is sent."""
        return SearchClient(self)


class SearchClient(HttpClient):
    """Client of a search engine, which keeps a connection open between queries as users' clients do."""

    def __init__(self, spec: EndpointSpec) -> None:
        check_address(spec.url, spec.headers)
        secrets = {header: _read_secret(header, variable) for header, variable in spec.secrets.items()}
        super().__init__(
            spec.url,
            headers={**spec.headers, **secrets},
            redact=lambda text: redact(text, secrets.values()),
            bounds=Bounds(spec.timeout, ANSWER_BYTES),
            extra=spec.extra,
            needed_by=f"the retriever `{spec.type}`",
        )
        self._exposes_secrets = bool(secrets) and is_exposed(spec.url)

    def notes(self) -> list[str]:
        """Return how many requests were repeated, and whether secrets were sent in the clear."""
        exposed = f"secret headers were sent to {self.url} without encryption"
        return [*super().notes(), *([exposed] if self._exposes_secrets else [])]


class Http(EndpointSpec, frozen=True, kw_only=True, tag="http"):
    """Any endpoint that answers with JSON.

    In `body` and `parameters`, `{query}` and `{depth}` stand for the text of the query and the number of results. They
    are put into values, before these are written as JSON or into the address, so that no query can change the request.
    """

    method: Literal["GET", "POST", "PUT"] = "POST"
    parameters: dict[str, str] = msgspec.field(default_factory=dict)
    """Parameters added to the address: `q: "{query}"`."""
    body: Any = None
    """The JSON to send; a value that is `{depth}` and nothing else becomes a number."""
    ids: str = "$[*].id"
    """JSONPath (RFC 9535) to the ids of documents in the answer, the best first."""
    scores: str | None = None
    """JSONPath to their scores, one for each id; None: the order is all there is."""

    def __post_init__(self) -> None:
        check_address(self.url, self.headers)
        for path in (self.ids, self.scores or "$"):
            _compile(path)
        if "{query}" not in _list_texts([self.body, self.parameters]):
            raise ValueError("neither `body` nor `parameters` has `{query}`")

    def open(self) -> _HttpSource:
        """Connect, and compile the paths."""
        return _HttpSource(self)


class Elasticsearch(EndpointSpec, frozen=True, kw_only=True, tag="elasticsearch"):
    """`_search` of Elasticsearch or OpenSearch: `match` on one field, `multi_match` on several, or a user-defined body."""

    index: str
    field: str | tuple[str, ...] = "text"
    body: dict[str, Any] | None = None
    """The body of the request, with `{query}` and `{depth}`; None makes it of `field`."""

    def __post_init__(self) -> None:
        check_address(self.url, self.headers)
        if self.body is not None and "{query}" not in _list_texts(self.body):
            raise ValueError("`body` has no `{query}`")

    def open(self) -> _HttpSource:
        """Connect to the index."""
        if self.body is not None:
            body = self.body
        else:
            several = not isinstance(self.field, str)
            asked: dict[str, Any] = (
                {"multi_match": {"query": "{query}", "fields": list(self.field)}}
                if several
                else {"match": {self.field: {"query": "{query}"}}}
            )
            # ids and scores are all that is read of a hit, so the server need not send the documents
            body = {"query": asked, "size": "{depth}", "_source": False}
        address = f"{self.url.rstrip('/')}/{quote(self.index, safe=',*')}/_search"
        spec = Http(
            url=address,
            headers=self.headers,
            secrets=self.secrets,
            timeout=self.timeout,
            attempts=self.attempts,
            body=body,
            ids=_IDS,
            scores=_SCORES,
        )
        return _HttpSource(spec, check_whole, about=self.url)


class _HttpSource:
    def __init__(
        self,
        spec: Http,
        check: Callable[[Any], None] = lambda _answer: None,
        *,
        about: str = "",
    ) -> None:
        self._about = about
        self._spec, self._check = spec, check
        self._clients = Spares(spec.connect)
        with self._clients.borrow():
            pass  # what is wrong with the settings is known before the first query
        self._ids = _compile(spec.ids)
        self._scores = None if spec.scores is None else _compile(spec.scores)
        prefix = _UP_TO_LIST.match(spec.ids)
        self._list = None if prefix is None else _compile(prefix[0])
        self.reader = AnswerReader()

    def find(self, text: str, depth: int) -> SearchReply:
        """Send the query, and read ids and scores of the answer."""
        spec = self._spec
        address, body = self._make_address(text, depth), fill_template(spec.body, text, depth)
        try:
            with self._clients.borrow() as client:
                answer = client.ask(spec.method, address, body, attempts=spec.attempts)
        except EndpointFailed as error:
            raise StageFailed(error.message, hint=error.hint) from None
        with naming_answer(spec.url):
            self._check(answer)
            return self._read(answer)

    def notes(self) -> list[str]:
        """Return what the clients say, each thing once."""
        return list(dict.fromkeys(note for client in self._clients.all for note in client.notes()))

    def forget(self) -> None:
        """Forget how many requests were repeated."""
        for client in self._clients.all:
            client.forget()

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.all:
            client.close()

    def version(self) -> str:
        """Return the version that the server reports about itself; empty if it has no such page, or does not show it."""
        if not self._about:
            return ""
        try:
            with self._clients.borrow() as client:
                about = client.ask("GET", self._about, attempts=1)
            return str(about["version"]["number"])
        except (EndpointFailed, LookupError, TypeError):
            return ""

    def _read(self, answer: object) -> SearchReply:
        spec = self._spec
        ids = self._ids.findall(answer)
        scores = [None] * len(ids) if self._scores is None else self._scores.findall(answer)
        if not ids and not self._is_empty(answer):
            shown = str(answer)[:80]
            msg = f"{spec.url} answered without anything at `{spec.ids}`: `{shown}`"
            raise StageFailed(msg, hint=_suggest_ids(answer))
        if len(scores) != len(ids):
            msg = f"{spec.url} answered with {len(ids)} ids and {len(scores)} scores, expected as many"
            raise StageFailed(msg, hint=f"`ids` is `{spec.ids}`, `scores` is `{spec.scores}`")
        places = (f"result {number}" for number in range(1, len(ids) + 1))
        try:
            return SearchReply(
                [
                    Found(self.reader.read_id(identifier, place), read_score(score, place))
                    for identifier, score, place in zip(ids, scores, places, strict=True)
                ]
            )
        except BadAnswer as error:
            if error.code == "bad-id":
                error.hint = _suggest_ids(answer)
            raise

    def _is_empty(self, answer: object) -> bool:
        """Return whether an answer without ids is one without results, and not one of another form."""
        if self._list is None:
            return isinstance(answer, list | dict) and not _has_items(answer)
        return self._list.findall(answer) in ([[]], [None])

    def _make_address(self, text: str, depth: int) -> str:
        parts = urlsplit(self._spec.url)
        plain = text.encode("utf-8", "replace").decode()  # half of a surrogate pair cannot be sent
        filled = fill_template(self._spec.parameters, plain, depth)
        query = "&".join(part for part in (parts.query, urlencode(filled)) if part)
        return urlunsplit((parts.scheme, parts.netloc, parts.path or "/", query, ""))


def fill_template(template: object, text: str, depth: int) -> Any:
    """Return a template with `{query}` and `{depth}` filled in, in texts at any depth; keys stay as they are.

    >>> fill_template({"q": {"match": "{query}"}, "size": "{depth}"}, 'a "b" {depth}', 10)
    {'q': {'match': 'a "b" {depth}'}, 'size': 10}
    """
    if isinstance(template, Mapping):
        return {key: fill_template(value, text, depth) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill_template(value, text, depth) for value in template]
    if template == "{depth}":
        return depth
    if isinstance(template, str):
        return _PLACEHOLDER.sub(lambda match: text if match[1] == "query" else str(depth), template)
    return template


def _suggest_ids(answer: object) -> str:
    """Return where the ids of an answer may be: the fields of its first list of objects."""
    waiting: list[tuple[str, Any]] = [("$", answer)]
    for path, value in waiting:  # grows while it is read, so that what is near the top comes first
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            fields = name_some([f"`{path}[*].{field}`" for field in value[0]], MOST_FIELDS)
            return f"`ids` is the JSONPath to the ids of documents; the answer has {fields}"
        if isinstance(value, Mapping) and len(waiting) < MOST_FIELDS**2:
            waiting += [(f"{path}.{key}", inner) for key, inner in value.items()]
    return "`ids` is the JSONPath to the ids of documents, such as `$.results[*].id`"


def _list_texts(value: object) -> str:
    """Return all texts of a template, one to a line."""
    if isinstance(value, Mapping):
        return "\n".join(map(_list_texts, value.values()))
    if isinstance(value, list | tuple):
        return "\n".join(map(_list_texts, value))
    return value if isinstance(value, str) else ""


def _has_items(answer: object) -> bool:
    """Return whether a list with something in it is anywhere in an answer."""
    if isinstance(answer, Mapping):
        return any(map(_has_items, answer.values()))
    return isinstance(answer, list) and bool(answer)


def _compile(path: str) -> Any:
    """Compile a JSONPath; raise `ValueError` if it is invalid."""
    import jsonpath

    try:
        return jsonpath.compile(path)
    except jsonpath.JSONPathError as error:
        msg = f"`{path}` is not a JSONPath: {error}"
        raise ValueError(msg) from None


def check_address(url: str, headers: Mapping[str, str]) -> None:
    """Raise `ValueError` if the URL is invalid or would leak a secret into results."""
    try:
        parts = urlsplit(url)
        port_is_right = parts.port is None or parts.port > 0
    except ValueError:
        port_is_right = False
        parts = urlsplit("")
    printable = all(32 < ord(sign) < 127 for sign in url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_right or not printable:
        msg = f"the address is `{url}`, expected one such as https://search.example/api"
        raise ValueError(msg)
    if "@" in parts.netloc:
        msg = "the address has a password; name an environment variable with the header: `secrets: {Authorization: VARIABLE}`"
        raise ValueError(msg)
    plain = [name for name in headers if name.lower() in _SECRET_HEADERS]
    if plain:
        msg = f"the header `{plain[0]}` holds a secret; name an environment variable: `secrets: {{{plain[0]}: VARIABLE}}`"
        raise ValueError(msg)


def _read_secret(header: str, variable: str) -> str:
    try:
        secret = read_secret(variable)
    except BadProtocol as error:
        raise StageFailed(error.message, hint=error.hint) from None
    if not secret:
        msg = f"the environment variable {variable}, named for the header `{header}`, is not set"
        raise StageFailed(msg)
    return secret
