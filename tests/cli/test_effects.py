"""An option that would have no effect is refused: what each declares is enforced, and none is forgotten."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click
import pytest
from click.testing import CliRunner, Result

from agents.conversations import conversation
from cli.conftest import Invoke
from judged.cli.command import DependentOption
from judged.cli.main import COMMANDS, judged
from judged.plugins import resolve


def _import(name: str) -> click.Command:
    return cast("click.Command", resolve(COMMANDS[name].home))


def _list_commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with the words that call it."""
    waiting = [((name,), _import(name)) for name in COMMANDS]
    while waiting:
        words, command = waiting.pop()
        yield words, command
        inner = getattr(command, "commands", {})
        waiting += [((*words, name), below) for name, below in inner.items()]


DEPENDENT = [
    pytest.param(words, option, id=" ".join((*words, max(option.opts, key=len))))
    for words, command in _list_commands()
    for option in command.params
    if isinstance(option, DependentOption) and (option.needs or option.excludes)
]


@pytest.mark.parametrize(("words", "option"), DEPENDENT)
def test_what_an_option_declares_is_enforced(words: tuple[str, ...], option: DependentOption) -> None:
    """Alone, with values that lay nothing out for people, it is refused by name, before any file is looked for."""
    value = next(iter(option.type.choices)) if isinstance(option.type, click.Choice) else "1"
    arguments = [*words, max(option.opts, key=len), *([] if option.is_flag else [value])]
    (command,) = [found for called, found in _list_commands() if called == words]
    flags = {flag for param in command.params for flag in param.opts}
    formats = next((param for param in command.params if "--format" in param.opts), None)
    arguments += [
        need.removeprefix("not ") for group in option.needs for need in group if need.startswith("not --")
    ]
    if option.excludes:
        flag, _, value = option.excludes[0].partition(" ")
        arguments += [flag, *([value] if value else [])] if flag in flags else ["anything"]
    elif formats is not None and any(need.startswith("--format") for group in option.needs for need in group):
        known = {
            need.partition(" ")[2] for group in option.needs for need in group if need.startswith("--format")
        }
        allowed = {value for values in known for value in values.split("|")}
        arguments += ["--format", next(one for one in formats.type.choices if one not in allowed)]  # type: ignore[attr-defined]
    elif any(need.startswith("--test ") for group in option.needs for need in group):
        arguments += ["--test", "t"]
    result = CliRunner().invoke(judged, arguments)

    assert result.exit_code == 2
    assert f"`{max(option.opts, key=len)}` has no effect with" in result.stderr


VALUES = {
    "--measure": "P@2",
    "--sort": "-query",
    "--limit": "1",
    "--queries": "queries.tsv",
    "--documents": "documents.tsv",
    "--format": "tsv",
    "--output": "more.txt",
    "--digits": "2",
    "--profile": "trec_eval-10",
    "--ties": "input-order",
    "--precision": "float64",
    "--missing": "skip",
    "--unjudged": "removed",
    "--rel": "2",
    "--depth": "1",
    "--recall-points": "rounded",
    "--order": "rank",
    "--unjudged-queries": "empty",
    "--no-relevant": "skip",
    "--negative": "nonrelevant",
    "--self-matches": "removed",
    "--config": "config.yaml",
    "--baseline": "dense",
    "--test": "t",
    "gate --test": "randomisation",
    "--correction": "none",
    "--level": "0.6",
    "--slices": "slices.csv",
    "--timings": "timings.csv",
    "--picture": "more.svg",
    "--diagram": "more.svg",
    "--also": "anova",
    "--columns": "p",
    "--alpha": "0.4",
    "--min-delta": "-0.9",
    "--inconclusive": "pass",
    "--history": "looks.jsonl",
    "--discount": "none",
    "--good": "3",
    "--beyond": "pad",
    "--session": "a1",
    "--reference": "union",
    "--labels": "labels.jsonl",
    "--trace-format": "plain",
    "--unit": "strict",
    "--method": "combsum",
    "--normalisation": "min-max",
    "--to": "csv",
    "--tag": "x",
    "--tune": "RR",
}
"""A value of every option that is not its default, and that makes a difference to the files below."""
SAME = {
    "--backend": "another way to the same numbers",
    "--threads": "another way to the same numbers",
    "--resamples": "all sign flips of three queries are enumerated",
    "--seed": "all sign flips of three queries are enumerated",
    "--escape-formulas": "no cell is a formula",
    "--intents": "no measure by default looks at intents",
    "--allow-other-protocol": "the baseline is a run",
    "--baseline-run": "the baseline holds one run",
    "--force": "no file is in the way",
    "--strict": "nothing is malformed",
    "--conflict": "no labels conflict",
    "--near": "no results are nearly alike",
    "--weight": "results have ids",
    "--threshold": "results have ids",
    "--without-url-rule": "results have no URLs",
    "--turn": "a conversation has one turn",
    "--tools": "the format has no tools",
    "--unit": "results have ids",
    "--discount": "no measure by default is discounted by another rule",
    "--unlabelled": "unlabelled results count nothing either way by default",
    "--attempts": "no task was tried twice",
    "--use": "nothing was opened",
    "--reference": "no measure by default looks at what could have been found",
    "--trace-format": "it is the one that is detected",
    "--human": "needs a sample of its own",
    "--self-matches": "no query is a document",
    "--negative": "no grade is negative",
    "--recall-points": "no measure by default has points of recall",
    "--precision": "scores are exact in both",
    "--order": "ranks follow scores",
    "--no-relevant": "every query has a relevant document",
}
"""Options whose effect these files do not show, and why."""
BASES = (
    "score qrels.txt bm25.run dense.run",
    "score qrels.txt bm25.run --per-query",
    "score qrels.txt bm25.run dense.run --format csv",
    "score qrels.txt bm25.run dense.run --format csv --per-query",
    "score qrels.txt bm25.run dense.run --format json",
    "compare qrels.txt bm25.run dense.run",
    "compare qrels.txt bm25.run dense.run --per-query",
    "compare qrels.txt bm25.run dense.run --format csv",
    "compare qrels.txt bm25.run dense.run --test t",
    "gate qrels.txt bm25.run --baseline dense.run",
    "sessions traces.jsonl",
    "sessions traces.jsonl --baseline old",
    "sessions traces.jsonl --per-session",
    "fuse bm25.run dense.run",
)


