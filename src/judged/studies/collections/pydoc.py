"""A test collection out of the docstrings of the standard library: the summary is the query, the rest the document."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

MODULES = tuple(
    """
abc argparse array ast asyncio asyncio.events asyncio.locks asyncio.queues asyncio.streams asyncio.tasks
base64 binascii bisect builtins bz2 calendar cmath cmd code codecs collections collections.abc colorsys
concurrent.futures concurrent.futures.process concurrent.futures.thread configparser contextlib contextvars
copy copyreg csv ctypes dataclasses datetime decimal difflib dis email email.charset email.header
email.headerregistry email.message email.mime.text email.parser email.policy email.utils enum errno
fileinput filecmp fnmatch fractions ftplib functools gc getopt getpass gettext glob graphlib gzip hashlib
heapq hmac html html.parser http http.client http.cookiejar http.cookies http.server imaplib importlib
importlib.abc importlib.machinery importlib.metadata importlib.resources importlib.util inspect io ipaddress
itertools json json.decoder json.encoder keyword linecache locale logging logging.config logging.handlers
lzma mailbox marshal math mimetypes modulefinder multiprocessing multiprocessing.connection
multiprocessing.managers multiprocessing.pool multiprocessing.shared_memory netrc numbers opcode operator
optparse os os.path pathlib pdb pickle pickletools pkgutil platform plistlib poplib pprint profile pstats
py_compile pydoc queue quopri random re reprlib runpy sched secrets select selectors shelve shlex shutil
signal smtplib socket socketserver sqlite3 ssl stat statistics string stringprep struct subprocess symtable
sys sysconfig tarfile tempfile textwrap threading time timeit token tokenize trace traceback tracemalloc
types typing unicodedata unittest unittest.async_case unittest.case unittest.loader unittest.main
unittest.mock unittest.result unittest.runner unittest.signals unittest.suite urllib.error urllib.parse
urllib.request urllib.response urllib.robotparser uuid venv warnings wave weakref webbrowser
wsgiref.handlers wsgiref.headers wsgiref.simple_server wsgiref.util wsgiref.validate xml.dom xml.dom.minidom
xml.dom.pulldom xml.etree.ElementTree xml.sax xml.sax.handler xml.sax.saxutils xml.sax.xmlreader
xmlrpc.client xmlrpc.server zipapp zipfile zipimport zlib zoneinfo
""".split()  # noqa: SIM905 - a list of words, one a line, would fill pages
)
"""Modules that can be imported without opening, printing or warning.

