"""The test collection of the demonstration, and the documented objects that it is made of."""

from __future__ import annotations

import sys
from collections import defaultdict

import pytest

from judged.studies.collections.pydoc import MODULES, Collection, Entry, Grade, Text, build, find_entries

TEXT = "A text that is long enough to be a document of its own."


@pytest.fixture(scope="module")
def collection() -> Collection:
    """The collection of this Python."""
    return build(find_entries())


def entry(
    name: str, summary: str, *, text: str = TEXT, owner: str | None = None, over: str | None = None
) -> Entry:
    """An object with one name."""
    return Entry((name,), summary, text, owner, frozenset() if over is None else frozenset({over}))


def test_an_answer_its_overrides_and_its_neighbours_are_graded_3_2_1() -> None:
    """The method asked for is the answer; the one it overrides comes next, then its class and siblings."""
    made = build(
        [
            entry("m.Base.close", "Base"),
            entry("m.File", "File", owner=None),
            entry("m.File.close", "Close the file for good.", owner="m.File", over="m.Base.close"),
            entry("m.File.read", "Read", owner="m.File"),
            entry("m.other", "Other"),
        ]
    )

    assert made.queries == (Text("q0001", "Close the file for good."),)
    assert made.grades == (
        Grade("q0001", "m.Base.close", 2, "m.Base.close"),
        Grade("q0001", "m.File", 1, "m.File"),
        Grade("q0001", "m.File.close", 3, "m.File.close"),
        Grade("q0001", "m.File.read", 1, "m.File.read"),
    )


def test_names_of_one_object_share_a_target_and_a_grade() -> None:
    """A re-export is a document of its own and the same target."""
    made = build([Entry(("a.f", "b.f"), "Return what f returns.", TEXT)])

    assert [document.name for document in made.documents] == ["a.f", "b.f"]
    assert made.grades == (Grade("q0001", "a.f", 3, "a.f"), Grade("q0001", "b.f", 3, "a.f"))


def test_equal_summaries_are_one_query_with_several_answers() -> None:
    """Two objects that say the same of themselves both answer."""
    made = build([entry("a.f", "Return the next item."), entry("b.g", "Return the next item.")])

    assert len(made.queries) == 1
    assert [(grade.document, grade.grade) for grade in made.grades] == [("a.f", 3), ("b.g", 3)]


@pytest.mark.parametrize(
    "summary",
    ["Read.", "Go there", "open(path) -> file", "x.y: a result", "An " + "extremely " * 20 + "long sentence"],
)
def test_what_nobody_would_ask_is_no_query(summary: str) -> None:
    """Summaries that are too short, too long, or show a call are not asked, though their text stays."""
    made = build([entry("a.f", summary)])

    assert made.queries == ()
    assert len(made.documents) == 1


def test_a_summary_that_its_own_text_repeats_is_no_query() -> None:
    """The answer would be found by its query standing in it."""
    made = build(
        [entry("a.f", "Close the file for good.", text="To close the file  for good, call this. " * 2)]
    )

    assert made.queries == ()


def test_a_text_of_a_few_words_is_no_document() -> None:
    """Below forty characters the rest of a docstring has nothing to be found by."""
    assert build([entry("a.f", "Close the file for good.", text="Deprecated.")]).documents == ()


def test_a_limit_takes_queries_evenly() -> None:
    """Two of four queries are the first and the third, and all documents stay."""
    names = ["Ask about apples", "Ask about bread rolls", "Ask about cherries", "Ask about dates"]
    made = build([entry(f"m.f{number}", name) for number, name in enumerate(names)], limit=2)

    assert [query.text for query in made.queries] == ["Ask about apples", "Ask about cherries"]
    assert len(made.documents) == 4


def test_no_answer_contains_its_query(collection: Collection) -> None:
    """In the collection of this Python, no query can be found by looking it up."""
    text = {document.name: " ".join(document.text.split()).lower() for document in collection.documents}
    answers = defaultdict(list)
    for grade in collection.grades:
        if grade.grade == 3:
            answers[grade.query].append(grade.document)

    assert all(answers[query.name] for query in collection.queries)
    assert not [
        query.text
        for query in collection.queries
        for document in answers[query.name]
        if query.text.lower() in text[document]
    ]


def test_every_judged_document_is_in_the_collection_once(collection: Collection) -> None:
    """Documents have distinct names, and judgments speak of no others, each once for a query."""
    names = [document.name for document in collection.documents]
    pairs = [(grade.query, grade.document) for grade in collection.grades]

    assert len(set(names)) == len(names)
    assert len(set(pairs)) == len(pairs)
    assert {document for _, document in pairs} <= set(names)


def test_the_collection_is_large_enough_to_compare_systems_on(collection: Collection) -> None:
    """More than a thousand queries, with answers, overrides and neighbours among the judgments."""
    assert len(collection.queries) > 1_000
    assert {grade.grade for grade in collection.grades} == {1, 2, 3}


@pytest.fixture(scope="module")
def collected() -> dict[str, Entry]:
    """Every entry of the standard library by its first name."""
    return {entry.name: entry for entry in find_entries()}


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
    assert entry.overridden == {"logging.handlers.SocketHandler.send"}


def test_two_walks_find_the_same(collected: dict[str, Entry]) -> None:
    """The collection depends on the Python that carries it and on nothing else."""
    assert find_entries() == list(collected.values())


def test_what_a_module_only_imports_is_not_its_own(collected: dict[str, Entry]) -> None:
    """`selectors` lists no exports and imports `ABCMeta`, which stays with `abc` alone."""
    assert collected["abc.ABCMeta"].names == ("abc.ABCMeta",)


def test_a_module_that_is_missing_is_passed_over() -> None:
    """A Python may be built without a module of the list."""
    found = find_entries(["textwrap", "no_such_module"])

    assert {entry.name.partition(".")[0] for entry in found} == {"textwrap"}


def test_listed_modules_belong_to_the_standard_library() -> None:
    """No third-party module is read, and none that opens a window or prints."""
    roots = {name.partition(".")[0] for name in MODULES}

    assert roots <= set(sys.stdlib_module_names)
    assert not roots & {"antigravity", "this", "idlelib", "test", "tkinter", "turtle", "lib2to3"}
    assert len(set(MODULES)) == len(MODULES)


def test_what_programs_put_into_the_library_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that another package adds to a class, and a hook that a program replaces, change nothing."""
    before = find_entries(["logging", "sys"])

    def shout(self: object) -> None:
        """Log a message in capitals, as no logger of the library does.

        This text is long enough to be a document of its own.
        """

    monkeypatch.setattr("logging.Logger.shout", shout, raising=False)
    monkeypatch.setattr("sys.unraisablehook", shout)

    assert find_entries(["logging", "sys"]) == before
