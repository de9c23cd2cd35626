"""Clusters in a comparison: the queries that belong together, by an attribute, and whether they are enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from judged.comparison.settings import NOT_BY_CLUSTER, TESTS
from judged.comparison.slices import Attributes
from judged.errors import BadSample, UnknownName, check_kind
from judged.problem import Note
from judged.wording import counted, name_some, plural

if TYPE_CHECKING:
    from judged.comparison.contrasts import PairedScores
    from judged.comparison.systems import System

ClusterChoice: TypeAlias = str | Mapping[str, str] | Attributes | None
"""The name of an attribute of the queries, the cluster of each query, or a single attribute."""

FEW = 15, "false alarms of a test at 5 % were up to 9 %, where differences are skewed and clusters unequal"
"""With fewer clusters than this, tests and intervals may be less reliable than they say, and how much by simulation."""
FEW_RESAMPLED = 50, "false alarms of the bootstrap at 5 % were 7 to 16 %, where clusters are unequal"
"""The same for the bootstrap, which draws clusters with replacement; the table is in the guide on statistics."""
LARGEST = 0.5
"""A cluster with a larger share of the queries than this decides about all of them."""


def choose_clusters(
    choice: ClusterChoice, attributes: Attributes | None, systems: Sequence[System]
) -> tuple[str, Mapping[str, str]]:
    """Return the name of the clusters and the cluster of each query; empty if queries are independent.

    A name is looked up among the `attributes` of the queries, then among those of the scores. Without a choice, clusters are
    those that the scores have themselves.
    """
    check_kind(
        "clusters",
        choice,
        (str, Mapping, Attributes, type(None)),
        "the name of an attribute, or a dict by query",
    )
    if isinstance(choice, Attributes):
        ((name, by_query),) = choice.values.items()
        return name, by_query
    if isinstance(choice, Mapping):
        return "cluster", {str(query): str(cluster) for query, cluster in choice.items()}
    if choice is None:
        return "cluster", _merge("cluster", [system.clusters for system in systems])
    given = {} if attributes is None else attributes.values
    if choice in given:
        return choice, given[choice]
    own = [system.attributes[choice] for system in systems if choice in system.attributes]
    if own:
        return choice, _merge(choice, own)
    known = dict.fromkeys([*given, *(name for system in systems for name in system.attributes)])
    hint = (
        None
        if known
        else "clusters are a column of the scores, or an attribute of the queries (`--attributes FILE`)"
    )
    raise UnknownName("attribute of the queries", choice, list(known), hint=hint)


def _merge(name: str, several: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """Return the clusters of several systems together; raise `BadSample` where they contradict each other."""
    merged: dict[str, str] = {}
    for by_query in several:
        for query, cluster in by_query.items():
            if merged.setdefault(query, cluster) != cluster:
                msg = f"`{name}` of query `{query}` is `{merged[query]}` in one system and `{cluster}` in another"
                raise BadSample(msg)
    return merged


def add_clusters(
    scores: Sequence[PairedScores], name: str, by_query: Mapping[str, str], unit: str
) -> tuple[PairedScores, ...]:
    """Return the scores with the cluster of every query; raise `BadSample` if some have none."""
    return tuple(
        replace(paired, clusters=list_clusters(paired.queries, name, by_query, unit)) for paired in scores
    )


def list_clusters(
    queries: Collection[str], name: str, by_query: Mapping[str, str], unit: str
) -> tuple[str, ...]:
    """Return the cluster of each query; empty if there are no clusters at all."""
    if not by_query:
        return ()
    without = [query for query in queries if query not in by_query]
    if without:
        msg = (
            f"{len(without):,} of {counted(len(queries), unit)} have no `{name}`: {name_some(without, 3)}; "
            "expected the cluster of each"
        )
        raise BadSample(msg, hint=f"a {unit} that belongs to no other has a `{name}` of its own")
    return tuple(by_query[query] for query in queries)


def check_test(test: str, name: str) -> None:
    """Raise `BadSample` for a test that cannot take clusters as the independent draws."""
    if test in NOT_BY_CLUSTER:
        msg = f"the test `{test}` cannot be by cluster (`{name}`): {NOT_BY_CLUSTER[test]}"
        others = ", ".join(other for other in TESTS if other not in NOT_BY_CLUSTER)
        raise BadSample(
            msg, hint=f"these can: {others}; of the extra tests `equivalence`, `power` and `agreement`"
        )


def note_clusters(clusters: Sequence[str], name: str, test: str, unit: str) -> Iterator[Note]:
    """Yield how many clusters there are, and warnings where they are few, or where one has most queries."""
    sizes = sorted(Counter(clusters).values(), reverse=True)
    many = plural(unit)
    span = f"{sizes[-1]:,}" if sizes[0] == sizes[-1] else f"{sizes[-1]:,} to {sizes[0]:,}"
    yield Note(
        "clusters",
        "info",
        f"{counted(len(sizes), 'cluster')} of {span} {many} (`{name}`) are the independent draws",
    )
    few, why = FEW_RESAMPLED if test == "bootstrap" else FEW
    if len(sizes) < few:
        message = f"{counted(len(sizes), 'cluster')} only: below {few}, {why}"
        yield Note("few-clusters", "warning", message)
    if sizes[0] > LARGEST * len(clusters):
        share = f"{100 * sizes[0] / len(clusters):.0f} %"
        yield Note(
            "large-cluster", "warning", f"one cluster has {share} of the {many} and decides the result"
        )