A Python built without one of them (`sqlite3`, `ssl`, …) has a smaller collection.
"""
SHORTEST_TEXT = 40
"""Minimum length, in characters, of the rest of a docstring that becomes a document."""
SHORTEST_QUERY, LONGEST_QUERY, FEWEST_WORDS = 15, 200, 3
ANSWER, OVERRIDE, NEIGHBOUR = 3, 2, 1
"""Grades."""

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_SIGNATURE = re.compile(r"^[\w.]+\s*\(|->|^[\w.]+: ")
"""The first line of a docstring that shows a call instead of a sentence."""


class Text(NamedTuple):
    """A document or a query."""

    name: str
    text: str


class Grade(NamedTuple):
    """Grade of a document for a query, and the object that it is a name of."""

    query: str
    document: str
    grade: int
    target: str


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, queries and judgments that belong together."""

    documents: tuple[Text, ...]
    queries: tuple[Text, ...]
    grades: tuple[Grade, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One object with a docstring, under all of its names."""

    names: tuple[str, ...]
    """Every dotted name, the one of its definition first: a re-export adds a name, not an entry."""
    summary: str
    """The first paragraph of its docstring, on one line."""
    text: str
    """The paragraphs after the first."""
    owner: str | None = None
    """The class it belongs to, by its first name."""
    overridden: frozenset[str] = frozenset()
    """The methods it overrides, by their first names."""

    @property
    def name(self) -> str:
        """Name of its definition."""
        return self.names[0]

    @property
    def asks(self) -> bool:
        """Whether the summary is a sentence that someone could search with, and that the text does not repeat."""
        summary = self.summary
        sized = SHORTEST_QUERY <= len(summary) <= LONGEST_QUERY and len(summary.split()) >= FEWEST_WORDS
        repeated = summary.rstrip(".").lower() in " ".join(self.text.split()).lower()
        return sized and not repeated and _SIGNATURE.search(summary) is None


def build(entries: Iterable[Entry], *, limit: int | None = None) -> Collection:
    """Build the collection of these objects, with at most `limit` queries, taken evenly."""
    known = {entry.name: entry for entry in entries if len(entry.text) >= SHORTEST_TEXT}
    answers: dict[str, list[Entry]] = defaultdict(list)
    members: dict[str, list[str]] = defaultdict(list)
    overrides: dict[str, set[str]] = defaultdict(set)
    for name, entry in known.items():
        if entry.asks:
            answers[entry.summary].append(entry)
        if entry.owner is not None:
            members[entry.owner].append(name)
        for other in entry.overridden & known.keys():
            overrides[name].add(other)
            overrides[other].add(name)

    def grade(query: str, answering: list[Entry]) -> Iterator[Grade]:
        """Grade answers, their overrides and their classes, under all names of each."""
        best: dict[str, int] = {}
        for answer in answering:
            owner = answer.owner or answer.name
            near = dict.fromkeys([owner, *members[owner]], NEIGHBOUR)
            for name, value in [*near.items(), *((name, OVERRIDE) for name in overrides[answer.name])]:
                best[name] = max(value, best.get(name, 0))
            best[answer.name] = ANSWER
        for name in sorted(best.keys() & known.keys()):
            yield from (Grade(query, document, best[name], name) for document in known[name].names)

    texts = sorted(answers)
    if limit is not None and limit < len(texts):
        texts = [texts[place * len(texts) // limit] for place in range(limit)]
    queries = [Text(f"q{number:04}", text) for number, text in enumerate(texts, start=1)]
    return Collection(
        documents=tuple(Text(name, entry.text) for entry in known.values() for name in entry.names),
        queries=tuple(queries),
        grades=tuple(row for query in queries for row in grade(query.name, answers[query.text])),
    )


@dataclass(slots=True)
class _Sighting:
    """An object and the names it was seen under."""

    thing: Any
    names: list[str]
    owner: int | None
    attribute: str

    @property
    def first(self) -> str:
        """The name of the definition, if it was seen there; else the shortest."""
        thing = self.thing
        home = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
        return min(self.names, key=lambda name: (name != home, len(name), name))


def find_entries(modules: Iterable[str] = MODULES) -> list[Entry]:
    """Find every documented function, class, method and property of these modules, sorted by name."""
    seen: dict[int, _Sighting] = {}

    def note(definition: object, name: str, owner: int | None = None, attribute: str = "") -> None:
        sighting = seen.setdefault(id(definition), _Sighting(definition, [], owner, attribute))
        if name not in sighting.names:
            sighting.names.append(name)

    for module in _import_all(modules):
        for name, definition in _find_public(module):
            note(definition, f"{module.__name__}.{name}")
    for sighting in [sighting for sighting in seen.values() if inspect.isclass(sighting.thing)]:
        for name, member in sorted(vars(sighting.thing).items()):
            definition = getattr(member, "__func__", member)
            if name.startswith("_") or not _is_own(definition):
                continue
            if inspect.isroutine(definition) or isinstance(definition, property):
                note(definition, f"{sighting.first}.{name}", id(sighting.thing), name)
    entries = [entry for sighting in seen.values() if (entry := _describe(sighting, seen)) is not None]
    return sorted(entries, key=lambda entry: entry.name)


def _import_all(modules: Iterable[str]) -> Iterator[ModuleType]:
    for name in modules:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield import_module(name)
        except ImportError:  # a Python may be built without it
            continue


def _find_public(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Return the functions and classes that a module exports; without `__all__`, those that it defines."""
    for name in sorted(getattr(module, "__all__", None) or vars(module)):
        definition = getattr(module, name, None)
        if name.startswith("_") or not (inspect.isclass(definition) or inspect.isroutine(definition)):
            continue
        if name.endswith("hook") or not _is_own(
            definition
        ):  # what programs replace would make the collection depend on them
            continue
        home = (getattr(definition, "__module__", None) or "").lstrip("_")
        if hasattr(module, "__all__") or f"{home}.".startswith(f"{module.__name__}."):
            yield name, definition


def _is_own(definition: object) -> bool:
    """Return whether an object is the standard library's, and was not put there by another package."""
    home = getattr(definition, "__module__", None)
    return not isinstance(home, str) or home.partition(".")[0] in sys.stdlib_module_names


def _describe(sighting: _Sighting, seen: dict[int, _Sighting]) -> Entry | None:
    documentation = getattr(sighting.thing, "__doc__", None)
    if not isinstance(documentation, str) or _ADDRESS.search(documentation):
        return None
    summary, _, text = inspect.cleandoc(documentation).partition("\n\n")
    first, owner = sighting.first, None if sighting.owner is None else seen[sighting.owner]
    overridden = set()
    for base in [] if owner is None else owner.thing.__mro__[1:]:
        member = vars(base).get(sighting.attribute)
        other = seen.get(id(getattr(member, "__func__", member)))
        if other is not None and other is not sighting:
            overridden.add(other.first)
    return Entry(
        names=(first, *sorted(name for name in sighting.names if name != first)),
        summary=" ".join(summary.split()),
        text=text.strip(),
        owner=None if owner is None else owner.first,
        overridden=frozenset(overridden),
    )
