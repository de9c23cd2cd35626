"""What holds for every stage that a study may name, and that none is forgotten."""

from __future__ import annotations

import ast
import inspect
import json
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from jsonschema import Draft202012Validator

import judged.studies
from judged._optional import need
from judged.errors import MissingExtra
from judged.studies.specification import make_schema
from judged.studies.stages.chunkers import CHUNKERS, Chunkers, ChunkSpec
from judged.studies.stages.encoders import ENCODERS, Encoders, EncoderSpec
from judged.studies.stages.generators import GENERATORS, GenerateSpec, Generators
from judged.studies.stages.rerankers import RERANKERS, Rerankers
from judged.studies.stages.rerankers.reranker import RerankSpec
from judged.studies.stages.retrievers import RETRIEVERS, Retrievers
from judged.studies.stages.retrievers.retriever import RetrieveSpec
from judged.studies.stages.rewriters import REWRITERS, Rewriters, RewriteSpec
from judged.studies.stages.routers import ROUTERS, Routers, RouteSpec
from judged.studies.stages.searchers import SEARCHERS, Searchers
from judged.studies.stages.searchers.searcher import SearchSpec
from judged.studies.stages.skip_policies import SKIP_POLICIES, SkipPolicies, SkipSpec
from judged.studies.stages.stage import StageSpec
from judged.studies.systems.declared import SystemSpec

FAMILIES: dict[str, tuple[Any, Any, type[StageSpec]]] = {
    "chunk": (CHUNKERS, Chunkers, ChunkSpec),
    "encoder": (ENCODERS, Encoders, EncoderSpec),
    "search": (SEARCHERS, Searchers, SearchSpec),
    "rerank": (RERANKERS, Rerankers, RerankSpec),
    "retriever": (RETRIEVERS, Retrievers, RetrieveSpec),
    "router": (ROUTERS, Routers, RouteSpec),
    "skip": (SKIP_POLICIES, SkipPolicies, SkipSpec),
    "rewrite": (REWRITERS, Rewriters, RewriteSpec),
    "generate": (GENERATORS, Generators, GenerateSpec),
}
MEMBERS = [(family, name) for family, (members, _, _) in FAMILIES.items() for name in members]
EVERY = pytest.mark.parametrize(("family", "name"), MEMBERS, ids=[f"{one} {other}" for one, other in MEMBERS])
LEAST: dict[tuple[str, str], dict[str, Any]] = {
    ("chunk", "function"): {"function": "module:name"},
    ("encoder", "sentence-transformers"): {"model": "m"},
    ("encoder", "model2vec"): {"model": "m"},
    ("encoder", "openai"): {"model": "m"},
    ("encoder", "function"): {"function": "module:name"},
    ("rerank", "cross-encoder"): {"model": "m"},
    ("rerank", "maxsim"): {"model": "m"},
    ("rerank", "llm"): {"model": "m"},
    ("rerank", "function"): {"function": "module:name"},
    ("retriever", "object"): {"object": "module:name"},
    ("retriever", "http"): {"url": "http://x.example/", "body": {"q": "{query}"}},
    ("retriever", "elasticsearch"): {"url": "http://x.example/", "index": "i"},
    ("router", "centroids"): {"experts": ["a", "b"]},
    ("router", "function"): {"function": "module:name", "experts": ["a", "b"]},
    ("skip", "pattern"): {"skip": "^hi"},
    ("skip", "similarity"): {"retrieve": ["a"], "skip": ["b"]},
    ("skip", "function"): {"function": "module:name"},
    **{("rewrite", name): {"model": "m"} for name in ("llm", "hyde", "multi-query", "decompose")},
    ("rewrite", "function"): {"function": "module:name"},
    ("generate", "llm"): {"model": "m"},
    ("generate", "function"): {"function": "module:name"},
}
"""The settings that a stage needs at least; those that are not here need none."""
SELF_EXPLANATORY = {
    "device", "document_prefix", "experts", "headers", "ignore_case", "index", "method", "model", "pooling",
    "query_prefix", "seed", "stopwords", "system", "url", "engine", "metric", "build", "query", "threads", "field",
    "parameters", "weights",
}  # fmt: skip
"""Settings that need no sentence, as their name and type say all."""


def find_kind(family: str, name: str) -> type[StageSpec]:
    """Return the class of a stage."""
    kind: type[StageSpec] = FAMILIES[family][0][name]
    return kind


def declare(family: str, name: str, **more: Any) -> dict[str, Any]:
    """Return the shortest declaration of a stage, as YAML has it."""
    return {"type": name, **LEAST.get((family, name), {}), **more}


