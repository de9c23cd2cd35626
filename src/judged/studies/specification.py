"""Studies in YAML: what may be written, checked before anything is loaded; errors name the place."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from judged.errors import BadProtocol, JudgedError, UnknownName, check_kind
from judged.io.settings import convert_settings, read_yaml
from judged.measures.parse import parse_measures
from judged.studies.collections.datasets import is_dataset_name
from judged.studies.factors.grids import GRID, Content, expand_grids
from judged.studies.factors.settings import RangeSpec
from judged.studies.passages.budgets import Budgeted, parse_budget
from judged.studies.running.load import LoadSpec
from judged.studies.stages.chunkers import WORDS
from judged.studies.stages.tokens import PriceSpec
from judged.studies.systems.declared import SystemSpec, change_settings

DEMO = "demo"
"""The name of the built-in collection."""
DEMO_STUDY = Path(__file__).with_name("demo.yaml")
"""The study of `judged demo`."""
FACTOR = "Factor"
"""The name in the JSON schema of a list of values, each of which makes another system."""
PLAIN = ("name", "type", "grid", "factors", "tune")
"""Settings that have one value."""
DEEPEST = 32
"""Systems that may consist of each other; each adds to the stack of calls."""
MOST_VALUES = 50_000
"""More values than any study has; a system of it takes a thousand times the memory of its alias."""
SCHEMA_ADDRESS = "https://json-schema.org/draft/2020-12/schema"


class CollectionSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Location of the collection: a folder in BEIR's layout, or files in any format that judged reads.

    Systems that exist already need no documents, and judgments that have the questions need no queries.
    """

    folder: str | None = None
    """A BEIR folder: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`."""
    dataset: str | None = None
    """A data set by name: `ir_datasets:beir/scifact/test`, `hf:mteb/scifact`, `mteb:SciFact`."""
    documents: str | None = None
    queries: str | None = None
    judgments: str | None = None
    spans: str | None = None
    """Judgments of passages, in place of documents: query, document, `start` and `end` (or `text`), grade."""
    coverage: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.5
    """The share of a judged passage that a result has to cover to find it."""
    name: str | None = None
    empty_documents: Literal["error", "skip"] = "error"
    """Treatment of a document without title and text."""
    limit: int | None = None
    """The largest number of queries, taken evenly."""


class AnswersSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores of the answers that systems write; labels belong to texts that were labelled, so they are no part of a study."""

    references: str | None = None
    """A file of short true answers: `query`, `answer`."""
    measures: tuple[str, ...] = ()
    """By default all that need nothing but the answers and the references."""


class StudySpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A study: a collection, systems, and how they are measured."""

    systems: tuple[SystemSpec, ...]
    collection: str | CollectionSpec = ""
    """`demo`, a folder, the name of a data set, or where the files are."""
    collections: tuple[str | CollectionSpec, ...] = ()
    """Several collections in place of one: every system is run on each."""
    name: str | None = None
    """By default the name of the file."""
    measures: tuple[str, ...] = ("nDCG@10", "RR", "R@100")
    """`@k` stands for every cutoff of `cutoffs`; `R@2000tokens` is `R` of what fits into 2,000 tokens."""
    tokeniser: str = "words"
    """What counts tokens: `words` takes words and marks; else a `tokenizer.json`, or the folder that has it."""
    cutoffs: tuple[int, ...] = ()
    baseline: str | None = None
    """The system that the others are compared with; without one, every pair is compared."""
    test: str = "randomisation"
    correction: str | None = None
    level: float = 0.95
    protocol: str = "trec_eval-9"
    """The profile of the measures."""
    depth: int = 100
    """Number of documents that a system returns for a query."""
    repeats: int = 1
    """Passes over the queries; results are those of the first, times of all."""
    warmup: int = 3
    """Queries that are answered before any is timed."""
    train: float | tuple[str, ...] | None = None
    """The training queries: a share drawn by the seed, or ids. Systems are scored on the other queries."""
    seed: int = 0
    on_error: Literal["fail", "empty", "skip"] = "fail"
    """What a failed query is: the failure of its system, a query without results, or left out for all systems."""
    max_failures: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Failed queries beyond which a system has failed; by default all of them."""
    retries: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Further attempts at a query that fails."""
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Seconds that an attempt may take."""
    concurrency: Annotated[int, msgspec.Meta(ge=1)] = 1
    """Queries that a system is asked at a time."""
    answers: AnswersSpec | None = None
    """Scores of the answers of systems that `generate`."""
    prices: dict[str, PriceSpec] = {}
    """The prices of a million tokens, `in` and `out`, by model; those of the user's configuration are known too."""
    load: LoadSpec | None = None
    """A load test of each system at the end; its times are in a table of their own."""

    def measure_names(self) -> tuple[str, ...]:
        """Return the measures, with every cutoff in place of `@k`.

        >>> StudySpec(collection="demo", systems=(), measures=("P@k", "RR"), cutoffs=(1, 5)).measure_names()
        ('P@1', 'P@5', 'RR')
        """
        return tuple(
            f"{name.removesuffix('@k')}@{cutoff}" if name.endswith("@k") else name
            for name in self.measures
            if parse_budget(name) is None
            for cutoff in (self.cutoffs if name.endswith("@k") else (0,))
        )

    def select(self, names: Collection[str]) -> StudySpec:
        """Return the study of the systems named alone, with those that they consist of; raise an error for unknown ones."""
        known = [system.name for system in self.systems]
        for name in names:
            if name not in known:
                raise UnknownName("system", name, known)
        wanted = set(names)
        for system in reversed(self.order()):  # wholes come before their parts
            wanted |= set(system.parts) if system.name in wanted else set()
        return msgspec.structs.replace(
            self,
            systems=tuple(system for system in self.systems if system.name in wanted),
            baseline=self.baseline if self.baseline in wanted else None,
        )

    def context_measures(self) -> tuple[Budgeted, ...]:
        """Return the measures of the results that fit into a number of tokens, such as `R@2000tokens`."""
        return tuple(found for name in self.measures if (found := parse_budget(name)) is not None)

    def order(self) -> list[SystemSpec]:
        """Return the systems so that each comes after those that it consists of."""
        specs = {spec.name: spec for spec in self.systems}
        ordered: dict[str, SystemSpec] = {}
        depths: dict[str, int] = {}
        too_deep = BadProtocol(f"the systems consist of each other more than {DEEPEST} deep")

        def visit(name: str, path: tuple[str, ...]) -> None:
            if name in ordered:
                return
            if name in path:
                circle = " → ".join((*path[path.index(name) :], name))
                msg = f"the systems consist of each other in a circle: {circle}"
                raise BadProtocol(msg)
            if len(path) > DEEPEST:
                raise too_deep
            for part in specs[name].parts:
                visit(part, (*path, name))
            depths[name] = 1 + max((depths[part] for part in specs[name].parts), default=0)
            if depths[name] > DEEPEST:
                raise too_deep
            ordered[name] = specs[name]

        for name in specs:
            visit(name, ())
        return list(ordered.values())


def read_study(
    source: str | os.PathLike[str] | Mapping[str, object], *, folder: Path | None = None
) -> StudySpec:
    """Return the study of a YAML file, or of a dict; everything is checked that can be without loading a model.

    Paths in a file are relative to it; `folder` is where those of a dict are.
    """
    check_kind("study", source, (str, os.PathLike, Mapping), "a YAML file, or a dict of the same layout")
    if isinstance(source, Mapping):
        content, name, base = dict(source), "study", folder or Path()
    else:
        path = Path(source)
        content, name, base = read_yaml(path, most=MOST_VALUES), str(path), path.parent
    if not isinstance(content, Mapping):
        got = "is empty" if content is None else f"holds a {type(content).__name__}"
        msg = f"{name} {got}, expected `collection` and `systems`"
        raise BadProtocol(msg)
    settings = _resolve_models(dict(content), base)
    grids: dict[str, tuple[str, ...]] = {}
    if isinstance(settings.get("systems"), list | tuple):
        settings["systems"], grids = expand_grids(settings["systems"], name)
    spec = convert_settings(settings, StudySpec, name)
    if spec.baseline in grids:
        members = grids[spec.baseline]
        msg = f"{name}: `baseline` is `{spec.baseline}`, a grid of {len(members):,} systems, expected one of them"
        raise BadProtocol(msg, hint=f"for example `{members[0]}`")
    for place, error in _find_faults(spec):
        msg = f"{name}: `{place}`: {error.message}"
        raise BadProtocol(msg, hint=error.hint) from error
    if spec.name is None:
        title = "study" if isinstance(source, Mapping) else Path(source).stem
        spec = msgspec.structs.replace(spec, name=title)
    if spec.answers is not None and spec.answers.references is not None:
        references = str(base / spec.answers.references)
        spec = msgspec.structs.replace(
            spec, answers=msgspec.structs.replace(spec.answers, references=references)
        )
    if spec.collections:
        several = tuple(_resolve(collection, base) for collection in spec.collections)
        return msgspec.structs.replace(spec, collections=several)
    return msgspec.structs.replace(spec, collection=_resolve(spec.collection, base))


