"""The viewer as an application: pages with their JSON twins, and the stream of changes.

    /            the report of the inputs, or the list of a folder        /index.json
    /result      a saved result of the folder: ?name=                     /result.json
    /compare     two of them: ?first= &second=                            /compare.json
    /events      the version of what a page shows, and every later one

Names are looked up in the list of what is served; no part of an address is ever made a path.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import quote

from anyio import to_thread
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from judged.comparison.api import compare_results
from judged.errors import BadSample, JudgedError, UnknownName
from judged.report.page import render_report
from judged.result import Result
from judged.web.guard import Limits
from judged.web.live import Live, State, describe
from judged.web.pages import Page, address, make_live, render_error, render_folder

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

INTERVAL = 0.5
"""Seconds between two checks of the files."""
HEARTBEAT = 15.0
"""Seconds after which a silent stream is written to, which finds clients that are gone."""
KEPT = 8
"""Pages and comparisons that stay in memory."""

LONGEST_WARNING = 500
"""Characters of a warning in a header; the page has all of it."""

T = TypeVar("T")


@dataclass(frozen=True)
class Content:
    """Content of an address: results, their version, and notes on them."""

    results: tuple[Result, ...]
    titles: tuple[str, ...]
    version: str
    warning: str = ""


Find: TypeAlias = Callable[..., Content]


class Viewer:
    """Answers requests from the newest state of the inputs."""

    def __init__(
        self, live: Live, *, title: str, report: Mapping[str, Any] | None = None, limits: Limits | None = None
    ) -> None:
        self.live = live
        self.title = title
        self.report = dict(report or {})
        """Options of `render_report`."""
        self.limits = limits or Limits()
        self.ending = asyncio.Event()
        """Set when the server shuts down, which ends the streams."""
        self._streams: set[_Limited] = set()
        self._kept: OrderedDict[tuple[str, ...], object] = OrderedDict()
        self._lock = Lock()

    def application(self) -> Starlette:
        """Return the application that a server runs."""
        routes = [Route("/events", self._stream)]
        if self.live.folder is None:
            routes += self._add_page("/", self._find_all, twin="/index.json")
        else:
            routes += [Route("/", self._show_folder), Route("/index.json", self._write_folder)]
            routes += self._add_page("/result", self._find_result, "name", twin="/result.json")
            routes += self._add_page(
                "/compare", self._find_comparison, "first", "second", twin="/compare.json"
            )
        return Starlette(routes=routes, lifespan=self._watch)

    @asynccontextmanager
    async def _watch(self, _: Starlette) -> AsyncIterator[None]:
        """Check the files while the server runs."""

        async def check() -> None:
            while True:
                await to_thread.run_sync(self.live.check)
                await asyncio.sleep(INTERVAL)

        task = asyncio.create_task(check())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    def _add_page(self, path: str, find: Find, *parameters: str, twin: str) -> list[Route]:
        """Return the routes of a page and of its twin; `find` receives the parameters of the address."""

        async def show(request: Request) -> Response:
            names = [request.query_params.get(parameter, "") for parameter in parameters]
            return await to_thread.run_sync(self._make_page, find, names)

        async def write(request: Request) -> Response:
            names = [request.query_params.get(parameter, "") for parameter in parameters]
            return await to_thread.run_sync(self._make_twin, find, names)

        return [Route(path, show), Route(twin, write)]

    def _make_page(self, find: Find, names: Sequence[str]) -> Response:
        folder = self.live.folder is not None

        def render() -> Page:
            title = " and ".join(names) or self.title
            report = render_report(content.results, title=title, titles=content.titles, **self.report)
            return make_live(
                report, names=names, version=content.version, folder=folder, warning=content.warning
            )

        try:
            content = find(*names)
            return _send(self._keep(("page", *names, content.version), render), warning=content.warning)
        except (JudgedError, OSError) as error:
            version = self.live.version(*names)
            page = render_error(describe(error), names=names, version=version, folder=folder)
            return _send(page, _status(error))

    def _make_twin(self, find: Find, names: Sequence[str]) -> Response:
        try:
            content = find(*names)
            documents = [result.to_json(per_query=True) for result in content.results]
        except (JudgedError, OSError) as error:
            return JSONResponse({"error": describe(error)}, _status(error))
        text = documents[0] if len(documents) == 1 else f"[{','.join(documents)}]\n"
        return Response(text, media_type="application/json", headers=_describe_warning(content.warning))

    def _find_all(self) -> Content:
        states = [self.live.read(name) for name in self.live.names]
        results = tuple(result for state in states for result in state.results)
        titles = tuple(self.live.names) if len(results) == len(states) > 1 else ()
        return Content(results, titles, _join_versions(states), _join_problems(states))

    def _find_result(self, name: str) -> Content:
        state = self.live.read(name)
        return Content(state.results, (name,), state.version, _join_problems([state]))

    def _find_comparison(self, first: str, second: str) -> Content:
        if first == second:
            msg = f"`{first}` was chosen twice, expected two results"
            raise BadSample(msg)
        states = [self.live.read(name) for name in (first, second)]
        version = _join_versions(states)
        results = tuple(result for state in states for result in state.results)

        def compare() -> Content:
            warning = _join_problems(states)
            try:
                compared = compare_results(dict(zip((first, second), results, strict=True)))
            except JudgedError as error:
                return Content(
                    results,
                    (first, second),
                    version,
                    f"{warning}These results are not comparable: {describe(error)}",
                )
            return Content((compared,), (f"{first} and {second}",), version, warning)

        return self._keep(("comparison", first, second, version), compare)

    def _keep(self, key: tuple[str, ...], make: Callable[[], T]) -> T:
        """Return what was made under that key, or make it; the least recently used is dropped."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]  # type: ignore[return-value]

    async def _show_folder(self, _: Request) -> Response:
        saved = await to_thread.run_sync(self.live.list)
        return _send(render_folder(self.title, saved, version=self.live.version()))

    async def _write_folder(self, _: Request) -> Response:
        saved = await to_thread.run_sync(self.live.list)
        listed = [
            {
                "name": result.name,
                "kind": result.kind,
                "saved": f"{result.time.replace(' ', 'T')}Z",
                "bytes": result.size,
                "page": address("/result", name=result.name),
                "json": address("/result.json", name=result.name),
            }
            for result in saved
        ]
        return Response(json.dumps({"results": listed}, indent=2) + "\n", media_type="application/json")

    async def _stream(self, request: Request) -> Response | _Limited:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        names = request.query_params.getlist("name")
        stream = StreamingResponse(self._follow(names), media_type="text/event-stream")
        return _Limited(stream, self._streams, most=self.limits.streams)

    async def _follow(self, names: Sequence[str]) -> AsyncIterator[str]:
        """Yield the version of what these inputs show, and each later one, until the server ends."""
        last, silent = None, 0.0
        while not self.ending.is_set():
            version = await to_thread.run_sync(self.live.version, *names)
            silent += INTERVAL
            if version != last or silent > HEARTBEAT:
                yield f"data: {version}\n\n" if version != last else ":\n\n"
                last, silent = version, 0.0
            with suppress(TimeoutError):
                await asyncio.wait_for(self.ending.wait(), INTERVAL)


