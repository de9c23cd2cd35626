"""The view of answers: flat arrays cut by query, on which their measures are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from judged.arrays import Flags, Floats, Ints
from judged.kernels.segments import divide, segment_ids, segment_max, segment_sum

Over: TypeAlias = Literal["all", "first", "passage", "necessary"]
"""Citations that precision is taken over."""
Per: TypeAlias = Literal["best", "first", "mean", "joint"]
"""Support of a sentence by its citations."""


@dataclass(frozen=True, eq=False)
class NuggetArrays:
    """Nuggets of all queries; `offset` cuts them by query."""

    offset: Ints
    vital: Flags
    state: Floats
    """1 for support, ½ for partial support, 0 for none."""
    listed: Flags
    """Whether each query has a list of nuggets, even an empty one."""


@dataclass(frozen=True, eq=False)
class CitationArrays:
    """Citations of all answers in order; `offset` cuts them by query."""

    offset: Ints
    sentence: Ints
    """Sentence of each citation, numbered over all queries."""
    passage: Ints
    """Document of each citation, numbered over all queries."""
    state: Floats
    """Support of the sentence by that document alone."""
    rest: Floats
    """Support of the sentence by its other citations together; 0 where there are none."""
    sentence_offset: Ints
    """Cuts the sentences by query."""
    joint: Floats
    """Support of each sentence by all its citations together; 0 where there are none."""


@dataclass(frozen=True, eq=False)
class ClaimArrays:
    """Claims of answers, claims of true answers, and passages; each is cut by query."""

    said_offset: Ints
    true: Flags
    """Whether each claim of the answer is entailed by the true answer."""
    grounded: Flags
    """Whether each claim of the answer is entailed by a passage."""
    grounded_relevant: Flags
    """The same for a passage that entails a true claim."""
    truth_offset: Ints
    said: Flags
    """Whether each true claim is entailed by the answer."""
    found: Flags
    """Whether each true claim is entailed by a passage."""
    passage_offset: Ints
    useful: Flags
    """Whether each passage entails a true claim."""
    listed: Flags
    """Whether the claims of each answer were extracted, even if it makes none."""


@dataclass(frozen=True, eq=False)
class AnswerView:
    """Answers of one system with their labels; a query that was not answered has no sentences, citations or claims."""

    answered: Flags
    abstained: Flags
    """Whether the answer says that it has none; also without an answer."""
    words: Ints
    nuggets: NuggetArrays
    citations: CitationArrays
    claims: ClaimArrays
    texts: tuple[str, ...] = ()
    """Whole answers, without the marks of citations."""
    references: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """True answers of each query; each is a group of spellings."""
    answerable: Floats = field(default_factory=lambda: np.zeros(0))
    """1 for a query that has an answer, 0 for one that has none, NaN where that is not known."""
    no_vital: float = np.nan
    """Recall of vital nuggets for a query that has none."""
    no_statements: float = 0.0
    """Precision of an answer without claims."""
    unsupported: bool = True
    """Whether claims of answers without passages are unsupported; else their shares are 0."""

    def __len__(self) -> int:
        return len(self.answered)


def segment_mean(values: Floats | Flags, offset: Ints) -> Floats:
    """Return the mean of every segment; 0 for an empty one."""
    return divide(segment_sum(np.asarray(values, dtype=float), offset), np.diff(offset))


def harden(state: Floats, *, strict: bool) -> Floats:
    """Return states with partial support as none, if that is asked for."""
    return (state == 1.0).astype(float) if strict else state


def first_of_sentences(citations: CitationArrays) -> Flags:
    """Return which citations are the first of their sentences."""
    first: Flags = np.diff(citations.sentence, prepend=-1) != 0
    return first


def is_necessary(citations: CitationArrays) -> Flags:
    """Return which citations count: all together support, and this one supports alone, or the others do not without it."""
    together = citations.joint[citations.sentence] == 1.0
    alone = citations.state == 1.0
    # a single citation is all of them
    single = np.bincount(citations.sentence, minlength=len(citations.joint))[citations.sentence] == 1
    counts: Flags = together & (single | alone | (citations.rest != 1.0))
    return counts


def support_sentences(citations: CitationArrays, per: Per, *, strict: bool) -> Floats:
    """Return the support of every sentence; 0 for one without citations."""
    if per == "joint":
        return harden(citations.joint, strict=True)
    count = np.bincount(citations.sentence, minlength=len(citations.joint))
    offset = np.concatenate(([0], np.cumsum(count))).astype(np.int64)
    state = harden(citations.state, strict=strict)
    if per == "best":
        return segment_max(state, offset)
    if per == "mean":
        return segment_mean(state, offset)
    return segment_sum(np.where(first_of_sentences(citations), state, 0.0), offset)


def average_passages(citations: CitationArrays, state: Floats) -> Floats:
    """Return the mean over the passages that an answer cites, each with the mean of its citations."""
    query = segment_ids(citations.offset)
    if not len(query):
        return np.zeros(len(citations.offset) - 1)
    pairs, place = np.unique(np.column_stack((query, citations.passage)), axis=0, return_inverse=True)
    place = place.ravel()
    means = np.bincount(place, weights=state) / np.bincount(place)
    total = np.bincount(pairs[:, 0], weights=means, minlength=len(citations.offset) - 1)
    return divide(total, np.bincount(pairs[:, 0], minlength=len(citations.offset) - 1))


def harmonic(first: Floats, second: Floats) -> Floats:
    """Return the harmonic mean of two values; 0 where both are 0."""
    return divide(2 * first * second, first + second)


STATES: Mapping[str, float] = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
"""Worth of each label of a nugget."""
SUPPORT: Mapping[str, float] = {"full": 1.0, "partial": 0.5, "none": 0.0}
"""Worth of each label of a sentence and a passage."""
