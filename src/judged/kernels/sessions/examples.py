"""Sessions written by hand, for examples and tests: each result a name and its gain, such as `a3`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from judged.kernels.segments import Floats
from judged.kernels.sessions.view import GAINS, UNLABELLED, Reference, Steps, steps_from_results

__all__ = ["steps_of"]


def steps_of(
    *sessions: Sequence[str],
    tokens: Sequence[Sequence[float]] | None = None,
    seconds: Sequence[Sequence[float]] | None = None,
    reference: Sequence[str] | None = None,
) -> Steps:
    """The view of sessions that are lists of iterations, each a string of results: `"a3 b? | a3 c0"`.

    A result is a name, and its gain or `?`; the same name again is a duplicate, and the first gain given for a
    name holds. A bar parts the searches of an iteration. For each session, `tokens` and `seconds` hold what its
    iterations took, and `reference` what there was to find.

    >>> steps_of(["a3 b1 | a3", "b1 c2"]).grades.tolist()
    [[0, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 0]]
    """
    read = [[_results(iteration) for iteration in session] for session in sessions]
    found = [[name for iteration in session for name, _ in iteration] for session in read]
    labels = [_labels(result for iteration in session for result in iteration) for session in read]
    steps = steps_from_results(
        _ints(len(session) for session in read),
        _ints(len(iteration) for session in read for iteration in session),
        np.array([name not in names[:i] for names in found for i, name in enumerate(names)], dtype=bool),
        _ints(label[name] for names, label in zip(found, labels, strict=True) for name in names).astype(
            np.int8
        ),
        searches=_ints(iteration.count("|") + 1 for session in sessions for iteration in session),
        tokens=_flat(tokens),
        seconds=_flat(seconds),
    )
    return steps if reference is None else replace(steps, reference=_reference(labels, reference))


def _results(iteration: str) -> list[tuple[str, int]]:
    """The names and gains of an iteration, whichever search brought them."""
    texts = iteration.replace("|", " ").split()
    return [(text[:-1], UNLABELLED if text[-1] == "?" else int(text[-1])) for text in texts]


def _labels(results: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The first gain that is given for each name, names in the order in which they first occur."""
    labels: dict[str, int] = {}
    for name, gain in results:
        if labels.get(name, UNLABELLED) == UNLABELLED:
            labels[name] = gain
    return labels


def _reference(found: Sequence[dict[str, int]], reference: Sequence[str]) -> Reference:
    """What there was to find, seen from what each session found."""
    sought = [dict(_results(each)) for each in reference]
    gains = [gain.get(name, UNLABELLED) for names, gain in zip(found, sought, strict=True) for name in names]
    counts = [[sum(gain >= grade for gain in each.values()) for grade in GAINS] for each in sought]
    return Reference(np.array(gains, dtype=np.int8), np.array(counts, dtype=np.int64).reshape(-1, len(GAINS)))


def _ints(values: Iterable[int]) -> np.typing.NDArray[np.int64]:
    return np.array(list(values), dtype=np.int64)


def _flat(parts: Sequence[Sequence[float]] | None) -> Floats | None:
    return None if parts is None else np.array([value for part in parts for value in part], dtype=np.float64)
