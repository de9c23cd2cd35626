"""Types of what the public functions accept where a table is needed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judged.tables.groups import Groups
from judged.tables.judgments import Judgments
from judged.tables.labels import Label, Labels
from judged.tables.preferences import Preferences
from judged.tables.run import Run
from judged.tables.timings import Timings


class Readable(Protocol):
    """An open file, text or binary."""

    def read(self, size: int = -1, /) -> str | bytes:
        """Return what is left to read."""
        ...


class ArrowStream(Protocol):
    """A data frame of any library that speaks the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """A record batch of any library that speaks the Arrow PyCapsule interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object: ...


class DataClass(Protocol):
    """A row with declared fields."""

    __dataclass_fields__: ClassVar[dict[str, object]]


class NamedTable(Protocol):
    """A table of a family that the core does not know, such as sessions or a router's choices."""

    @property
    def name(self) -> str:
        """Name in messages."""
        ...


class Dataset(Protocol):
    """A data set of ir_datasets."""

    def dataset_id(self) -> str:
        """Return its id."""
        ...


FileLike: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | Readable
Rows: TypeAlias = Iterable[Mapping[str, object]] | Iterable[tuple[object, ...]] | Iterable[DataClass]
Frame: TypeAlias = FileLike | ArrowStream | ArrowArray | Rows
"""Sources that every table can be read from."""
Matrix: TypeAlias = NDArray[np.integer[Any]] | NDArray[np.str_]

JudgmentsLike: TypeAlias = (
    Judgments
    | Frame
    | Mapping[str, Mapping[str, float]]
    | Mapping[str, Mapping[str, Mapping[str, float]]]
    | Mapping[str, Collection[str]]
    | Matrix
    | Dataset
)
GroupsLike: TypeAlias = Groups | Frame | Mapping[str, str | Collection[str] | Mapping[str, float]]
RunLike: TypeAlias = (
    Run
    | Frame
    | Mapping[str, Mapping[str, float]]
    | Mapping[str, Sequence[str]]
    | Mapping[str, object]  # search results by query: answers of systems have no common type
    | Matrix
    | tuple[Matrix, NDArray[np.floating[Any]]]
    | Dataset
)
PreferencesLike: TypeAlias = Preferences | Frame | Mapping[str, Mapping[str, Mapping[str, float]]]
LabelsLike: TypeAlias = Labels | Judgments | Frame | Iterable[Label] | Mapping[str, Mapping[str, int]]
TimingsLike: TypeAlias = Timings | Frame | Mapping[str, Sequence[float]]
TruthLike: TypeAlias = JudgmentsLike | PreferencesLike | LabelsLike | Groups | None
"""References that systems are evaluated against; timings and decisions need none."""
SystemLike: TypeAlias = RunLike | TimingsLike | NamedTable
"""Inputs that are evaluated: a run, timings, or the table of another family, such as sessions."""
