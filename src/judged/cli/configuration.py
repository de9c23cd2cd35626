"""YAML files: the configuration of `judged score` and the gates of `judged gate`, checked key by key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from judged.cli.inputs import STANDARD_INPUT, split_name
from judged.errors import BadProtocol, JudgedError
from judged.io.settings import check_names, convert_settings, read_yaml
from judged.io.systems import is_bare
from judged.profiles.profile import PROFILES, Profile
from judged.protocol import Protocol


class Statistics(Struct, frozen=True):
    """Statistics shown next to the means."""

    confidence_intervals: bool = False
    significance_testing: bool = False
    alpha_level: float = 0.05


class Performance(Struct, frozen=True):
    """Performance settings; none of them changes a number."""

    batch_size: int | UnsetType = UNSET
    caching_enabled: bool | UnsetType = UNSET
    parallel_processing: bool | UnsetType = UNSET


class RetrievalMetrics(Struct, frozen=True):
    """Measures, grades and statistics."""

    enabled_metrics: tuple[str, ...] = ()
    graded_relevance: bool | UnsetType = UNSET
    statistical_analysis: Statistics = Statistics()
    performance: Performance = Performance()


if TYPE_CHECKING:
    Conventions = Struct
else:
    Conventions = msgspec.defstruct(
        "Conventions",
        [
            ("profile", str | UnsetType, UNSET),
            *(
                (name, (str if declared.options else declared.type) | UnsetType, UNSET)
                for name, declared in Protocol.conventions().items()
            ),
        ],
        frozen=True,
    )
    """A profile, and the conventions that depart from it: one key for each field of the protocol."""


class Configuration(Struct, frozen=True):
    """The settings of a configuration file."""

    retrieval_metrics: RetrievalMetrics = RetrievalMetrics()
    protocol: Conventions = Conventions()

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that the file names."""
        return self.retrieval_metrics.enabled_metrics

    @property
    def statistics(self) -> Statistics:
        """Statistics shown next to the means."""
        return self.retrieval_metrics.statistical_analysis

    @property
    def binary(self) -> bool:
        """Whether every positive grade counts as 1."""
        return self.retrieval_metrics.graded_relevance is False

    @property
    def threads(self) -> int | None:
        """One thread if parallel processing is off; None leaves the number to the readers."""
        return 1 if self.retrieval_metrics.performance.parallel_processing is False else None

    def conventions(self) -> dict[str, Any]:
        """Return the conventions that the file sets, and the `name` of a profile if it names one."""
        settings = given_conventions(self.protocol)
        return {("name" if key == "profile" else key): value for key, value in settings.items()}

    def without_effect(self) -> list[str]:
        """Return a sentence for each setting that is accepted and has no effect."""
        reasons = {
            "batch_size": "all queries are scored together",
            "caching_enabled": "nothing is computed twice",
        }
        performance = self.retrieval_metrics.performance
        return [
            f"`{name}` has no effect: {reason}"
            for name, reason in reasons.items()
            if getattr(performance, name) is not UNSET
        ]


def given_conventions(settings: Conventions) -> dict[str, Any]:
    """Return the conventions that a file sets, by name."""
    return {name: value for name, value in msgspec.structs.asdict(settings).items() if value is not UNSET}


def read_configuration(path: Path) -> Configuration:
    """Read a configuration file; an unknown key or a wrong value is an error that names its place."""
    content = read_yaml(path)
    if content is None:
        return Configuration()
    configuration = convert_settings(content, Configuration, path)
    alpha = configuration.statistics.alpha_level
    if not 0 < alpha < 1:
        msg = f"{path}: `alpha_level` is {alpha}, expected a number between 0 and 1"
        raise BadProtocol(msg)
    return configuration


class Gate(Struct, frozen=True):
    """The description of one gate."""

    qrels: str
    run: str
    baseline: str
    name: str | None = None
    measures: tuple[str, ...] | str = ("nDCG@10",)
    min_delta: float | str | None = None
    """None: a hundredth of the scale of the measure."""
    alpha: float = 0.05
    test: Literal["t", "randomisation"] = "t"
    seed: int = 0
    baseline_run: str | None = None
    allow_other_protocol: bool = False
    cluster: str | None = None
    attributes: str | None = None
    scores: str = ""
    """Scores that a tool computed, in place of judgments and a run."""
    higher: tuple[str, ...] | str = ()
    lower: tuple[str, ...] | str = ()
    missing: Literal["skip", "zero"] = "skip"
    scores_format: str | None = None
    predictions: str = ""
    """Scores of a model for the rows of the judgments, in place of a run."""
    join: bool = False
    """Whether the files of a folder or a pattern are parts of one run."""
    protocol: Conventions = Conventions()

    def profile(self) -> Profile:
        """Return the profile that the gate names, with the conventions that it changes."""
        given = given_conventions(self.protocol)
        return PROFILES[given.pop("profile", next(iter(PROFILES)))].replace(**given)


