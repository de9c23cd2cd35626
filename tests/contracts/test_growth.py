"""Every compiled regular expression of the package takes time in proportion to its text."""

from __future__ import annotations

import inspect
import re
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from re import _constants as codes, _parser as parser  # type: ignore[attr-defined]
from time import process_time
from types import ModuleType
from typing import Any

import pytest

import judged

LENGTHS = (500, 2_000, 8_000)
"""Characters of the probes: a quadratic pattern takes a tenth of a second and more for the longest."""
SUSPICIOUS = 0.012
"""Seconds from which a probe is timed again, at several lengths."""


def list_modules() -> Iterator[ModuleType]:
    """Import every module that can be imported here."""
    for found in walk_packages(judged.__path__, "judged."):
        if found.name.rpartition(".")[2].startswith("__"):
            continue
        try:
            yield import_module(found.name)
        except ImportError:
            continue  # an extra that is not installed


def find_patterns(value: object, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns in a value, in containers and in attributes of instances of our own classes."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from find_patterns(inner, depth - 1)
    elif depth and isinstance(value, dict):
        yield from find_patterns([*value.keys(), *value.values()], depth - 1)
    elif depth and type(value).__module__.startswith("judged") and hasattr(value, "__dict__"):
        yield from find_patterns(list(vars(value).values()), depth - 1)


def collect_patterns() -> dict[str, re.Pattern[Any]]:
    """Return every pattern of the package by the module and the name that hold it."""
    found: dict[str, re.Pattern[Any]] = {}
    for module in list_modules():
        for name, value in vars(module).items():
            for number, pattern in enumerate(find_patterns(value)):
                found.setdefault(f"{module.__name__}.{name}[{number}]", pattern)
    distinct: dict[tuple[Any, int], str] = {}
    for name, pattern in found.items():
        distinct.setdefault((pattern.pattern, pattern.flags), name)
    return {name: found[name] for name in distinct.values()}


def sample(nodes: Any) -> str:
    """Return a text that a sequence of a parsed pattern is likely to match."""
    return "".join(map(sample_node, nodes))


def sample_node(node: tuple[Any, Any]) -> str:  # noqa: PLR0911 - one for each kind
    """Return a text that one item of a parsed pattern is likely to match."""
    kind, value = node
    if kind is codes.LITERAL:
        return chr(value)
    if kind is codes.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if kind is codes.ANY:
        return "a"
    if kind is codes.IN:
        return sample_class(value)
    if kind is codes.BRANCH:
        return sample(value[1][0])
    if kind is codes.SUBPATTERN:
        return sample(value[3])
    if kind is codes.ATOMIC_GROUP:
        return sample(value)
    if kind in REPEATS:
        return sample(value[2]) * max(value[0], 1 if value[1] else 0)
    return ""


REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}
CATEGORIES = {
    codes.CATEGORY_DIGIT: "0",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_NOT_WORD: " ",
}


def sample_class(items: Any) -> str:
    """Return a character of a class."""
    if items[0][0] is codes.NEGATE:
        excluded = re.compile("[" + "".join(map(describe_item, items[1:])) + "]")
        return next(sign for sign in "ab 0_-.\n<" + chr(1) if not excluded.match(sign))
    kind, value = items[0]
    if kind is codes.LITERAL:
        return chr(value)
    return chr(value[0]) if kind is codes.RANGE else CATEGORIES.get(value, "a")


def describe_item(item: tuple[Any, Any]) -> str:
    """Return an item of a class as it is written in a pattern."""
    kind, value = item
    if kind is codes.LITERAL:
        return re.escape(chr(value))
    if kind is codes.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    names = {codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_WORD: r"\w"}
    return names.get(value, "a")


