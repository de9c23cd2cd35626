"""Build small views of sessions by hand, for examples and tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from judged.agents.kernels import GAINS, UNLABELLED, Reference, SessionView
from judged.arrays import Floats, Ints


def make_sessions(
    *sessions: Sequence[str],
    tokens: Sequence[Sequence[float]] | None = None,
    seconds: Sequence[Sequence[float]] | None = None,
    cost: Sequence[Sequence[float]] | None = None,
    reference: Sequence[str] | None = None,
) -> SessionView:
    """Return the view of sessions that are lists of iterations, written as `"a3 b? | a3 c0"`.

    A result is a name followed by its gain, or by `?` if it is unlabelled. A repeated name is a duplicate, and the
    first gain given for a name holds. A bar separates the searches of an iteration. `tokens`, `seconds` and `cost`
    are what the iterations of every session took, and `reference` is what every session could have found.

    >>> make_sessions(["a3 b1 | a3", "b1 c2"]).grades.tolist()
    [[0, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 0]]
    """
    parsed = [[_parse_results(iteration) for iteration in session] for session in sessions]
    names = [[name for iteration in session for name, _ in iteration] for session in parsed]
    labels = [_first_labels(result for iteration in session for result in iteration) for session in parsed]
    view = SessionView.from_results(
        _ints(len(session) for session in parsed),
        _ints(len(iteration) for session in parsed for iteration in session),
        np.array([name not in row[:i] for row in names for i, name in enumerate(row)], dtype=bool),
        _ints(label[name] for row, label in zip(names, labels, strict=True) for name in row).astype(np.int8),
        searches=_ints(iteration.count("|") + 1 for session in sessions for iteration in session),
        tokens=None if tokens is None else _flat(tokens),
        seconds=None if seconds is None else _flat(seconds),
    )
    view = view if cost is None else replace(view, cost=_flat(cost))
    return view if reference is None else replace(view, reference=_reference(labels, reference))


def _parse_results(iteration: str) -> list[tuple[str, int]]:
    """Return the names and gains of an iteration, from all its searches."""
    texts = iteration.replace("|", " ").split()
    return [(text[:-1], UNLABELLED if text[-1] == "?" else int(text[-1])) for text in texts]


def _first_labels(results: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the first gain given for every name, in the order in which names first occur."""
    labels: dict[str, int] = {}
    for name, gain in results:
        if labels.get(name, UNLABELLED) == UNLABELLED:
            labels[name] = gain
    return labels


def _reference(found: Sequence[dict[str, int]], texts: Sequence[str]) -> Reference:
    """Return the reference, seen from the results that every session found."""
    known = [dict(_parse_results(text)) for text in texts]
    gains = [gain.get(name, UNLABELLED) for names, gain in zip(found, known, strict=True) for name in names]
    counts = [[sum(gain >= least for gain in gains.values()) for least in GAINS] for gains in known]
    return Reference(np.array(gains, dtype=np.int8), np.array(counts, dtype=np.int64).reshape(-1, len(GAINS)))


def _flat(rows: Sequence[Sequence[float]]) -> Floats:
    return np.array([value for row in rows for value in row], dtype=np.float64)


def _ints(values: Iterable[int]) -> Ints:
    return np.array(list(values), dtype=np.int64)
