"""The list of formats: none is forgotten, signatures hide nothing, and other packages may add to it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from agents.traces.test_damage import DOCUMENTS, places, put, values
from judged.agents.traces.format import SIGNATURES, TRACE_FORMATS, Head, TraceFormat, _has_marks
from judged.agents.traces.open import FIRST_TEXT, open_traces
from judged.agents.traces.read import detect, read_sessions
from judged.errors import BadInput, BadPlugin
from support.interpreter import loaded_after

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden" / "traces"
FILES = sorted(path for path in GOLDEN.rglob("*") if path.suffix in {".json", ".jsonl", ".txt", ".xml"})
TOWER = "https://en.wikipedia.org/wiki/Eiffel_Tower"
NAMED_ONLY = {"conversational-run"}
"""Formats that are never detected."""


def find_name(path: Path) -> str | None:
    """The format of a file; None if it is not a trace."""
    try:
        return detect(next(iter(open_traces(path).traces))).name
    except BadInput:
        return None


def test_every_format_has_a_golden_trace() -> None:
    """A format without one would be read differently tomorrow, and no test would tell."""
    detected = {find_name(path) for path in FILES}
    named = {name for name in NAMED_ONLY if list(GOLDEN.glob(f"{name}.*"))}
    missing = set(TRACE_FORMATS) - detected - named

    assert not missing, f"add a small trace of {sorted(missing)} to {GOLDEN.relative_to(ROOT)}"


def test_every_golden_trace_has_a_source() -> None:
    """Whose description it was written after, or what recorded it."""
    for folder in (GOLDEN, GOLDEN / "frameworks", GOLDEN / "recorded"):
        text = (folder / "SOURCES.md").read_text(encoding="utf-8")
        names = {path.name for path in folder.iterdir() if path.is_file()} - {"SOURCES.md"}
        missing = {name for name in names if f"`{name}`" not in text}

        assert not missing, f"say in {folder.relative_to(ROOT)}/SOURCES.md where {sorted(missing)} come from"


def test_every_format_is_documented() -> None:
    """In the table of the guide, which has no other rows."""
    guide = (ROOT / "docs" / "guides" / "traces.md").read_text(encoding="utf-8")
    table = guide.partition("\n## Formats\n")[2].partition("\n## ")[0]

    assert set(re.findall(r"^\| `([a-z][\w-]*)` \|", table, re.MULTILINE)) == set(TRACE_FORMATS)


@pytest.mark.parametrize(
    "file",
    [
        "openllmetry.jsonl",
        "mlflow.json",
        "langfuse.json",
        "trec-session.xml",
        "atif.json",
        "perplexity.jsonl",
        "event-stream.txt",
    ],
)
def test_the_one_search_of_a_trace_finds_the_tower(file: str) -> None:
    """In the formats that have no longer story; the name of the file is that of the format."""
    (session,) = read_sessions(GOLDEN / file)
    (iteration,) = session.iterations

    assert find_name(GOLDEN / file) == file.partition(".")[0]
    assert [result.url for result, _ in iteration.results()] == [TOWER]


def list_hidden(head: Head) -> list[str]:
    """The formats that recognise a trace although it lacks their signature."""
    return [
        name
        for name, signature in SIGNATURES.items()
        if TRACE_FORMATS[name].recognises(head) and not _has_marks(head, signature)
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_signatures_hide_no_golden_trace(path: Path) -> None:
    """Whatever a reader recognises has the marks of its signature, or the reader would never be asked."""
    (trace,) = open_traces(path).traces

    assert (
        list_hidden(Head(trace.first_documents()) if trace.is_json else Head(text=trace.first_text())) == []
    )


@settings(max_examples=300)
@given(st.data())
def test_signatures_hide_no_damaged_trace(data: st.DataObject) -> None:
    """Nor what a reader still recognises when a part is replaced, cut out of its document, or written as text."""
    document = data.draw(st.sampled_from(DOCUMENTS))
    path = data.draw(st.sampled_from(places(document)))
    part = document
    for key in path:
        part = part[key]
    texts = [put(document, path, json.dumps(part)), put(document, path, data.draw(values)), part]

    assert list_hidden(Head((data.draw(st.sampled_from(texts)),))) == []


def test_a_conversation_is_recognised_without_importing_other_formats() -> None:
    """The marks of one look decide which readers are asked."""
    read = f"from judged.agents.traces.read import read_sessions; read_sessions({str(GOLDEN / 'openai-chat.jsonl')!r})"
    loaded = loaded_after(read, whole_names=True)
    imported = {name for name in loaded if name.startswith("judged.agents.traces.")}
    folders = {name.split(".")[3] for name in imported if name.count(".") > 3}

    assert folders == {"messages", "plain", "results"}
    assert "judged.agents.traces.plain.plain" not in imported
    assert "judged.agents.traces.messages.anthropic" not in imported


def ask(answer: str) -> dict[str, object]:
    """A conversation of a question and an answer."""
    return {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": answer}]}


SEARCHED = ask('<search>q</search>\n<information>Doc 1(Title: "A") a</information>\nso')


def test_detection_looks_beyond_conversations_without_a_search() -> None:
    """Eight that only talk are chat messages; the ninth shows that searches are between tags."""
    sessions = read_sessions([ask("no search needed")] * 8 + [SEARCHED])

    assert [len(session.iterations) for session in sessions] == [0] * 8 + [1]


def test_calls_that_come_too_late_are_refused_not_passed_over() -> None:
    """Detection looks at 512 conversations, not at all of a long file."""
    tagged = ask('<tool_call>{"name": "search"}</tool_call>')

    with pytest.raises(BadInput, match="object 513: session `513`: holds calls written as `chatml`"):
        read_sessions([ask("so")] * 512 + [tagged], strict=True)


def test_detection_looks_beyond_a_long_text_without_a_search() -> None:
    """The first question of a log is answered at length, the second with an action."""
    talk = "Question: why?\nThought: " + "I know that. " * (FIRST_TEXT // 10) + "\nAnswer: so\n"
    acted = "Question: where?\nAction 1: Search[tower]\nObservation 1: The tower is in Paris.\n"

    assert len(talk) > FIRST_TEXT
    assert [len(session.iterations) for session in read_sessions((talk + acted).encode())] == [0, 1]


TOOLBOX = '''
"""A trace format that a package brings."""
from judged.agents.tables import Hit, Iteration, Search, Session
from judged.agents.traces.format import TraceFormat

def recognises(head):
    return any("toolbox" in document for document in head.mappings)

def read(trace, context):
    for document in trace.documents():
        context.searches["toolbox"] += 1
        hits = tuple(Hit(url=url) for url in document.value["toolbox"])
        search = Search(query="q", tool="toolbox", results=hits)
        yield Session(conversation=str(document.name), task="t", iterations=(Iteration(searches=(search,)),))

FORMAT = TraceFormat("toolbox", "traces of Toolbox", recognises, read)
WRONG = "toolbox"
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Installs a package that announces a trace format, for one test."""

    def install(place: str) -> None:
        (tmp_path / "toolbox_traces.py").write_text(TOOLBOX, encoding="utf-8")
        info = tmp_path / "toolbox_traces-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toolbox-traces\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[judged.trace_formats]\ntoolbox = toolbox_traces:{place}\n")
        monkeypatch.delitem(sys.modules, "toolbox_traces", raising=False)
        monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path)])

    yield install
    if "toolbox" in list(TRACE_FORMATS):
        TRACE_FORMATS.remove("toolbox")


TRACE = [{"toolbox": [TOWER]}]


def test_an_installed_package_brings_a_format(install: Callable[[str], None]) -> None:
    """By its name, and by the content of a file that nothing else recognises; imported then and not before."""
    install("FORMAT")
    read_sessions(GOLDEN / "openai-chat.jsonl")
    assert "toolbox_traces" not in sys.modules

    (named,) = read_sessions(TRACE, format="toolbox")
    (detected,) = read_sessions(TRACE)

    assert isinstance(TRACE_FORMATS["toolbox"], TraceFormat)
    assert named == detected
    assert [hit.url for hit, _ in detected.results()] == [TOWER]


def test_what_a_package_brings_must_be_a_format(install: Callable[[str], None]) -> None:
    """The error says whose it is, what it is, and what it should be."""
    install("WRONG")

    with pytest.raises(
        BadPlugin, match=r"`toolbox_traces:WRONG` of the package `toolbox-traces` is a str"
    ) as error:
        read_sessions(TRACE)

    assert "expected a `judged.agents.traces.format.TraceFormat`" in str(error.value)
