"""`judged sessions inspect`: what it shows of a trace, to people and to programs."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from judged.agents.commands.inspect import inspect as command
from judged.errors import BadInput, BadProtocol

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "traces"


def run(*arguments: str) -> Result:
    """What the command does with these arguments."""
    return CliRunner().invoke(command, list(arguments))


def test_it_shows_how_a_trace_was_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    """Format, counts, tools, fields and an example; counted by hand in the file."""
    monkeypatch.chdir(GOLDEN)

    assert (
        run("openai-chat.jsonl").output
        == """\
openai-chat.jsonl: OpenAI chat messages (openai-chat)

sessions    1, 0 of them without a search
systems     1: agent-a
tasks       1
turns       2, of which the last of each conversation counts
steps       4
iterations  2, the steps that searched; tokens known for 0, seconds for 0
searches    3, 1 of them without results
results     3
opened      1 page

tool        calls  taken as
────────────────────────────
web_search      3  search
open_page       1  no search

field      results    share
───────────────────────────
id               0    0.0 %
domain id        0    0.0 %
url              3  100.0 %
title            3  100.0 %
snippet          3  100.0 %
score            0    0.0 %
gain             0    0.0 %

example: session `c1` of agent-a, task t1 (openai-chat.jsonl:1)
  asked: Where is the Eiffel Tower, and how tall is it?
  iteration 1
    web_search: Eiffel Tower location
      1. Eiffel Tower · https://en.wikipedia.org/wiki/Eiffel_Tower · A lattice tower on the Champ de Mars in…
      2. Paris · https://en.wikipedia.org/wiki/Paris · The capital of France.
    web_search: Eiffel Tower height
      1. Eiffel Tower · https://en.wikipedia.org/wiki/Eiffel_Tower · The tower is 330 metres tall.
  iteration 2
    web_search: Eiffel Tower height 2026
      (no results)
"""
    )


@pytest.mark.parametrize("file", sorted(path.name for path in GOLDEN.glob("*.json*")))
def test_programs_get_the_same_as_json(file: str) -> None:
    """With counts that agree with each other."""
    summary = json.loads(run(str(GOLDEN / file), "--json").output)

    assert summary["sessions"] >= 1
    assert (
        sum(tool["calls"] for tool in summary["tools"] if tool["taken_as"] == "search")
        >= summary["iterations"]
    )
    assert all(count <= summary["results"] for count in summary["fields"].values())
    assert summary["example"]["turns"]
    assert summary["refused"] is None


def test_what_would_be_refused_is_shown_as_far_as_it_was_read(tmp_path: Path) -> None:
    """Then the error; without `--strict`, what was left out is counted instead."""
    file = tmp_path / "a.jsonl"
    good, bad = (
        {"conversation": name, "iterations": [{"searches": [{"results": [{"id": identity}]}]}]}
        for name, identity in (("c1", "d1"), ("c2", ""))
    )
    file.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n")
    strict, lenient = run(str(file), "--strict"), run(str(file))

    assert "sessions    1," in strict.output
    assert isinstance(strict.exception, BadInput)
    assert "sessions    2," in lenient.output
    assert "left out: result-without-key (1); first " in lenient.output
    assert lenient.exit_code == 0


def test_unknown_tools_are_listed_and_a_mapping_makes_them_known(tmp_path: Path) -> None:
    """The table says `unknown`, the error how to say what they are."""
    trace, tools = tmp_path / "a.jsonl", tmp_path / "tools.yaml"
    call = {"id": "c", "function": {"name": "kb", "arguments": '{"query": "q"}'}}
    answer = {"role": "tool", "tool_call_id": "c", "content": '[{"id": "d1"}]'}
    trace.write_text(
        json.dumps([{"role": "user", "content": "why?"}, {"role": "assistant", "tool_calls": [call]}, answer])
    )
    tools.write_text("tools: {kb: search}\n")
    unknown, known = run(str(trace)), run(str(trace), "--tools", str(tools))

    assert "kb        1  unknown" in unknown.output
    assert "no tool is known to be a search" in str(unknown.exception)
    assert "kb        1  search" in known.output


def test_options_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    """A format that nobody knows, and a mapping that is none."""
    tools = tmp_path / "tools.yaml"
    tools.write_text("nothing")

    assert "no trace format is called `xml`" in str(
        run(str(GOLDEN / "plain.jsonl"), "--trace-format", "xml").exception
    )
    assert isinstance(run(str(GOLDEN / "plain.jsonl"), "--tools", str(tools)).exception, BadProtocol)


def test_every_option_has_help() -> None:
    """`--help` says what each is for, and shows an example."""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]

    assert all(option.help for option in options)
    assert "judged sessions inspect agent.jsonl" in run("--help").output


def test_the_turn_that_counts_can_be_chosen(tmp_path: Path) -> None:
    """A conversation that ends with thanks."""
    file = tmp_path / "a.jsonl"
    searched = {"iterations": [{"searches": [{"results": [{"id": "d1"}]}]}]}
    file.write_text(json.dumps({"conversation": "c1", "turns": [searched, {"question": "thanks"}]}))

    assert "iterations  1," in run(str(file), "--turn", "last-with-search").output
    assert "1 sessions searched in an earlier turn, none in its last" in str(run(str(file)).exception)
