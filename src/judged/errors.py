"""The errors that judged raises, in one tree; each says what is wrong, where, and what to do.

    JudgedError
    ├── UnknownName      (LookupError)   no measure, profile or format has that name
    ├── BadMeasure       (ValueError)    the text or parameters of a measure make no sense
    ├── BadInput         (ValueError)    judgments or a run cannot be read or would mean nothing
    │   ├── Unwritable                   a table that a format cannot hold
    │   └── Unusable                     query attributes or timings that cannot be used
    ├── Unreadable       (OSError)       a file is not there, not readable, or not what it should be
    ├── WrongKind        (TypeError)     an object of a kind that holds neither judgments nor a run
    ├── BadProtocol      (ValueError)    a protocol or configuration contradicts itself
    ├── BadSample        (ValueError)    values for which no interval or test can be computed
    ├── TooLarge         (MemoryError)   an input needs more memory than there is
    ├── MissingQueries   (ValueError)    queries lack results and the protocol forbids that
    ├── EndpointFailed   (ConnectionError)  a model's endpoint refuses all requests, or answers none
    ├── EngineFailed     (RuntimeError)  a vector index refuses its settings, ignores one, or answers nothing
    ├── BadPlugin        (ImportError)   what a package announces, or a user's module, cannot be used
    └── MissingExtra     (ImportError)   an optional package is not installed

The command line prints `str(error)` and exits with `error.exit_code`, never with a traceback.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judged.problem import Problem

__all__ = [
    "BadInput",
    "BadMeasure",
    "BadPlugin",
    "BadProtocol",
    "BadSample",
    "EndpointFailed",
    "EngineFailed",
    "JudgedError",
    "MissingExtra",
    "MissingQueries",
    "TooLarge",
    "UnknownName",
    "Unreadable",
    "Unusable",
    "Unwritable",
    "WrongKind",
]

SHOWN = 10
"""Maximum number of problems of an input that an error lists; the rest are counted."""


class JudgedError(Exception):
    """Base class of every error judged raises; the user can fix all of them."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n\nhint: {self.hint}"


class UnknownName(JudgedError, LookupError):
    """No measure, profile, format or column has that name."""

    def __init__(self, kind: str, name: str, known: Collection[str], *, hint: str | None = None) -> None:
        self.name = name
        self.nearest = None if hint is not None else _find_nearest(str(name), known)
        """The known name that it is most like, if the hint is that."""
        if hint is None:
            every = ", ".join(sorted(known, key=str.lower))
            hint = f"known: {every}" if self.nearest is None else f"did you mean `{self.nearest}`?"
        super().__init__(f"no {kind} is called `{name}`", hint=hint)


class BadMeasure(JudgedError, ValueError):
    """A measure was written in a way that has no meaning."""


class BadProtocol(JudgedError, ValueError):
    """A protocol or a configuration file contradicts itself."""


class Unreadable(JudgedError, OSError):
    """A file that is not there, cannot be opened, or is damaged."""


class WrongKind(JudgedError, TypeError):
    """An object of a type that cannot be used here."""


class BadSample(JudgedError, ValueError):
    """Values for which no interval or test can be computed."""


class TooLarge(JudgedError, MemoryError):
    """An input that needs more memory than there is."""

    def __init__(self) -> None:
        super().__init__(
            "not enough memory for these inputs",
            hint="write large runs sorted by query and uncompressed, which are read in parts; or raise the memory limit",
        )


class MissingQueries(JudgedError, ValueError):
    """Judged queries have no results, and the protocol says that is an error."""


class EndpointFailed(JudgedError, ConnectionError):
    """The endpoint of a model refuses every request, or answers none; what was answered before is kept."""


class EngineFailed(JudgedError, RuntimeError):
    """A vector index that refuses its settings, ignores one of them, or answers no query."""


class BadPlugin(JudgedError, ImportError):
    """The object that a package announces under an entry point, or a user's "module:attribute", cannot be used."""


class MissingExtra(JudgedError, ImportError):
    """An optional package is needed and is not installed."""

    def __init__(self, package: str, *, extra: str, needed_by: str) -> None:
        super().__init__(
            f"{needed_by} needs the package `{package}`, which is not installed",
            hint=f"install the extra `{extra}`: in a clone of judged, `pip install '.[{extra}]'`",
        )


class BadInput(JudgedError, ValueError):
    """Judgments or a run that cannot be scored; all problems are counted and the first ones listed."""

    verdict = "cannot be scored"

    def __init__(
        self,
        subject: str,
        problems: Sequence[Problem],
        *,
        counts: Counter[str] | None = None,
        hint: str | None = None,
    ) -> None:
        self.subject = subject
        self.problems = tuple(problems)
        self.counts = Counter(problem.code for problem in problems) if counts is None else counts
        super().__init__(self._describe(), hint=hint)

    def _describe(self) -> str:
        total = self.counts.total()
        if total == 1 and len(self.problems) == 1:
            return f"{self.subject} {self.verdict}\n  {self.problems[0]}"
        most_first = sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))
        codes = ", ".join(f"{code} ({count:,})" for code, count in most_first)
        lines = [f"{self.subject} {self.verdict}: {codes}"]
        lines += [f"  {problem}" for problem in self.problems[:SHOWN]]
        if total > min(len(self.problems), SHOWN):
            lines.append(f"  … and {total - min(len(self.problems), SHOWN):,} more")
        return "\n".join(lines)


class Unwritable(BadInput):
    """A table that a format cannot represent."""

    verdict = "cannot be written in this format"


class Unusable(BadInput):
    """Query attributes or timings that cannot be used."""

    verdict = "cannot be used"


def check_kind(name: str, value: object, kind: type | tuple[type, ...], expected: str) -> None:
    """Raise `WrongKind` unless an argument is of a kind; True and False are not numbers.

    >>> check_kind("seed", "x", int, "a whole number")
    Traceback (most recent call last):
    judged.errors.WrongKind: `seed` is 'x' (str), expected a whole number
    """
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        shown = repr(value) if len(repr(value)) <= 40 else f"{repr(value)[:39]}…"
        msg = f"`{name}` is {shown} ({type(value).__name__}), expected {expected}"
        raise WrongKind(msg)


def _find_nearest(name: str, known: Collection[str]) -> str | None:
    """Return the closest known name, regardless of case; None if none is close."""
    from difflib import get_close_matches

    by_lower = {known_name.lower(): known_name for known_name in known}
    close = get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[close[0]] if close else None