def _find_faults(spec: StudySpec) -> Iterator[tuple[str, JudgedError]]:
    """Yield what is wrong with a study, with its place."""
    names = [system.name for system in spec.systems]
    if not names:
        yield "systems", BadProtocol("is empty, expected one system or more")
    found = len(names)
    for number, system in enumerate(spec.systems):
        for fault in _find_system_faults(system, number, names, trained=spec.train is not None):
            found = -1
            yield fault
    if found > 0:
        yield from _find_tuning_faults(spec)
    try:
        spec.order()
    except KeyError:
        pass  # a part that does not exist, reported above
    except JudgedError as error:
        yield "systems", error
    if spec.baseline is not None and spec.baseline not in names:
        yield "baseline", UnknownName("system", spec.baseline, names)
    yield from _find_bad_numbers(spec)
    yield from _find_measure_faults(spec)
    if spec.answers is not None and all(system.generate is None for system in spec.systems):
        yield "answers", BadProtocol("is there, and no system writes answers", hint="give one a `generate`")


def _find_system_faults(
    system: SystemSpec, number: int, names: Sequence[str], *, trained: bool
) -> Iterator[tuple[str, JudgedError]]:
    """Yield what is wrong with one system of several."""
    place = f"systems[{number}]"
    try:
        system.check()
    except JudgedError as error:
        yield place, error
        return
    if names.index(system.name) != number:
        yield f"{place}.name", BadProtocol(f"`{system.name}` is the name of another system")
    for part in system.parts:
        if part not in names:
            way = next(way for way in ("fuse", "router", "base") if getattr(system, way) is not None)
            yield f"{place}.{way}", UnknownName("system", part, names)
    if system.needs_training and not trained:
        hint = "add `train: 0.3` to the study: a share of the queries, which are then not scored"
        yield place, BadProtocol("learns from training queries, and there are none", hint=hint)


def _find_tuning_faults(spec: StudySpec) -> Iterator[tuple[str, JudgedError]]:
    """Yield the settings to tune that systems do not have, or that do not take the values to try."""
    specs = {system.name: system for system in spec.systems}
    for number, system in enumerate(spec.systems):
        for place, values in () if system.tune is None else system.tune.settings.items():
            tried = (values.at(0.0), values.at(1.0)) if isinstance(values, RangeSpec) else values
            try:
                for value in tried:
                    change_settings(specs, system.name, {place: value})[system.name].check()
            except JudgedError as error:
                yield f"systems[{number}].tune.settings", error
                break


def _find_measure_faults(spec: StudySpec) -> Iterator[tuple[str, JudgedError]]:
    if any(name.endswith("@k") for name in spec.measures) and not spec.cutoffs:
        hint = "for example `cutoffs: [1, 5, 10]`"
        yield "cutoffs", BadProtocol("is missing, and a measure has `@k`", hint=hint)
        return
    try:
        if spec.context_measures() and not spec.measure_names():
            msg = "has no measure of whole rankings, expected at least one"
            raise BadProtocol(msg, hint="for example `nDCG@10` in addition to `R@2000tokens`")
        parse_measures(list(spec.measure_names()))
        for measure in spec.context_measures():
            measure.find_measure()
    except JudgedError as error:
        yield "measures", error


def _find_bad_numbers(spec: StudySpec) -> Iterator[tuple[str, JudgedError]]:
    for name, least in (("depth", 1), ("repeats", 1), ("warmup", 0)):
        if getattr(spec, name) < least:
            yield name, BadProtocol(f"is {getattr(spec, name)}, expected a whole number from {least}")
    for cutoff in spec.cutoffs:
        if cutoff < 1:
            yield "cutoffs", BadProtocol(f"has {cutoff}, expected whole numbers from 1")
    if isinstance(spec.train, float) and not 0 < spec.train < 1:
        yield "train", BadProtocol(f"is {spec.train:g}, expected a share above 0 and below 1")
    if not 0 < spec.level < 1:
        yield "level", BadProtocol(f"is {spec.level:g}, expected a number between 0 and 1")
    if bool(spec.collection) == bool(spec.collections):
        got = "both `collection` and `collections`" if spec.collection else "no collection"
        yield (
            "collection",
            BadProtocol(f"is needed, and the study has {got}", hint="for example `collection: demo`"),
        )
    for collection in (spec.collection, *spec.collections):
        if isinstance(collection, CollectionSpec):
            yield from _find_collection_faults(collection, spec.systems)


