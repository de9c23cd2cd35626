"""Money: what queries and an index cost at prices of processors, memory and disks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judged.blocks import Estimate
from judged.errors import BadProtocol, UnknownName
from judged.index.points import Point, estimate_rounds
from judged.io.settings import read_yaml

HOURS = 730
"""Hours in a month, as providers count them."""
_SINGLE = ("core", "gib", "disk")


@dataclass(frozen=True)
class Instance:
    """A machine that a provider rents."""

    name: str
    cores: float
    gib: float
    hour: float
    """Price of an hour."""


@dataclass(frozen=True)
class Prices:
    """Prices of an hour of a core and of a GiB of memory, and of a GiB on disk for a month; or of whole machines."""

    core: float = 0.0
    gib: float = 0.0
    disk: float = 0.0
    currency: str = "$"
    instances: tuple[Instance, ...] = ()


@dataclass(frozen=True)
class Money:
    """Costs of a point."""

    million: Estimate | None
    """Of a million queries, by the processor time that they take; of a machine, with all of its cores busy."""
    month: Estimate | None
    """Of a month in which the index is held in memory and on disk, without queries; of a machine, its rent."""
    instance: str = ""
    """The cheapest machine that holds the index; empty: none is asked for, or none does."""


def parse_prices(text: str) -> Prices:
    """Return the prices of `core=0.04,gib=0.005,disk=0.1`, or of a YAML file with these and a list `instances`.

    >>> parse_prices("core=0.04, gib=0.005")
    Prices(core=0.04, gib=0.005, disk=0.0, currency='$', instances=())
    """
    if "=" in text and not Path(text).exists():
        pairs = [part.partition("=") for part in text.split(",")]
        return _make_prices({name.strip(): _read_number(value, name) for name, _, value in pairs}, "--price")
    document = read_yaml(Path(text))
    if not isinstance(document, Mapping):
        msg = f"{text} holds {type(document).__name__}, expected prices by name: {', '.join(_SINGLE)}, instances"
        raise BadProtocol(msg)
    return _make_prices(document, text)


def _make_prices(given: Mapping[str, object], place: str) -> Prices:
    known = (*_SINGLE, "currency", "instances")
    for name in given:
        if name not in known:
            kind = f"price of {place}"
            raise UnknownName(kind, str(name), known)
    listed = given.get("instances") or []
    if not isinstance(listed, list) or not all(isinstance(item, Mapping) for item in listed):
        msg = f"{place}: `instances` is {listed!r:.60}, expected a list of name, cores, gib and hour"
        raise BadProtocol(msg)
    instances = []
    for number, item in enumerate(listed, 1):
        if missing := {"name", "cores", "gib", "hour"} - set(item):
            msg = f"{place}: instance {number} has no `{min(missing)}`"
            raise BadProtocol(msg)
        numbers = (
            _read_number(item[name], f"instance {number}, {name}") for name in ("cores", "gib", "hour")
        )
        instances.append(Instance(str(item["name"]), *numbers))
    single = {name: _read_number(given.get(name, 0.0), name) for name in _SINGLE}
    return Prices(**single, currency=str(given.get("currency", "$")), instances=tuple(instances))


def _read_number(value: object, name: str) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        msg = f"the price `{name.strip()}` is `{value}`, expected a number from 0"
        raise BadProtocol(msg, hint="core=0.04,gib=0.005: of an hour of a core, and of a GiB")
    return number


def price_point(point: Point, prices: Prices) -> Money:
    """Return what a million queries and a month of a point cost; None where what they use is not known."""
    memory = _largest(point.read_rounds("memory"))
    if prices.instances:
        return _price_instance(point, prices.instances, memory)
    cpu = point.estimate("cpu")
    million = None if cpu is None else _times(cpu, prices.core * 1e6 / 3.6e6)
    month = None
    if memory is not None:
        disk = _largest(point.read_rounds("disk")) or 0.0
        month = Estimate(memory / 2**30 * prices.gib * HOURS + disk / 2**30 * prices.disk)
    return Money(million, month)


def _price_instance(point: Point, instances: Sequence[Instance], memory: float | None) -> Money:
    """Return the costs of the cheapest machine whose memory holds the index."""
    if memory is None:
        return Money(None, None)
    fitting = [one for one in instances if one.gib * 2**30 >= memory]
    if not fitting:
        return Money(None, None)
    chosen = min(fitting, key=lambda one: one.hour)
    # a query that takes t ms of processor time lets each core answer 3.6e6 / t an hour
    costs = [
        None if cpu is None or not chosen.cores else chosen.hour * cpu / (3.6e6 * chosen.cores) * 1e6
        for cpu in point.read_rounds("cpu")
    ]
    return Money(estimate_rounds(costs), Estimate(chosen.hour * HOURS), chosen.name)


def _largest(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known, default=None)


def _times(value: Estimate, factor: float) -> Estimate:
    low, high = (None if end is None else end * factor for end in (value.low, value.high))
    return Estimate(value.value * factor, low, high)
