"""Groups of documents: which groups each document belongs to, and how much each group should be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from judged.arrays import Flags, Floats, Ints
from judged.errors import BadInput
from judged.problem import Note, Problem, Problems
from judged.tables.columns import call, to_numpy, to_strings
from judged.wording import counted

if TYPE_CHECKING:
    from judged.result import InputFile
    from judged.tables.judgments import Judgments

UNKNOWN = "unknown"
"""The name that a target has for documents of unknown group."""
TOLERANCE = 1e-6
"""How far shares may be from a sum of 1: files have rounded ones."""


@dataclass(frozen=True, eq=False)
class Groups:
    """A table of (document, group, share), the target of each group, and the judgments that say what is relevant.

    Read one with `judged.read_groups`.
    """

    documents: pa.Array
    """The id of every document, each once, in the order of their bytes."""
    offset: Ints
    """Document `d` owns shares `offset[d]` to `offset[d + 1]`."""
    group: Ints
    """The number of a group in `names`; that of unknown documents follows the last one."""
    share: Floats
    names: tuple[str, ...]
    """Every known group, in the order of their names."""
    target: Floats
    """The share of exposure that each known group should have."""
    target_with_unknown: Floats
    """The same where documents of unknown group are a group of their own, the last."""
    judgments: Judgments | None = None
    name: str = "groups"
    notes: tuple[Note, ...] = ()
    input_files: tuple[InputFile, ...] = ()
    """The files that it was read from."""

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        return f"Groups({self.name}: {counted(len(self), 'document')} in {counted(len(self.names), 'group')})"

    @classmethod
    def from_columns(
        cls,
        document: pa.Array,
        group: pa.Array,
        share: pa.Array | None,
        *,
        target: str | Mapping[str, float],
        problems: Problems,
        name: str = "groups",
    ) -> Groups:
        """Return the groups of checked columns; a null or empty group is unknown, and without shares, groups share equally."""
        group = group.fill_null("")
        names = tuple(sorted(set(group.to_pylist()) - {""}))
        code = _number(group, names)
        documents = document.unique()
        documents = documents.take(call("array_sort_indices", documents))
        owner = _number(document, documents)
        given = _read_shares(owner, share, problems)
        _check_rows(document, group, owner, code, given, problems, shared=share is not None)
        order = np.lexsort((code, owner))
        offset = np.searchsorted(owner[order], np.arange(len(documents) + 1)).astype(np.int64)
        table = cls(documents, offset, code[order], given[order], names, np.zeros(0), np.zeros(0), name=name)
        return table._aim(target, problems)

    def _aim(self, target: str | Mapping[str, float], problems: Problems) -> Groups:
        """Return the table with its targets."""
        many = len(self.names)
        if isinstance(target, Mapping):
            known, whole = _take_target(target, self.names)
        elif target == "equal":
            known, whole = np.full(many, 1 / max(many, 1)), np.full(many + 1, 1 / (many + 1))
        else:
            total = np.bincount(self.group, weights=self.share, minlength=many + 1)
            whole = total / total.sum()
            known = total[:-1] / max(total[:-1].sum(), TOLERANCE)
        if not many:
            message = "holds no group, expected the group of some documents"
            raise BadInput(problems.subject, [Problem.error("empty", problems.subject, message)])
        kind = target if isinstance(target, str) else "given"
        shown = ", ".join(
            f"{name} {100 * share:.1f} %" for name, share in zip(self.names[:6], known[:6], strict=False)
        )
        more = f" and {many - 6:,} more" if many > 6 else ""
        note = Note("target", "info", f"the target of exposure is {kind}: {shown}{more}")
        return replace(self, target=known, target_with_unknown=whole, notes=(*self.notes, note))


def _number(values: pa.Array, names: tuple[str, ...] | pa.Array) -> Ints:
    """Return the place of each value among the names; that after the last if it is none of them."""
    import pyarrow.compute as pc

    known = to_strings(names) if isinstance(names, tuple) else names
    places = pc.index_in(values, value_set=known).fill_null(len(known))
    return to_numpy(places).astype(np.int64)


def _read_shares(owner: Ints, share: pa.Array | None, problems: Problems) -> Floats:
    """Return the share of each row: those given, or equal ones for the groups of a document."""
    if share is None:
        equal: Floats = 1 / np.bincount(owner)[owner]
        return equal
    values: Floats = to_numpy(share).astype(np.float64)
    wrong = np.flatnonzero(~((values >= 0) & (values <= 1 + TOLERANCE)))
    problems.add_rows(
        "bad-share", wrong, lambda row: f"share is {values[row]:g}, expected a number from 0 to 1"
    )
    return values


def _check_rows(
    document: pa.Array,
    group: pa.Array,
    owner: Ints,
    code: Ints,
    share: Floats,
    problems: Problems,
    *,
    shared: bool,
) -> None:
    """Raise `BadInput` for repeated rows and for shares that do not add up to 1."""
    _, first = np.unique(owner * (int(code.max(initial=0)) + 1) + code, return_index=True)
    repeated: Flags = np.ones(len(owner), dtype=bool)
    repeated[first] = False
    problems.add_rows(
        "repeated-group",
        np.flatnonzero(repeated),
        lambda row: f"document `{document[row]}` has group `{group[row]}` twice, expected once",
    )
    problems.raise_if_any(hint=problems.hint)
    sums = np.bincount(owner, weights=share)
    off = np.abs(sums - 1) > TOLERANCE
    rows = np.unique(owner, return_index=True)[1]
    problems.add_rows(
        "share-sum",
        rows[off],
        lambda row: f"the shares of document `{document[row]}` add up to {sums[owner[row]]:g}, expected 1",
    )
    hint = "leave the column of shares out if the groups of a document share it equally" if shared else None
    problems.raise_if_any(hint=hint)


def _take_target(target: Mapping[str, float], names: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Return the target of each known group, and with the unknown as the last; raise `BadInput` for what is wrong."""
    known = {str(group): share for group, share in target.items()}
    untold = [group for group in names if group not in known]
    strange = [group for group in known if group not in {*names, UNKNOWN}]
    found = [("no-target", f"has no share for group `{group}`") for group in untold]
    found += [("no-group", f"names group `{group}`, which no document has") for group in strange]
    wrong = [group for group, share in known.items() if not (_is_number(share) and 0 <= share <= 1)]
    found += [
        ("bad-share", f"share of group `{group}` is {known[group]}, expected a number from 0 to 1")
        for group in wrong
    ]
    if not wrong and abs(sum(known.values()) - 1) > TOLERANCE:
        found.append(("share-sum", f"shares add up to {sum(known.values()):g}, expected 1"))
    if found:
        raise BadInput("the target", [Problem.error(code, "the target", message) for code, message in found])
    whole = np.array([*(known[name] for name in names), known.get(UNKNOWN, 0.0)], dtype=np.float64)
    of_known = whole[:-1].sum()
    if not of_known:
        message = "is all of unknown documents, expected shares of groups"
        raise BadInput("the target", [Problem.error("share-sum", "the target", message)])
    return whole[:-1] / of_known, whole


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
