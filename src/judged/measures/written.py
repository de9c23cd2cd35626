"""Names as users write them: `MRR` is shown where `MRR` was asked for, and `RR` is what it is called in files.

A measure has one canonical name, by which scores are kept, and the spellings that it was asked for by. The first of them
is shown. A canonical name in another case (`ndcg@10`) is not a spelling of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judged.errors import JudgedError, UnknownName
from judged.problem import Note
from judged.wording import join_words

if TYPE_CHECKING:
    from judged.measures.measure import Measure

SPELLINGS = "spellings"
"""The code of the note on names that are shown in place of canonical ones."""
_HEAD = re.compile(r"[^(@]*")
"""A name before its parameters and its cutoff, if these are written as judged does."""
_LEVEL = re.compile(r"-l[0-9]+\s*$")
_MARKS = re.compile(r"[\s_-]")


def spell(measure: Measure, text: str) -> Measure:
    """Return the measure as `text` spells it; under its own name if the text has that name, in any case.

    >>> from judged.measures.groups import MEASURES
    >>> [spell(MEASURES["RR"] @ 10, text).label for text in ("MRR@10", "rr@10", "recip_rank@10")]
    ['MRR@10', 'RR@10', 'recip_rank@10']
    """
    text = text.strip()
    return replace(measure, written=() if is_canonical(measure, text) else (text,))


def is_canonical(measure: Measure, text: str) -> bool:
    """Return whether a text has the canonical name of a measure, in any case, with its parameters in any form.

    >>> from judged.measures.groups import MEASURES
    >>> [is_canonical(MEASURES["P"](rel=2) @ 5, text) for text in ("p(REL=2, cutoff=5)", "P_5-l2", "P@5-l2")]
    [True, False, False]
    """
    return _fold(_HEAD.match(text)[0]) == _fold(measure.name) and not _LEVEL.search(text)  # type: ignore[index]


def _fold(text: str) -> str:
    return _MARKS.sub("", text).lower()


def merge_spellings(measures: Iterable[Measure]) -> list[Measure]:
    """Return every measure once, with all spellings that it was asked for by; the first is shown.

    Where two measures would be shown under one name, both are shown under their own.
    """
    # distinguished by text: `RBP` and `RBP(p=0.8)` are equal, but scores are looked up as they were written
    merged: dict[str, Measure] = {}
    for measure in measures:
        first = merged.setdefault(str(measure), measure)
        if first is not measure:
            names = tuple(dict.fromkeys((*list_spellings(first), *list_spellings(measure))))
            merged[str(measure)] = replace(first, written=names if names != (str(measure),) else ())
    times = Counter(measure.label for measure in merged.values())
    return [
        measure if times[measure.label] == 1 else replace(measure, written=()) for measure in merged.values()
    ]


def list_spellings(measure: Measure) -> tuple[str, ...]:
    """Return the names that a measure was asked for by: its own if there is no other."""
    return measure.written or (str(measure),)


def find_written(measure: Measure) -> str:
    """Return the name that is shown if it is not the canonical one, else nothing."""
    return "" if measure.label == str(measure) else measure.label


def restore_spellings(measures: Iterable[Measure], written: Mapping[str, str]) -> tuple[Measure, ...]:
    """Return measures with the spellings of a mapping, from a spelling to a canonical name."""
    spellings: dict[str, tuple[str, ...]] = {}
    for text, name in written.items():
        spellings[name] = (*spellings.get(name, ()), text)
    return tuple(
        replace(measure, written=names)
        if (names := spellings.get(str(measure), ())) not in {(), (str(measure),)}
        else measure
        for measure in measures
    )


def note_spellings(measures: Iterable[Measure]) -> Iterator[Note]:
    """Yield a note on the measures that are shown under another name than their own, or that were named twice."""
    facts = [fact for measure in measures for fact in _list_facts(measure)]
    if facts:
        yield Note(SPELLINGS, "info", "; ".join(facts))


def _list_facts(measure: Measure) -> Iterator[str]:
    label, *others = list_spellings(measure)
    if label != str(measure):
        yield f"{label} is {measure}"
    others = [name for name in others if name != str(measure)]
    if others:
        yield f"{join_words(others)} {'is' if len(others) == 1 else 'are'} {label} too"


def find_label(wanted: object, names: Mapping[str, str], family: str, *, kind: str) -> str:
    """Return the shown name that is meant by a shown name, a canonical name or another spelling.

    `names` has the canonical name of each shown one. Raises `UnknownName` if none is meant.
    """
    from judged.measures.groups import SCOPES
    from judged.measures.measure import Measure
    from judged.measures.parse import parse_measure

    text = str(wanted)
    if text in names and not isinstance(wanted, Measure):
        return text
    labels = {name: label for label, name in names.items()}
    if text in labels:
        return labels[text]
    scope = family if family in SCOPES else "ranked"
    try:
        meant = str(parse_measure(text, family=scope))
    except JudgedError:
        meant = ""
    if meant in labels:
        return labels[meant]
    raise UnknownName(kind, text, list(names))


def describe_name(label: str, name: str, *, shown: bool) -> dict[str, str]:
    """Return the canonical name of a measure for files, and next to it the name that is shown if that is wanted."""
    return {"measure": name, **({"written": label} if shown else {})}


def differ(names: Mapping[str, str]) -> bool:
    """Return whether any shown name is not the canonical one."""
    return any(label != name for label, name in names.items())


def list_names(measures: Sequence[Measure]) -> dict[str, str]:
    """Return the canonical name of each shown one."""
    return {measure.label: str(measure) for measure in measures}
