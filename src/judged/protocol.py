"""The protocol: every convention that changes a number, declared once, printed with and hashed into each result.

A convention is one field, declared with `convention`: its default, its help, and the words for its values. Checks,
printing, fingerprints, command-line options, configuration files and notes are derived from that declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, get_args, get_origin, get_type_hints

from judged.errors import BadProtocol, UnknownName
from judged.store.hashing import hash_text

T = TypeVar("T")
_KEY = "convention"
MOST_DOCUMENTS = 10**9
"""The greatest depth: more documents of a query are never retrieved, and ranks are exact."""


class Convention(NamedTuple):
    """Declaration of one field of a protocol."""

    name: str
    type: object
    default: object
    help: str
    """One sentence, for command-line help and documentation."""
    words: Mapping[object, str] | Callable[[object], str]
    """Phrase for each value in the protocol's line; an empty phrase is left out."""
    outcomes: Mapping[str, str]
    """Effect of each value on the queries or documents concerned, for notes."""
    alternatives: tuple[object, ...]
    """Values that another tool may have used, tried when a published number is explained."""
    affects: Literal["queries", "ranks", "values"]
    """Whether the convention decides which queries are scored, at which rank documents are, or values only."""
    concerns: str
    """Property of the queries that the convention applies to."""
    expected: str
    """Allowed values, for error messages."""
    check: Callable[[object], bool]
    hint: str | None
    metavar: str | None

    @property
    def options(self) -> tuple[str, ...]:
        """The allowed words; empty where the value is a number or a group of conventions."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def flag(self) -> str:
        """The command-line option that sets this convention."""
        return f"--{self.name.replace('_', '-')}"

    def phrase(self, value: object) -> str:
        """Return the words for a value."""
        return self.words(value) if callable(self.words) else self.words[value]

    def validate(self, value: object, subject: str) -> None:
        """Raise `BadProtocol` unless the value is allowed."""
        if self.options and not (isinstance(value, Hashable) and value in self.options):
            expected = "one of " + ", ".join(f"`{option}`" for option in self.options)
            msg = f"`{self.name}` of {subject} is `{value}`, expected {expected}"
            raise BadProtocol(msg, hint=self.hint)
        if not self.options and not self._passes(value):
            msg = f"`{self.name}` of {subject} is {value}, expected {self.expected}"
            raise BadProtocol(msg, hint=self.hint)

    def _passes(self, value: object) -> bool:
        try:
            return bool(self.check(value))
        except (TypeError, ValueError, AttributeError):  # of another kind than its values
            return False


def convention(
    default: T,
    *,
    help: str = "",  # noqa: A002 - what click calls it
    words: Mapping[object, str] | Callable[[object], str] | str = "",
    outcomes: Mapping[str, str] | None = None,
    alternatives: Sequence[object] | None = None,
    affects: Literal["queries", "ranks", "values"] = "values",
    concerns: str = "",
    expected: str = "",
    check: Callable[[Any], bool] = lambda _: True,
    hint: str | None = None,
    metavar: str | None = None,
) -> T:
    """Declare a field of a protocol; `words` may also be a format string such as `"depth {}"`."""
    phrases = words.format if isinstance(words, str) else words
    declared = {
        "help": help,
        "words": phrases,
        "outcomes": outcomes or {},
        "alternatives": alternatives,
        "affects": affects,
        "concerns": concerns,
        "expected": expected,
        "check": check,
        "hint": hint,
        "metavar": metavar,
    }
    return field(default=default, metadata={_KEY: declared})


@cache
def _conventions(protocol: type[BaseProtocol]) -> Mapping[str, Convention]:
    hints = get_type_hints(protocol)
    conventions = {}
    for item in fields(protocol):
        declared = {**item.metadata[_KEY]}
        options = get_args(hints[item.name]) if get_origin(hints[item.name]) is Literal else ()
        if declared["alternatives"] is None:
            declared["alternatives"] = options
        conventions[item.name] = Convention(
            name=item.name, type=hints[item.name], default=item.default, **declared
        )
    return conventions


@dataclass(frozen=True, slots=True)
class BaseProtocol:
    """Methods of every protocol, derived from its fields, each of which is declared with `convention`."""

    subject: ClassVar[str] = "a protocol"
    """Name in error messages."""
    family: ClassVar[str] = ""
    """The family whose conventions they are."""

    def __post_init__(self) -> None:
        for name, declared in self.conventions().items():
            declared.validate(getattr(self, name), self.subject)

    @classmethod
    def conventions(cls) -> Mapping[str, Convention]:
        """Return every convention by name."""
        return _conventions(cls)  # type: ignore[arg-type]

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change when any convention does."""
        import json

        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hash_text(canonical)[:12]

    @property
    def heading(self) -> str:
        """The name that its line begins with."""
        return type(self).__name__

    def named(self) -> BaseProtocol:
        """Return the protocol that the heading names; what differs from it is part of the short form."""
        return type(self)()

    @property
    def short(self) -> str:
        """The heading, the conventions that differ from the default, and the fingerprint."""
        usual = set(self.named().phrases())
        changed = [phrase for phrase in self.phrases() if phrase not in usual]
        return " ".join(
            filter(None, (self.heading, f"({', '.join(changed)})" if changed else "", f"#{self.fingerprint}"))
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every convention by name, as plain values."""
        return {
            name: _plain(getattr(self, name), declared.type) for name, declared in self.conventions().items()
        }

    @classmethod
    def from_dict(cls, conventions: Mapping[str, object]) -> Self:
        """Return the protocol that `to_dict` wrote."""
        known = cls.conventions()
        return cls(**{name: _from_plain(value, known[name].type) for name, value in conventions.items()})

    def replace(self, **changes: object) -> Self:
        """Return this protocol with some conventions changed."""
        for name in changes:
            if name not in self.conventions():
                kind = f"convention of {self.subject}"
                raise UnknownName(kind, name, self.conventions())
        return replace(self, **changes)

    def phrases(self) -> list[str]:
        """Return the words for each convention; defaults that need no mention are left out."""
        said = [declared.phrase(getattr(self, name)) for name, declared in self.conventions().items()]
        return [phrase for phrase in said if phrase]

    def outcome(self, name: str) -> str:
        """Return the effect of a convention, worded for a note."""
        return self.conventions()[name].outcomes[getattr(self, name)]

    def __str__(self) -> str:
        """Return the heading, every convention in words, and the fingerprint."""
        return f"{self.heading} ({', '.join(self.phrases())}) #{self.fingerprint}"


def _plain(value: Any, kind: Any) -> Any:
    if is_dataclass(value):
        assert isinstance(value, BaseProtocol)  # noqa: S101 - protocols hold no other dataclass
        return value.to_dict()
    if isinstance(value, frozenset):
        return sorted(value)
    # 1 and 1.0 are the same threshold, and have one fingerprint
    return float(value) if kind is float else value


def _from_plain(value: Any, kind: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, BaseProtocol):
        return kind.from_dict(value)
    return frozenset(value) if get_origin(kind) is frozenset else value


@dataclass(frozen=True, slots=True)
class Protocol(BaseProtocol):
    """Conventions for aligning a ranked run with its judgments. The defaults are those of trec_eval 9 with `-c`.

    >>> Protocol().fingerprint == PROTOCOLS["trec_eval-9"].fingerprint
    True
    """

    family: ClassVar[str] = "ranked"

    ties: Literal[
        "document-descending", "document-ascending", "input-order", "expected", "pessimistic", "optimistic"
    ] = convention(
        "document-descending",
        help="Order of documents with equal scores.",
        words={
            "document-descending": "ties by document id descending",
            "document-ascending": "ties by document id ascending",
            "input-order": "ties in input order",
            "expected": "ties averaged over all orders",
            "pessimistic": "ties by grade ascending",
            "optimistic": "ties by grade descending",
        },
        outcomes={
            "document-descending": "ordered by document id, descending",
            "document-ascending": "ordered by document id, ascending",
            "input-order": "ordered as in the input",
            "expected": "averaged over all orders",
            "pessimistic": "ordered by grade, the lowest first",
            "optimistic": "ordered by grade, the highest first",
        },
        alternatives=("document-descending", "document-ascending", "input-order", "pessimistic"),
        affects="ranks",
    )
    """Order of documents with equal scores: by id descending or ascending (bytewise), as in the input, the mean
    over every order, or by grade, the lowest (`pessimistic`) or the highest first (`optimistic`)."""
    precision: Literal["float32", "float64"] = convention(
        "float32",
        help="Precision at which scores are compared.",
        words="{} scores",
        affects="ranks",
    )
    """The precision at which scores are compared; scores that are equal there are tied."""
    missing: Literal["zero", "skip", "error"] = convention(
        "zero",
        help="Score of a judged query without results.",
        words={
            "zero": "missing queries score 0",
            "skip": "missing queries skipped",
            "error": "missing queries refused",
        },
        outcomes={"zero": "scored as 0", "skip": "left out", "error": "refused"},
        alternatives=("zero", "skip"),
        affects="queries",
        concerns="no results",
    )
    """A judged query without results scores 0, is left out, or is an error."""
    unjudged: Literal["nonrelevant", "removed"] = convention(
        "nonrelevant",
        help="Treatment of unjudged documents.",
        words={"nonrelevant": "unjudged not relevant", "removed": "unjudged removed"},
        affects="ranks",
    )
    """Unjudged documents count as not relevant, or are removed before ranks are counted."""
    rel: float = convention(
        1.0,
        help="Grade from which a document is relevant.",
        words="relevant from grade {:g}",
        alternatives=(1.0, 2.0, 3.0),
        check=lambda rel: rel >= 0,
        expected="a number from 0",
        metavar="GRADE",
    )
    """The grade from which a document is relevant, for measures that set no `rel` of their own."""
    depth: int | None = convention(
        None,
        help="Use only the first N documents of each query.",
        words=lambda depth: "full depth" if depth is None else f"depth {depth}",
        alternatives=(None, 10, 100, 1000),
        affects="ranks",
        check=lambda depth: depth is None or 1 <= depth <= MOST_DOCUMENTS,
        expected=f"a whole number from 1 to {MOST_DOCUMENTS:,}",
        metavar="N",
    )
    """Only the first `depth` documents of each query are used; None: all."""
    recall_points: Literal["truncated", "rounded"] = convention(
        "truncated",
        help="Conversion of a share of the relevant documents to a count.",
        words="recall points {}",
    )
    """A share x of R relevant documents is ⌊xR + 0.9⌋ of them (trec_eval 9) or round(xR) (trec_eval 10)."""
    order: Literal["score", "input"] = convention(
        "score",
        help="Rank documents by score or in input order.",
        words={"score": "", "input": "ranks as in the input"},
        affects="ranks",
    )
    """Documents are ranked by score, or in the order of the input without regard to scores."""
    unjudged_queries: Literal["ignored", "zero"] = convention(
        "ignored",
        help="Score of a query of the run without judgments.",
        words={"ignored": "", "zero": "unjudged queries score 0"},
        outcomes={"ignored": "not scored", "zero": "scored as 0"},
        affects="queries",
        concerns="results, and no judgments",
    )
    """A query of the run without judgments is not scored, or scores 0."""
    no_relevant: Literal["zero", "skip", "one"] = convention(
        "zero",
        help="Score of a query without any relevant document.",
        words={
            "zero": "",
            "skip": "queries without a relevant document skipped",
            "one": "queries without a relevant document score 1",
        },
        outcomes={"zero": "scored as 0", "skip": "left out", "one": "scored as 1"},
        affects="queries",
        concerns="no relevant document",
    )
    """A query without any relevant document scores 0, is left out, or scores 1 in measures from 0 to 1, whose best
    order could score no more than 0 there; whether the run has results for it does not matter then."""
    negative: Literal["unjudged", "nonrelevant", "removed"] = convention(
        "unjudged",
        help="Meaning of a negative grade.",
        words={
            "unjudged": "",
            "nonrelevant": "negative grades not relevant",
            "removed": "documents of negative grade removed",
        },
    )
    """A negative grade means that the document is unjudged, that it is not relevant, as grade 0, or that it is junk and
    removed before ranks are counted, so that retrieving it neither helps nor hurts."""
    self_matches: Literal["kept", "removed"] = convention(
        "kept",
        help="Treatment of a document with the id of its query.",
        words={"kept": "", "removed": "documents with their query's id removed"},
        affects="ranks",
    )
    """A document with the id of its query is ranked like any other, or removed first."""

    def __post_init__(self) -> None:
        BaseProtocol.__post_init__(self)
        unordered = self.ties == "expected" or self.ties_by_grade
        if unordered and self.unjudged == "removed" and self.depth is not None:
            msg = f"a protocol has `ties` {self.ties}, `unjudged` removed and a `depth`, expected at most two of them"
            raise BadProtocol(
                msg, hint="which unjudged documents lie within the depth depends on the order of ties"
            )

    @property
    def ties_by_grade(self) -> bool:
        """Whether tied documents are ordered by their grades."""
        return self.ties in {"pessimistic", "optimistic"}

    @property
    def profile(self) -> str | None:
        """The name of the profile that has exactly these conventions, if one has."""
        return next((name for name, protocol in PROTOCOLS.items() if protocol == self), None)

    @property
    def heading(self) -> str:
        """The name of the profile, if one has these conventions."""
        return self.profile or "custom protocol"

    def named(self) -> BaseProtocol:
        """Return the protocol itself if a profile has it, else the default."""
        return Protocol() if self.profile is None else self


PROTOCOLS: dict[str, Protocol] = {
    "trec_eval-9": Protocol(),
    "trec_eval-10": Protocol(precision="float64", recall_points="rounded"),
}
"""trec_eval's protocols, by the names of their profiles; the first is the default."""
