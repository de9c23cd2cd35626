"""The configuration file of `judged score`: read, checked key by key, and turned into settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from judged.errors import BadProtocol, UnknownName
from judged.protocol import Protocol

__all__ = [
    "Configuration",
    "Conventions",
    "given_conventions",
    "parsed_yaml",
    "read_configuration",
    "refuse_unknown",
]


class Statistics(Struct, frozen=True):
    """What is said of the means beside their values."""

    confidence_intervals: bool = False
    significance_testing: bool = False
    alpha_level: float = 0.05


class Performance(Struct, frozen=True):
    """How the work is done; none of it changes a number."""

    batch_size: int | UnsetType = UNSET
    caching_enabled: bool | UnsetType = UNSET
    parallel_processing: bool | UnsetType = UNSET


class RetrievalMetrics(Struct, frozen=True):
    """Which measures, of which grades, with which statistics."""

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
                (name, (str if each.options else each.type) | UnsetType, UNSET)
                for name, each in Protocol.conventions().items()
            ),
        ],
        frozen=True,
    )
    """A profile, and the conventions that depart from it: one key for each field of the protocol."""


class Configuration(Struct, frozen=True):
    """Everything a configuration file may say."""

    retrieval_metrics: RetrievalMetrics = RetrievalMetrics()
    protocol: Conventions = Conventions()

    @property
    def statistics(self) -> Statistics:
        """What is said of the means beside their values."""
        return self.retrieval_metrics.statistical_analysis

    @property
    def binary(self) -> bool:
        """Whether every positive grade counts as 1."""
        return self.retrieval_metrics.graded_relevance is False

    @property
    def threads(self) -> int | None:
        """One thread where parallel work is switched off; else whatever the engine chooses."""
        return 1 if self.retrieval_metrics.performance.parallel_processing is False else None

    def conventions(self) -> dict[str, Any]:
        """The settings of the protocol that the file makes."""
        return given_conventions(self.protocol)

    def without_effect(self) -> list[str]:
        """The settings that are accepted and change nothing, in words."""
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
    """What the file says; every key and value is checked, and the first fault is worded with its place."""
    content = parsed_yaml(path)
    if content is None:
        return Configuration()
    refuse_unknown(content, Configuration, path, "")
    try:
        configuration = msgspec.convert(content, Configuration)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at ")
        key = place.strip("`").removeprefix("$").removeprefix(".") or "the file"
        msg = f"{path}: `{key}`: {what[:1].lower()}{what[1:]}"
        raise BadProtocol(msg) from None
    alpha = configuration.statistics.alpha_level
    if not 0 < alpha < 1:
        msg = f"{path}: `alpha_level` is {alpha}, expected a number between 0 and 1"
        raise BadProtocol(msg)
    return configuration


def parsed_yaml(path: Path) -> Any:
    """What the file holds, as plain objects; a file that is no YAML is refused with its line."""
    import yaml

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        msg = f"{path}{line}: {error.problem}"
        raise BadProtocol(msg, hint="the file must be YAML") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        msg = f"{path}: {error}"
        raise BadProtocol(msg, hint="the file must be YAML, in UTF-8") from None


def refuse_unknown(content: Any, struct: type[Struct], path: Path, place: str) -> None:
    """Refuse a key that means nothing, saying which was probably meant."""
    if not isinstance(content, dict):
        return  # `convert` words this better
    hints = get_type_hints(struct)
    for key, value in content.items():
        if key not in hints:
            kind = f"setting of {path}"
            raise UnknownName(kind, f"{place}{key}", [f"{place}{name}" for name in hints])
        inner = hints[key]
        if isinstance(inner, type) and issubclass(inner, Struct):
            refuse_unknown(value, inner, path, f"{place}{key}.")
