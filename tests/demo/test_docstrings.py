"""The documented objects that the demonstration collects."""

from __future__ import annotations

import sys

import pytest

from judged.demo.docstrings import Entry, entries
from judged.demo.modules import MODULES


@pytest.fixture(scope="module")
def collected() -> dict[str, Entry]:
    """Every entry of the standard library by its first name."""
    return {entry.name: entry for entry in entries()}


def test_a_function_is_summarised_by_its_first_paragraph(collected: dict[str, Entry]) -> None:
    """The summary of `textwrap.dedent` is the sentence its documentation begins with."""
    entry = collected["textwrap.dedent"]

    assert entry.summary == "Remove any common leading whitespace from every line in `text`."
    assert entry.text.startswith("This can be used to make triple-quoted strings line up")


def test_a_re_exported_object_is_one_entry_with_two_names(collected: dict[str, Entry]) -> None:
    """`asyncio.Queue` is defined in `asyncio.queues`, and is the same class under both names."""
    entry = collected["asyncio.queues.Queue"]

    assert entry.names == ("asyncio.queues.Queue", "asyncio.Queue")
    assert "asyncio.Queue" not in collected


def test_a_method_knows_its_class_and_what_it_overrides(collected: dict[str, Entry]) -> None:
    """`DatagramHandler.send` belongs to its class and overrides `SocketHandler.send`."""
    entry = collected["logging.handlers.DatagramHandler.send"]

    assert entry.owner == "logging.handlers.DatagramHandler"
    assert entry.relatives == {"logging.handlers.SocketHandler.send"}


def test_two_walks_find_the_same(collected: dict[str, Entry]) -> None:
    """The collection depends on the Python that carries it and on nothing else."""
    assert entries() == list(collected.values())


def test_what_a_module_only_imports_is_not_its_own(collected: dict[str, Entry]) -> None:
    """`selectors` lists no exports and imports `ABCMeta`, which stays with `abc` alone."""
    assert collected["abc.ABCMeta"].names == ("abc.ABCMeta",)


def test_a_module_that_is_missing_is_passed_over() -> None:
    """A Python may be built without a module of the list."""
    found = entries(["textwrap", "no_such_module"])

    assert {entry.name.partition(".")[0] for entry in found} == {"textwrap"}


def test_listed_modules_belong_to_the_standard_library() -> None:
    """No third-party module is read, and none that opens a window or prints."""
    roots = {name.partition(".")[0] for name in MODULES}

    assert roots <= set(sys.stdlib_module_names)
    assert not roots & {"antigravity", "this", "idlelib", "test", "tkinter", "turtle", "lib2to3"}
    assert len(set(MODULES)) == len(MODULES)