class GateFile(Struct, frozen=True):
    """The keys of a file of gates."""

    gates: tuple[Gate, ...]
    defaults: object = None
    """Settings of every gate that does not override them."""
    inconclusive: int | str | None = None
    """The exit code of an inconclusive verdict, or `pass` or `fail`."""


def read_gates(path: Path) -> GateFile:
    """Read a file of gates; raise BadProtocol for the first key or value that is wrong, with its place."""
    content = read_yaml(path)
    check_names(content, GateFile, path)
    hint = "each gate has `qrels`, `run` (or `predictions`) and `baseline`, or `scores` and `baseline`"
    if not isinstance(content, dict) or not isinstance(content.get("gates"), list) or not content["gates"]:
        msg = f"{path}: `gates` is not there, expected a list of one gate or more"
        raise BadProtocol(msg, hint=hint)
    defaults = content.get("defaults") or {}
    if not isinstance(defaults, dict):
        msg = f"{path}: `defaults` is {type(defaults).__name__}, expected settings of gates"
        raise BadProtocol(msg, hint=hint)
    check_names(defaults, Gate, path, "defaults.")
    gates = [
        _complete(entry, defaults, f"gates[{number}]", path) if isinstance(entry, dict) else entry
        for number, entry in enumerate(content["gates"])
    ]
    file = convert_settings({**content, "gates": gates}, GateFile, path, hint=hint)
    for number, gate in enumerate(file.gates):
        _check_gate(gate, f"gates[{number}]", path)
    _check_names(file.gates, path)
    return msgspec.structs.replace(file, gates=tuple(_resolve(gate, path.parent) for gate in file.gates))


_IN_PLACE_OF = {"scores": ("qrels", "run", "predictions", "protocol"), "predictions": ("run", "join")}
"""Settings that exclude each setting that takes the place of a run."""


def _complete(
    entry: dict[str, object], defaults: dict[str, object], place: str, path: Path
) -> dict[str, object]:
    """Return the settings of a gate with the defaults; a gate of scores has no run, and all measures unless it names some."""
    own = next((name for name in ("scores", "predictions") if name in entry), "")
    others = [f"`{name}`" for name in _IN_PLACE_OF.get(own, ()) if name in entry]
    if others:
        msg = f"{path}: `{place}` has `{own}` and {' and '.join(others)}, expected one or the other"
        raise BadProtocol(msg)
    if own != "scores":
        return {**defaults, **entry, **({"run": ""} if own else {})}
    shared = {name: value for name, value in defaults.items() if name != "protocol"}
    return {"measures": (), **shared, **entry, "qrels": "", "run": ""}


def _check_gate(gate: Gate, place: str, path: Path) -> None:
    """Raise BadProtocol for settings that could only fail later, naming their place."""
    from judged.gates.result import parse_delta

    if not 0 < gate.alpha < 0.5:
        msg = f"{path}: `{place}.alpha` is {gate.alpha}, expected a number above 0 and below 0.5"
        raise BadProtocol(msg)
    try:
        if gate.min_delta is not None:
            parse_delta(gate.min_delta)
        gate.profile()
    except JudgedError as error:
        msg = f"{path}: `{place}`: {error.message}"
        raise BadProtocol(msg, hint=error.hint) from None


def _resolve(gate: Gate, folder: Path) -> Gate:
    """Resolve files relative to the file that names them; ids of data sets and standard input stay unchanged."""

    def resolve(text: str) -> str:
        name, path = split_name(text)
        if path == STANDARD_INPUT or (":" in path and not _exists(folder / path)):
            return text
        return str(folder / path) if name is None else f"{name}={folder / path}"

    files = {name: getattr(gate, name) for name in ("qrels", "run", "predictions", "baseline", "scores")}
    if gate.attributes is not None:
        files["attributes"] = gate.attributes
    if is_bare(gate.baseline) and not _exists(folder / gate.baseline):
        del files["baseline"]  # the name of a system
    return msgspec.structs.replace(gate, **{name: resolve(text) for name, text in files.items() if text})


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the name is too long
        return False


def _check_names(gates: Sequence[Gate], path: Path) -> None:
    names = [gate.name for gate in gates if gate.name is not None]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        msg = f"{path}: two gates are called `{twice}`, expected different names"
        raise BadProtocol(msg)