def make_seeds(nodes: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield what comes before each repetition of a pattern, and what is repeated there."""
    for node in nodes:
        kind, value = node
        if kind in REPEATS:
            body = sample(value[2]) or "a"
            yield before, body
            yield from make_seeds(value[2], before)
        elif kind is codes.SUBPATTERN:
            yield from make_seeds(value[3], before)
        elif kind is codes.ATOMIC_GROUP:
            yield from make_seeds(value, before)
        elif kind is codes.BRANCH:
            for branch in value[1]:
                yield from make_seeds(branch, before)
        before += sample_node(node)
        if before:
            yield "", before


def make_probes(pattern: re.Pattern[Any], length: int) -> Iterator[Any]:
    """Yield texts that make a pattern try and fail as often as it can."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    nodes = parser.parse(
        text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    )
    plain = [("", body) for body in (" ", "\n", "a", "0", "<", "(", "[", '"', "a.", "a b ", "/a", "\n ")]
    for before, body in dict.fromkeys([*make_seeds(nodes), *plain]):
        for end in ("\x01", "\n\x01"):
            whole = before + body * max((length - len(before)) // len(body), 1) + end
            yield whole if isinstance(pattern.pattern, str) else whole.encode("latin-1", "replace")


def list_uses(name: str) -> set[str]:
    """Return the methods by which the module that holds a pattern uses it; otherwise assume that it finds all matches."""
    module, _, rest = name.rpartition(".")
    source = inspect.getsource(import_module(module))
    if rest.partition("[")[0] in MATCHED:
        return {"match"}
    methods = set(re.findall(rf"\b{re.escape(rest.partition('[')[0])}\.(\w+)\(", source))
    return (
        methods & {"match", "fullmatch", "search"} if methods <= {"match", "fullmatch", "search"} else SEARCH
    )


SEARCH = {"finditer"}
MATCHED = {"_BARE_LINK", "_NUMBERED_LINK"}
"""Patterns that are matched at the beginning of a line under another name."""


def measure(pattern: re.Pattern[Any], text: Any, uses: set[str]) -> float:
    """Return the seconds that the uses of a pattern take, the least of two."""
    times = []
    for _ in range(2):
        started = process_time()
        for use in uses or SEARCH:
            found = getattr(pattern, use)(text)
            if use == "finditer":
                deque(found, maxlen=0)
        times.append(process_time() - started)
        if times[0] < SUSPICIOUS:
            break
    return min(times)


def find_growth(pattern: re.Pattern[Any], uses: set[str]) -> str | None:
    """Return the probe for which time grows faster than the text; None if there is none.

    Lengths double from a few hundred characters, so that a cubic pattern is seen in milliseconds.
    """
    suspects = range(sum(1 for _ in make_probes(pattern, 1)))
    for length in LENGTHS:
        probes = list(make_probes(pattern, length))
        for number in suspects:
            if measure(pattern, probes[number], uses) < SUSPICIOUS:
                continue
            texts = [list(make_probes(pattern, length * factor // 4))[number] for factor in (1, 2, 4)]
            times = [measure(pattern, text, uses) for text in texts]
            if times[2] > 2.8 * times[1] and times[2] > 7 * times[0]:
                return f"{probes[number][:60]!r}…: {', '.join(f'{seconds:.3f}' for seconds in times)} s"
    return None


PATTERNS = collect_patterns()


def test_patterns_are_found() -> None:
    """The walk reaches constants of modules, in containers too."""
    assert len(PATTERNS) > 40


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_is_linear(name: str) -> None:
    """Four times the text takes about four times as long, for texts made from the pattern itself."""
    assert find_growth(PATTERNS[name], list_uses(name)) is None


@pytest.mark.parametrize("pattern", [r"\d+\.?\d*x", r"^[ \t]*[ \t]*[ \t]*x", r"<(a|b)>.*?</\1>", r"\s+$"])
def test_growth_is_seen(pattern: str) -> None:
    """The test fails for patterns that are known to be quadratic or worse."""
    assert find_growth(re.compile(pattern, re.DOTALL), SEARCH) is not None
