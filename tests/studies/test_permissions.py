"""A study of somebody else's: looked at before it does anything, it takes neither memory nor secrets nor code."""

from __future__ import annotations

import json
import resource
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import judged
from judged.cli.main import judged as command
from judged.studies.running.run import open_study, run_study
from judged.studies.specification import read_study
from judged.studies.stages.encoders.models import find_model
from judged.studies.stages.encoders.sentence_transformers import _refuse_code
from judged.studies.stages.stage import StageFailed


@pytest.fixture(autouse=True)
def _at_the_desk(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has a folder and a configuration of its own."""
    monkeypatch.setenv("JUDGED_CONFIG", str(desk / "config.yaml"))


def write_study(*systems: dict[str, Any], **settings: Any) -> str:
    """Write a study; return its file."""
    whole = {"collection": "pets", "systems": list(systems), "measures": ["RR"], **settings}
    Path("study.yaml").write_text(yaml.safe_dump(whole))
    return "study.yaml"


def steal(variable: str = "AWS_SECRET_ACCESS_KEY", port: int = 9) -> dict[str, Any]:
    """A system that sends a variable to an address."""
    return {
        "name": "thief",
        "retriever": {
            "type": "http",
            "url": f"http://127.0.0.1:{port}/",
            "body": {"q": "{query}"},
            "secrets": {"X": variable},
        },
    }


def test_a_bomb_of_aliases_is_refused_before_it_unfolds() -> None:
    """Systems by the hundred thousand, in 250 bytes."""
    lines = ["collection: demo", "a: &a {name: x, search: bm25}", "b: &b [" + ", ".join(["*a"] * 9) + "]"]
    for before, after in zip("bcde", "cdef", strict=True):
        lines.append(f"{after}: &{after} [" + ", ".join([f"*{before}"] * 9) + "]")
    Path("bomb.yaml").write_text("\n".join([*lines, "systems: *f"]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(judged.JudgedError, match="unfold to more than 50,000 values"):
        read_study("bomb.yaml")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def linked(count: int) -> list[dict[str, Any]]:
    """Systems of which each is the fusion of the two before it."""
    first = [{"name": f"s{number}", "search": "bm25"} for number in range(2)]
    rest = [
        {"name": f"s{number}", "fuse": {"of": [f"s{number - 1}", f"s{number - 2}"]}}
        for number in range(2, count)
    ]
    return [*first, *rest]


def test_linked_systems_are_ordered_once_and_asked_once(desk: Path) -> None:
    """Forty of them would be asked a hundred million times for each query, were each to ask its parts again."""
    pytest.importorskip("bm25s")
    systems = linked(8)
    systems[0] = {"name": "s0", "retriever": "parts:retrieve"}
    study = run_study(
        {"collection": "pets", "systems": [systems[0], systems[1], *systems[2:]], "measures": ["RR"]},
        only=["s7"],
    )
    calls = (desk / "calls").read_text().count("retrieve")

    assert not study.failures
    assert calls == 7 * (6 + 3)  # every system but `s1` asks `s0`, in the warm-up too


@pytest.mark.parametrize("count", [48, 1500])
@pytest.mark.parametrize("backwards", [False, True])
def test_systems_that_are_linked_too_deeply_are_refused(count: int, backwards: bool) -> None:
    """In any order, without a traceback."""
    systems = linked(count)

    with pytest.raises(judged.JudgedError, match="more than 32 deep"):
        read_study({"collection": "demo", "systems": systems[::-1] if backwards else systems})


@pytest.mark.parametrize("setting", ["encoder", "search", "retriever", "router", "skip", "rerank"])
@pytest.mark.parametrize("kind", [["x"], {"a": 1}, None, 5])
def test_a_type_that_is_no_name_is_an_error_in_words(setting: str, kind: Any) -> None:
    """On the command line too."""
    done = CliRunner().invoke(
        command, ["run", write_study({"name": "x", setting: {"type": kind}}), "--dry-run"]
    )

    assert isinstance(done.exception, judged.JudgedError | SystemExit)


def test_a_variable_is_read_only_with_permission(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the option, or of the user's configuration; a study in Python is the user's own."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret of the test")
    study = write_study(steal())
    refused = CliRunner().invoke(command, ["run", study])
    with pytest.raises(judged.JudgedError, match="reads AWS_SECRET_ACCESS_KEY from the environment"):
        run_study(study)

    assert refused.exit_code != 0
    assert "--allow-env AWS_SECRET_ACCESS_KEY" in str(refused.exception) + refused.output
    assert open_study(study, desk / "out", allow_env=["AWS_SECRET_ACCESS_KEY"]).total == 6
    (desk / "config.yaml").write_text("allow_env: [AWS_SECRET_ACCESS_KEY]\n")
    assert open_study(study, desk / "out").total == 6


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ES_AUTHORIZATION"])
def test_the_usual_keys_need_no_permission(variable: str, desk: Path) -> None:
    """Those of the kinds of stages."""
    assert open_study(write_study(steal(variable)), desk / "out").total == 6


def test_a_dry_run_lists_what_would_be_used_and_what_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses with whether they can be reached, variables without their values, files, code, models."""
    monkeypatch.setenv("STORE_DSN", "postgresql://me:hidden@127.0.0.1:9/x")
    systems = [
        steal(),
        {"name": "own", "encoder": {"type": "function", "function": "parts:encode"}, "search": "exact"},
        {
            "name": "store",
            "encoder": {"type": "sentence-transformers", "model": "someone/model"},
            "search": {"type": "index", "engine": "pgvector-exact", "url": "${STORE_DSN}"},
        },
    ]
    done = CliRunner().invoke(
        command, ["run", write_study(*systems), "--dry-run", "--allow-env", "STORE_DSN"]
    )

    for line in (
        "file pets/corpus.jsonl",
        "address http://127.0.0.1:9/: not reachable (Connection refused)",
        "variable AWS_SECRET_ACCESS_KEY: not allowed (`--allow-env AWS_SECRET_ACCESS_KEY`)",
        "variable STORE_DSN: set",
        "address postgresql://me:***@127.0.0.1:9/x: not reachable (Connection refused)",
        "import parts:encode",
        "model someone/model",
    ):
        assert line in done.output, done.output
    assert "hidden" not in done.output
    assert done.exit_code == 5


def test_a_dry_run_of_what_is_there_succeeds() -> None:
    """A server is connected to, and sent nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = CliRunner().invoke(command, ["run", write_study(steal("OPENAI_API_KEY", port)), "--dry-run"])

        assert f"address http://127.0.0.1:{port}/\n" in done.output
    assert done.exit_code == 0


CODE: list[tuple[str, Any]] = [
    ("modules.json", [{"idx": 0, "name": "0", "path": "", "type": "evil.Module"}]),
    ("2_Dense/config.json", {"activation_function": "evil.run"}),
    ("0_Words/wordembedding_config.json", {"tokenizer_class": "evil.Tokenizer"}),
]


@pytest.mark.parametrize(("file", "content"), CODE, ids=[case[0] for case in CODE])
def test_a_folder_of_a_model_that_names_code_of_its_own_is_refused(
    file: str, content: Any, desk: Path
) -> None:
    """Whatever the release of the library would do; the error says how to allow it."""
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for name, written in (("modules.json", modules), (file, content)):
        (desk / "model" / name).parent.mkdir(parents=True, exist_ok=True)
        (desk / "model" / name).write_text(json.dumps(written))

    with pytest.raises(StageFailed, match="runs code of its own") as caught:
        _refuse_code(find_model(str(desk / "model"), extra="encoders"))
    assert caught.value.hint == "if you trust it: `allow_code: true`"