def _find_collection_faults(
    collection: CollectionSpec, systems: Sequence[SystemSpec]
) -> Iterator[tuple[str, JudgedError]]:
    if collection.dataset is not None:
        yield from _find_dataset_faults(collection)
        return
    named = (collection.documents, collection.queries, collection.judgments)
    if collection.folder is not None and any(file is not None for file in named):
        yield "collection", BadProtocol("names both a folder and files", hint="`folder` alone, or the files")
    elif collection.spans is not None and collection.judgments is not None:
        yield "collection", BadProtocol("names both `judgments` and `spans`, expected one of them")
    elif collection.spans is not None and collection.folder is None and collection.documents is None:
        yield "collection", BadProtocol("names `spans` and no `documents`, which the passages are parts of")
    elif collection.folder is None and collection.judgments is None and collection.spans is None:
        hint = "`judgments`, with `queries` and `documents` where they are needed, or `folder` alone"
        yield "collection", BadProtocol("names neither a folder nor judgments", hint=hint)
    elif collection.folder is None and collection.documents is None:
        for number, system in enumerate(systems):
            setting = system.need_documents()
            if setting is not None:
                hint = "name `documents` under `collection`; only a `retriever` needs none"
                fault = BadProtocol("needs the texts of documents, and the collection has none", hint=hint)
                yield f"systems[{number}].{setting}", fault


def _find_dataset_faults(collection: CollectionSpec) -> Iterator[tuple[str, JudgedError]]:
    others = ("folder", "documents", "queries", "judgments", "spans")
    if any(getattr(collection, other) is not None for other in others):
        yield (
            "collection",
            BadProtocol("names both a data set and files", hint="`dataset` alone, or the files"),
        )
    elif not is_dataset_name(collection.dataset or ""):
        hint = "for example `ir_datasets:beir/scifact/test`, `hf:mteb/scifact` or `mteb:SciFact`"
        yield "collection.dataset", BadProtocol(f"is `{collection.dataset}`", hint=hint)


def _resolve(collection: str | CollectionSpec, base: Path) -> CollectionSpec | str:
    """Return the collection with paths that do not depend on the current folder."""
    if collection == DEMO:
        return DEMO
    if isinstance(collection, str):
        named = is_dataset_name(collection)
        return CollectionSpec(dataset=collection) if named else CollectionSpec(folder=str(base / collection))
    files = {
        name: str(base / path)
        for name in ("folder", "documents", "queries", "judgments", "spans")
        if (path := getattr(collection, name)) is not None
    }
    return msgspec.structs.replace(collection, **files)


PROVIDED = (WORDS, "")
"""Names that are never those of files."""
NEXT_TO_THE_STUDY = ("model", "tokeniser")
"""Settings that may name a folder or a file next to the study."""


def _resolve_models(content: Content, base: Path, *, model: bool = False) -> Content:
    """Return the content with every model or tokeniser that is next to the study named by its path."""
    if isinstance(content, list):
        return [_resolve_models(item, base, model=model) for item in content]
    if isinstance(content, dict):
        return {
            key: _resolve_models(value, base, model=key in NEXT_TO_THE_STUDY or (model and key == GRID))
            for key, value in content.items()
        }
    found = model and isinstance(content, str) and content not in PROVIDED and (base / content).exists()
    return str((base / content).resolve()) if found else content


def make_schema() -> dict[str, object]:
    """Return the JSON schema of studies, for the completion of editors."""
    schema: dict[str, Content] = msgspec.json.schema(StudySpec)
    factor = {"$ref": f"#/$defs/{FACTOR}"}
    known = set(schema["$defs"]) - {"StudySpec", "CollectionSpec"}
    for name, declared in schema["$defs"].items():
        for key, setting in declared.get("properties", {}).items():
            if name in known and key not in PLAIN:
                declared["properties"][key] = {"anyOf": [setting, factor]}
    values = {"type": "array", "minItems": 1}
    listed = {
        "type": "object",
        "properties": {GRID: values},
        "required": [GRID],
        "additionalProperties": False,
    }
    schema["$defs"][FACTOR] = {
        "title": FACTOR,
        "description": "Values of a setting; each makes another system.",
        "anyOf": [values, listed],
    }
    return {"$schema": SCHEMA_ADDRESS, "title": "A study of judged", **schema}
