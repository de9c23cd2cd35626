"""Deduplication by plain loops over all groups and all their members, as the rules are written."""

from __future__ import annotations

from collections.abc import Iterable

from judged.agents.dedup.keys import Keys
from judged.agents.dedup.match import Fields, compare, find_vetoes, sum_weights
from judged.agents.dedup.rules import Rules


def clusters_by_loops(results: Iterable[Keys], rules: Rules) -> list[int]:
    """The cluster of each result: the surest group that has a member which verifies, and none that vetoes."""
    groups: list[list[Keys]] = []
    numbers = []
    for keys in results:
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
    return any((fields.domain, fields.generic, fields.url, fields.loose_url, fields.text))
