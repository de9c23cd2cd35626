"""What is said in place of a number that cannot be had, so that no table ever holds `nan`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NO_DIFFERENCE", "NO_SPREAD", "ONE_QUERY", "Undefined"]


@dataclass(frozen=True, slots=True)
class Undefined:
    """A number that these values do not determine, and why.

    >>> print(Undefined("no spread"))
    undefined: no spread
    """

    reason: str

    def __str__(self) -> str:
        return f"undefined: {self.reason}"


NO_SPREAD = Undefined("no spread")
ONE_QUERY = Undefined("one query")
NO_DIFFERENCE = Undefined("no query differs")