def test_no_stage_is_forgotten() -> None:
    """Every declared stage of the package is in the table of its family, and in the type that studies are read with."""
    for module in pkgutil.walk_packages(judged.studies.stages.__path__, "judged.studies.stages."):
        import_module(module.name)

    for members, union, base in FAMILIES.values():
        leaves = {kind for kind in _find_subclasses(base) if not kind.__subclasses__()}
        ours = {kind for kind in leaves if kind.__module__.startswith("judged.")}
        assert set(members.values()) == set(get_args(union)) == ours


def _find_subclasses(kind: type) -> set[Any]:
    return {one for below in kind.__subclasses__() for one in (below, *_find_subclasses(below))}


def test_the_names_of_issue_14_are_there() -> None:
    """By the words that users write."""
    assert {"byt5", "canine", "bpe", "sentence-transformers", "model2vec", "wordllama", "lsa"} <= set(
        ENCODERS
    )
    assert {"function", "openai"} <= set(ENCODERS)
    assert {"bm25", "tantivy", "graph", "index"} == set(SEARCHERS)
    assert {"cross-encoder", "mmr", "maxsim", "function", "llm"} == set(RERANKERS)
    assert {"object", "http", "elasticsearch"} == set(RETRIEVERS)


@EVERY
def test_it_is_documented(family: str, name: str) -> None:
    """It has a docstring of its own, and every setting either one or a name that says all."""
    kind = find_kind(family, name)
    documented = set().union(
        *(_find_documented(one) for one in kind.__mro__ if one.__module__.startswith("judged."))
    )
    settings = {field.encode_name for field in msgspec.structs.fields(kind)}
    renamed = {field.encode_name for field in msgspec.structs.fields(kind) if field.name in documented}

    assert inspect.getdoc(kind) not in {None, inspect.getdoc(kind.__mro__[1])}
    assert settings - renamed - SELF_EXPLANATORY == set()


def _find_documented(kind: type) -> set[str]:
    """Return the fields of a class that a docstring follows."""
    body = ast.parse(inspect.cleandoc("\n" + inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    found = set()
    for line, after in zip(body.body, body.body[1:], strict=False):
        text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if text and isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            found.add(line.target.id)
    return found


@EVERY
def test_it_is_read_from_a_study_and_written_again(family: str, name: str) -> None:
    """Its type chooses the class; the settings of `to_dict` make the same value again."""
    system = {"name": "x", family: declare(family, name)}
    read = getattr(msgspec.convert(system, SystemSpec), family)
    again = msgspec.convert({"type": name, **msgspec.to_builtins(read)}, type(read))

    assert type(read) is find_kind(family, name)
    assert again == read
    assert msgspec.json.decode(msgspec.json.encode(read), type=type(read)) == read


@EVERY
def test_it_refuses_settings_that_it_does_not_have(family: str, name: str) -> None:
    """With the place."""
    system = {"name": "x", family: declare(family, name, no_such_setting=1)}

    with pytest.raises(
        msgspec.ValidationError, match=rf"unknown field `no_such_setting` - at `\$\.{family}`"
    ):
        msgspec.convert(system, SystemSpec)


@EVERY
def test_it_is_in_the_schema_for_editors(family: str, name: str) -> None:
    """The shortest declaration is valid, one with an unknown setting is not."""
    schema = Draft202012Validator(make_schema())

    def make(**more: Any) -> dict[str, Any]:
        return {"collection": "demo", "systems": [{"name": "x", family: declare(family, name, **more)}]}

    assert schema.is_valid(make())
    assert not schema.is_valid(make(no_such_setting=1))


@EVERY
def test_what_it_depends_on_is_plain_and_whole(family: str, name: str) -> None:
    """`to_dict` has the type and can be written as JSON; two equal declarations depend on the same."""
    kind = find_kind(family, name)
    read = msgspec.convert(declare(family, name), kind)
    other = msgspec.convert(declare(family, name), kind)

    assert read.to_dict() == other.to_dict()
    assert read.to_dict()["type"] == read.type == name
    assert json.dumps(read.to_dict(), sort_keys=True)


@EVERY
def test_a_stage_cannot_be_changed(family: str, name: str) -> None:
    """It is a value."""
    read = msgspec.convert(declare(family, name), find_kind(family, name))

    with pytest.raises(AttributeError):
        read.stage = "other"  # type: ignore[attr-defined]


@EVERY
def test_its_extra_is_one_of_the_project(family: str, name: str) -> None:
    """So that the hint of a missing package names what can be installed."""
    import tomllib

    path = Path(__file__).parents[3] / "pyproject.toml"
    extras = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["optional-dependencies"]

    assert find_kind(family, name).extra in {"", *extras}


def test_a_missing_package_names_the_extra() -> None:
    """As every stage with one raises it."""
    with pytest.raises(MissingExtra, match="no_such_package"):
        need("no_such_package", extra="encoders", needed_by="the encoder `x`")
