"""Dicts of dicts and dicts of lists: query → document → number, or query → documents, best first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

from judged.errors import WrongKind
from judged.problem import Locate, Place, Problems

__all__ = ["Flat", "flat_lists", "flat_mapping", "looks_plain"]

BAD_ROWS = "bad-value"


@dataclass
class Flat:
    """The rows of a nested object, one list for each column."""

    query: list[Any] = field(default_factory=list)
    document: list[Any] = field(default_factory=list)
    number: list[Any] = field(default_factory=list)

    def place(self) -> Locate:
        """Words where a row stands: by its query and document, since a dict has no lines."""
        return lambda row: Place(f"query `{self.query[row]}`, document `{self.document[row]}`")

    def unnest(self, *, subject: str) -> list[Any]:
        """Take a number out of each dict that stands for one, row by row, and return the keys of them all."""
        faults = Problems(subject, self.place())
        for row, inner in enumerate(self.number):
            if not isinstance(inner, Mapping):
                faults.add(BAD_ROWS, row, f"holds {_kind(inner)}, expected a dict from intent to grade")
        faults.raise_if_any()
        inner = self.number
        times = [len(each) for each in inner]
        self.query = list(chain.from_iterable(map(repeat, self.query, times)))
        self.document = list(chain.from_iterable(map(repeat, self.document, times)))
        self.number = list(chain.from_iterable(each.values() for each in inner))
        return list(chain.from_iterable(inner))


def flat_mapping(mapping: Mapping[Any, Any], *, subject: str, number: str) -> Flat:
    """The rows of a dict of dicts; a query whose value is no dict is refused."""
    faults = Problems(subject, lambda row: Place(f"query `{list(mapping)[row]}`"))
    for row, inner in enumerate(mapping.values()):
        if not isinstance(inner, Mapping):
            faults.add(BAD_ROWS, row, f"holds {_kind(inner)}, expected a dict from document to {number}")
    faults.raise_if_any()
    rows = mapping.items()
    return Flat(
        list(chain.from_iterable(repeat(query, len(inner)) for query, inner in rows)),
        list(chain.from_iterable(mapping.values())),
        list(chain.from_iterable(inner.values() for inner in mapping.values())),
    )


def flat_lists(lists: Mapping[Any, Any], *, subject: str, ordered: bool) -> Flat:
    """The rows of a dict of lists of ids, numbered −1, −2, … within each query.

    Where order carries meaning (`ordered`), a set is refused.
    """
    faults = Problems(subject, lambda row: Place(f"query `{list(lists)[row]}`"))
    flat = Flat()
    for row, (query, ids) in enumerate(lists.items()):
        documents = _listed(ids, ordered=ordered)
        if documents is None:
            expected = "a list of document ids" + (", best first" if ordered else "")
            faults.add(BAD_ROWS, row, f"holds {_kind(ids)}, expected {expected}")
            continue
        flat.query += [query] * len(documents)
        flat.document += documents
        flat.number += [float(-place) for place in range(1, len(documents) + 1)]
    faults.raise_if_any()
    return flat


def looks_plain(mapping: Mapping[Any, Any]) -> bool:
    """Whether all queries are text and hold dicts; documents and numbers are looked at when they are aligned."""
    return _all(mapping, str) and _all(mapping.values(), Mapping)


def _all(values: Iterable[Any], kind: type) -> bool:
    """Whether all values are of a kind, asked once for each type among them."""
    return all(issubclass(each, kind) for each in set(map(type, values)))


def _listed(ids: Any, *, ordered: bool) -> list[Any] | None:
    """The ids as a list; None if they are not a collection, or have no order where one is needed."""
    if isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable):
        return None
    if isinstance(ids, AbstractSet):
        return None if ordered else list(ids)
    return list(ids.tolist() if hasattr(ids, "tolist") else ids)


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0].lower() in "aeiou" else f"a {name}"


def need_mapping(mapping: Any, subject: str) -> Mapping[Any, Any]:
    """The mapping itself, or an error that says what was given."""
    if not isinstance(mapping, Mapping):
        msg = f"{subject} is {_kind(mapping)}, expected a dict"
        raise WrongKind(msg)
    return mapping