@pytest.fixture
def inputs(collection: Path) -> Path:
    """The files that the values name."""
    lines = [
        conversation("a1", "x4 y0", "y0 z2", task="t1", system="old"),
        conversation("a2", "x2", task="t2", system="old"),
        conversation("b1", "x4 z2 x4", task="t1", system="new"),
        conversation("b2", "x2 w?", "x2 y3", task="t2", system="new"),
    ]
    texts = {
        "traces.jsonl": "".join(json.dumps(line) + "\n" for line in lines),
        "labels.jsonl": '{"task": "t2", "id": "w", "gain": 4}\n',
        "queries.tsv": "q1\tfirst\nq2\tsecond\n",
        "documents.tsv": "d1\tone\nd2\ttwo\n",
        "slices.csv": "query,kind\nq1,x\nq2,y\nq3,y\n",
        "timings.csv": "system,ms\nbm25,10\ndense,20\n",
        "config.yaml": "measures: [AP]\n",
    }
    for name, text in texts.items():
        (collection / name).write_text(text)
    return collection


def _observe(invoke: Invoke, arguments: list[str], folder: Path) -> tuple[object, ...]:
    """Return all that a command does: its exit code, what it prints, and the files that it writes."""
    before = set(folder.iterdir())
    result: Result = invoke(*arguments)
    written = {path.name: path.read_bytes() for path in set(folder.iterdir()) - before}
    for name in written:
        (folder / name).unlink()
    return result.exit_code, result.stdout, result.stderr, written


@pytest.mark.parametrize("base", BASES)
def test_every_option_changes_something_or_is_refused(invoke: Invoke, inputs: Path, base: str) -> None:
    """Alone on a command line: in what is printed or written, or by an error that says why not."""
    words = base.split()
    expected = _observe(invoke, words, inputs)
    command = _import(words[0])
    silent = []
    for option in command.params:
        flag = max(option.opts, key=len)
        if not isinstance(option, click.Option) or flag in words or flag in SAME or flag == "--help":
            continue
        value = [] if option.is_flag else [VALUES.get(f"{words[0]} {flag}", VALUES.get(flag, "1"))]
        if _observe(invoke, [*words, flag, *value], inputs) == expected:
            silent.append(flag)

    assert expected[0] != 2
    assert silent == []


def test_systems_are_sorted_by_a_measure(invoke: Invoke) -> None:
    """As they are given by default; up, down, and by name, in every format. AP: bm25 1/3, dense 19/36."""

    def order(*options: str) -> list[str]:
        result = invoke(
            "score", "qrels.txt", "dense.run", "bm25.run", "-m", "AP RR", "--format", "csv", *options
        )
        return [line.partition(",")[0] for line in result.stdout.splitlines()[1:]]

    assert order() == ["dense", "bm25"]
    assert order("--sort", "AP") == ["bm25", "dense"]
    assert order("--sort", "-AP") == ["dense", "bm25"]
    assert order("--sort", "system") == ["bm25", "dense"]
    table = invoke("score", "qrels.txt", "dense.run", "bm25.run", "-m", "AP", "--sort", "AP").stdout
    assert table.index("bm25") < table.index("dense")


def test_a_column_that_is_not_there_is_named(invoke: Invoke) -> None:
    """With the nearest that is."""
    result = invoke("score", "qrels.txt", "bm25.run", "-m", "nDCG@10", "--sort", "nDCG@1")

    assert result.exit_code == 2
    assert "no column to sort by is called `nDCG@1`" in result.stderr
    assert "did you mean `nDCG@10`?" in result.stderr


def test_one_of_several_values_will_do(invoke: Invoke) -> None:
    """`--load closed,open` has both loops, so that both of their options have an effect."""
    both = ("index", "--dataset", "missing.npy", "--load", "closed,open")

    assert "has no effect" not in invoke(*both, "--clients", "1", "--rates", "0.5").stderr
    assert (
        "`--rates` has no effect without `--load open`"
        in invoke(*both[:-1], "closed", "--rates", "0.5").stderr
    )
