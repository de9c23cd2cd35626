"""Deduplication by plain loops over all groups and all their members, as the rules are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judged.agents.dedup.keys import Keys
from judged.agents.dedup.match import Fields, compare, find_vetoes, sum_weights
from judged.agents.dedup.rules import Rules
from judged.agents.tables import Hit


def clusters_by_loops(
    found: Sequence[tuple[Hit, str | None]], results: Iterable[Keys], rules: Rules
) -> list[int]:
    """The cluster of each result: that of an equal one, else the surest group that verifies and does not veto."""
    groups: list[list[Keys]] = []
    numbers: list[int] = []
    for keys, own in zip(results, found, strict=True):
        if own in found[: len(numbers)] and _sure([compare(keys, keys)], rules):
            numbers.append(numbers[found.index(own)])
            groups[numbers[-1]].append(keys)
            continue
        sure = [_sure([compare(keys, member) for member in group], rules) for group in groups]
        best = max(sure, default=0.0)
        number = sure.index(best) if best else len(groups)
        if number == len(groups):
            groups.append([])
        groups[number].append(keys)
        numbers.append(number)
    return numbers


def _sure(members: list[Fields], rules: Rules) -> float:
    """The confidence of a group; 0 if it does not take the result in."""
    if any(find_vetoes(fields, rules.unit) for fields in members):
        return 0.0
    best = (
        max(sum_weights(fields, rules.weights) for fields in members if _found(fields))
        if any(map(_found, members))
        else 0.0
    )
    return best if best >= rules.threshold else 0.0


def _found(fields: Fields) -> bool:
    """Whether phase one finds the member: by some key, and never by its title alone."""
    return any((fields.domain, fields.generic, fields.url, fields.loose_url, fields.text, fields.short_text))