class _Limited:
    """A stream whose number is limited: it is counted where the limit is checked, until it ends in any way."""

    def __init__(self, stream: StreamingResponse, running: set[_Limited], *, most: int) -> None:
        self._stream, self._running, self._most = stream, running, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream, or say that there are too many; nothing is awaited between the check and the count."""
        if len(self._running) >= self._most:
            refusal = PlainTextResponse("Too many pages are open.\n", 503, {"Retry-After": "10"})
            await refusal(scope, receive, send)
            return
        self._running.add(self)
        try:
            await self._stream(scope, receive, send)
        finally:
            self._running.discard(self)


def _send(page: Page, status: int = 200, *, warning: str = "") -> Response:
    headers = {"Content-Security-Policy": page.policy, **_describe_warning(warning)}
    return HTMLResponse(page.html, status, headers)


def _describe_warning(warning: str) -> dict[str, str]:
    return {"Judged-Warning": quote(warning[:LONGEST_WARNING], safe=" `:;,.()/'")} if warning else {}


def _join_versions(states: Sequence[State]) -> str:
    return "-".join(state.version for state in states)


def _join_problems(states: Sequence[State]) -> str:
    problems = [state.problem for state in states if state.problem]
    return f"This page is older than its files: {'; '.join(problems)}\n" if problems else ""


def _status(error: JudgedError | OSError) -> int:
    return 404 if isinstance(error, UnknownName) else 422
