"""Gates as the command line or a YAML file describes them: checked key by key, then decided."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import Struct

from judged.cli.configuration import Conventions, check_keys, given_conventions, read_yaml
from judged.cli.inputs import STANDARD_INPUT, named_runs, split_name
from judged.errors import BadProtocol, JudgedError
from judged.gates.api import gate as run_gate
from judged.gates.result import GateReport, RefusedGate, parse_delta
from judged.measures.parse import split_measures
from judged.profiles.catalogue import PROFILES
from judged.profiles.profile import Profile
from judged.stats.margin import OneSidedTest

__all__ = ["Gate", "Gates", "decide", "decide_all", "read_gates"]


class Gate(Struct, frozen=True):
    """The description of one gate."""

    qrels: str
    run: str
    baseline: str
    name: str | None = None
    measures: tuple[str, ...] | str = ("nDCG@10",)
    min_delta: float | str = -0.01
    alpha: float = 0.05
    test: OneSidedTest = "t"
    seed: int = 0
    baseline_run: str | None = None
    allow_other_protocol: bool = False
    protocol: Conventions = Conventions()


class Gates(Struct, frozen=True):
    """Everything a file of gates says."""

    gates: tuple[Gate, ...]
    inconclusive: int | None = None
    """The exit code of an inconclusive verdict."""


class _File(Struct, frozen=True):
    """The keys of a file of gates; `defaults` holds what every gate has that does not say otherwise."""

    gates: Any = None
    defaults: Any = None
    inconclusive: Any = None


def read_gates(path: Path) -> Gates:
    """Read a file of gates; raise BadProtocol for the first key or value that is wrong, with its place."""
    content = read_yaml(path)
    check_keys(content, _File, path, "")
    if not isinstance(content, dict) or not isinstance(content.get("gates"), list) or not content["gates"]:
        msg = f"{path}: `gates` is not there, expected a list of one gate or more"
        raise BadProtocol(msg, hint="each gate has `qrels`, `run` and `baseline`")
    defaults = content.get("defaults") or {}
    check_keys(defaults, Gate, path, "defaults.")
    gates = [_read_gate(entry, defaults, number, path) for number, entry in enumerate(content["gates"])]
    _check_names(gates, path)
    return Gates(tuple(gates), _read_code(content.get("inconclusive"), path))


def decide(gate: Gate, profile: Profile | None = None) -> GateReport:
    """Return the outcome of one gate."""
    (run,), (baseline,) = named_runs((gate.run,)), named_runs((gate.baseline,))
    measures = [gate.measures] if isinstance(gate.measures, str) else gate.measures
    return run_gate(
        gate.qrels,
        run.path,
        [name for text in measures for name in split_measures(text)],
        baseline=baseline.path,
        min_delta=gate.min_delta,
        alpha=gate.alpha,
        test=gate.test,
        seed=gate.seed,
        protocol=profile or _to_profile(gate.protocol),
        baseline_run=gate.baseline_run,
        allow_other_protocol=gate.allow_other_protocol,
        name=gate.name,
        run_name=run.name,
        baseline_name=split_name(gate.baseline)[0],
    )


def decide_all(gates: Sequence[Gate]) -> list[GateReport | RefusedGate]:
    """Return the outcome of every gate; one that fails with an error does not stop the others."""
    found: list[GateReport | RefusedGate] = []
    for gate in gates:
        try:
            found.append(decide(gate))
        except JudgedError as error:
            found.append(RefusedGate(gate.name or gate.run, str(error)))
    return found


def _read_gate(content: Any, defaults: dict[str, Any], number: int, path: Path) -> Gate:
    place = f"gates[{number}]"
    check_keys(content, Gate, path, f"{place}.")
    try:
        gate = msgspec.convert({**defaults, **content} if isinstance(content, dict) else content, Gate)
    except msgspec.ValidationError as error:
        what, _, inner = str(error).partition(" - at ")
        key = place + inner.strip("`").removeprefix("$")
        msg = f"{path}: `{key}`: {what[:1].lower()}{what[1:]}"
        raise BadProtocol(msg, hint="each gate has `qrels`, `run` and `baseline`") from None
    _check_gate(gate, place, path)
    files = {name: _resolve(getattr(gate, name), path.parent) for name in ("qrels", "run", "baseline")}
    return msgspec.structs.replace(gate, **files)


def _check_gate(gate: Gate, place: str, path: Path) -> None:
    """Raise BadProtocol for settings that could only fail later, naming their place."""
    if not 0 < gate.alpha < 0.5:
        msg = f"{path}: `{place}.alpha` is {gate.alpha}, expected a number above 0 and below 0.5"
        raise BadProtocol(msg)
    try:
        parse_delta(gate.min_delta)
        _to_profile(gate.protocol)
    except JudgedError as error:
        msg = f"{path}: `{place}`: {error.message}"
        raise BadProtocol(msg, hint=error.hint) from None


def _resolve(text: str, folder: Path) -> str:
    """Resolve a file relative to the file that names it; ids of data sets and standard input stay unchanged."""
    name, path = split_name(text)
    if path == STANDARD_INPUT or (":" in path and not (folder / path).exists()):
        return text
    return str(folder / path) if name is None else f"{name}={folder / path}"


def _check_names(gates: Sequence[Gate], path: Path) -> None:
    names = [gate.name for gate in gates if gate.name is not None]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        msg = f"{path}: two gates are called `{twice}`, expected different names"
        raise BadProtocol(msg)


def _to_profile(settings: Conventions) -> Profile:
    given = given_conventions(settings)
    return PROFILES[given.pop("profile", next(iter(PROFILES)))].replace(**given)


def _read_code(given: object, path: Path) -> int | None:
    """Return the exit code that the file chooses for an inconclusive verdict."""
    from judged.cli.gate import Inconclusive

    if given is None:
        return None
    try:
        return Inconclusive().convert(given, None, None)
    except click.BadParameter as error:
        msg = f"{path}: `inconclusive`: {error.message}"
        raise BadProtocol(msg) from None
