"""Gates as they are described, on the command line or in a YAML file: checked key by key, then decided."""

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
from judged.gates.delta import as_delta
from judged.gates.gate import gate as gated
from judged.gates.report import GateReport, RefusedGate
from judged.measures.parse import split_measures
from judged.profiles.catalogue import PROFILES
from judged.profiles.profile import Profile
from judged.stats.margin import OneSidedTest

__all__ = ["Gate", "Gates", "decided", "decided_all", "read_gates"]


class Gate(Struct, frozen=True):
    """Everything that is said of one gate."""

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
    """What the file says; every key and value is checked, and the first fault is worded with its place."""
    content = read_yaml(path)
    check_keys(content, _File, path, "")
    if not isinstance(content, dict) or not isinstance(content.get("gates"), list) or not content["gates"]:
        msg = f"{path}: `gates` is not there, expected a list of one gate or more"
        raise BadProtocol(msg, hint="each gate has `qrels`, `run` and `baseline`")
    defaults = content.get("defaults") or {}
    check_keys(defaults, Gate, path, "defaults.")
    gates = [_gate(each, defaults, number, path) for number, each in enumerate(content["gates"])]
    _refuse_namesakes(gates, path)
    return Gates(tuple(gates), _code(content.get("inconclusive"), path))


def decided(gate: Gate, profile: Profile | None = None) -> GateReport:
    """The outcome of one gate."""
    (run,), (baseline,) = named_runs((gate.run,)), named_runs((gate.baseline,))
    names = split_name(gate.baseline)
    measures = [gate.measures] if isinstance(gate.measures, str) else gate.measures
    return gated(
        gate.qrels,
        run.path,
        [name for text in measures for name in split_measures(text)],
        baseline=baseline.path,
        min_delta=gate.min_delta,
        alpha=gate.alpha,
        test=gate.test,
        seed=gate.seed,
        protocol=profile or _profile(gate.protocol),
        baseline_run=gate.baseline_run,
        allow_other_protocol=gate.allow_other_protocol,
        name=gate.name,
        run_name=run.name,
        baseline_name=names[0],
    )


def decided_all(gates: Sequence[Gate]) -> list[GateReport | RefusedGate]:
    """The outcome of every gate; one at fault does not keep the others from being decided."""
    found: list[GateReport | RefusedGate] = []
    for gate in gates:
        try:
            found.append(decided(gate))
        except JudgedError as error:
            found.append(RefusedGate(gate.name or gate.run, str(error)))
    return found


def _gate(content: Any, defaults: dict[str, Any], number: int, path: Path) -> Gate:
    place = f"gates[{number}]"
    check_keys(content, Gate, path, f"{place}.")
    try:
        gate = msgspec.convert({**defaults, **content} if isinstance(content, dict) else content, Gate)
    except msgspec.ValidationError as error:
        what, _, inner = str(error).partition(" - at ")
        key = place + inner.strip("`").removeprefix("$")
        msg = f"{path}: `{key}`: {what[:1].lower()}{what[1:]}"
        raise BadProtocol(msg, hint="each gate has `qrels`, `run` and `baseline`") from None
    _check(gate, place, path)
    folder = path.parent
    files = {name: _placed(getattr(gate, name), folder) for name in ("qrels", "run", "baseline")}
    return msgspec.structs.replace(gate, **files)


def _check(gate: Gate, place: str, path: Path) -> None:
    """Refuse what could only fail later, naming where it stands."""
    if not 0 < gate.alpha < 0.5:
        msg = f"{path}: `{place}.alpha` is {gate.alpha}, expected a number above 0 and below 0.5"
        raise BadProtocol(msg)
    try:
        as_delta(gate.min_delta)
        _profile(gate.protocol)
    except JudgedError as error:
        msg = f"{path}: `{place}`: {error.message}"
        raise BadProtocol(msg, hint=error.hint) from None


def _placed(text: str, folder: Path) -> str:
    """The file, looked for beside the file that names it; data sets' ids and standard input are as they are."""
    name, path = split_name(text)
    if path == STANDARD_INPUT or (":" in path and not (folder / path).exists()):
        return text
    return str(folder / path) if name is None else f"{name}={folder / path}"


def _refuse_namesakes(gates: Sequence[Gate], path: Path) -> None:
    names = [gate.name for gate in gates if gate.name is not None]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        msg = f"{path}: two gates are called `{twice}`, expected different names"
        raise BadProtocol(msg)


def _profile(settings: Conventions) -> Profile:
    given = given_conventions(settings)
    return PROFILES[given.pop("profile", next(iter(PROFILES)))].replace(**given)


def _code(given: Any, path: Path) -> int | None:
    """The exit code that the file chooses for an inconclusive verdict."""
    from judged.cli.gate import Inconclusive

    if given is None:
        return None
    try:
        return Inconclusive().convert(given, None, None)
    except click.BadParameter as error:
        msg = f"{path}: `inconclusive`: {error.message}"
        raise BadProtocol(msg) from None
