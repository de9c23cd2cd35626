"""The YAML configuration file of `judged score`, and how YAML files are checked."""

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
    "check_keys",
    "given_conventions",
    "read_configuration",
    "read_yaml",
]


class Statistics(Struct, frozen=True):
    """Statistics shown beside the means."""

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
        """Statistics shown beside the means."""
        return self.retrieval_metrics.statistical_analysis

    @property
    def binary(self) -> bool:
        """Whether every positive grade counts as 1."""
        return self.retrieval_metrics.graded_relevance is False

    @property
    def threads(self) -> int | None:
        """One thread if parallel processing is off; None lets the engine choose."""
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
    check_keys(content, Configuration, path, "")
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


def read_yaml(path: Path) -> object:
    """Return the content of a YAML file; a syntax error names its line."""
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


def check_keys(content: Any, struct: type[Struct], path: Path, place: str) -> None:
    """Raise `UnknownName` for an unknown key, suggesting the closest one."""
    if not isinstance(content, dict):
        return  # `convert` has the better message
    hints = get_type_hints(struct)
    for key, value in content.items():
        if key not in hints:
            kind = f"setting of {path}"
            raise UnknownName(kind, f"{place}{key}", [f"{place}{name}" for name in hints])
        inner = hints[key]
        if isinstance(inner, type) and issubclass(inner, Struct):
            check_keys(value, inner, path, f"{place}{key}.")
