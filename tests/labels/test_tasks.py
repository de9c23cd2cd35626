"""Tasks with their own scale: in numbers or words, one unit at a time or in batches, or lists of records."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import judged
from judged.errors import BadProtocol, UnknownName
from judged.labels import Endpoint, Labeller, Labelling, RetryPolicy, read_prompt
from judged.labels.answer import Verdict, read_answer
from judged.labels.form import NumberedLabels, OneLabel, Records
from judged.labels.prompt import Prompt, make_questions
from judged.labels.single import label_pool
from judged.labels.task import TASKS, Item, Pool, Task
from labels.conftest import LabelRun, Serve
from labels.server import Request, Response, Server, completion

SUPPORT = ("not_support", "partial_support", "support")
ASSIGN = Task(
    "assign",
    "tests:none",
    unit="nugget",
    texts=("query", "answer", "nugget"),
    optional=(),
    table="assignments",
)
ASSIGN_FILE = """
name: assign
version: 1
unit: nugget
table: assignments
scale: [not_support, partial_support, support]
each: nugget
batch: 2
template: |
  <need>{query}</need> <answer>{answer}</answer>
  <nuggets>
  {nugget}
  </nuggets>
"""


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"label": "support"}', "support"),
        ('{"score": "Partial support"}', "partial_support"),
        ('{"label": "NOT-SUPPORT"}', "not_support"),
        ("support", "support"),
        ("The nugget is there in part.\n\n**partial_support**", "partial_support"),
        ("Label: not support, since the date differs", "not_support"),
        ("The final label is `support`.", "support"),
        ("verdict: partial_support (only the year)", "partial_support"),
        ("<think>label: support</think> label: not_support", "not_support"),
    ],
)
def test_a_word_of_the_scale_that_is_stated_is_read(text: str, label: str) -> None:
    """As the field of an object, after `label:`, or alone; case and spaces do not matter."""
    assert read_answer(text, scale=SUPPORT, field="label") == Verdict(label)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I see support for it in the text", "no grade"),
        ("label: support for the claim is absent", "no grade"),
        ("label: supported", "no grade"),
        ('{"label": "full"}', "off the scale"),
        ('{"label": 2}', "no grade"),
        ('{"label": ["support"]}', "no grade"),
        ('{"label": "support"}\nlabel: not_support', "contradiction"),
        ("", "empty"),
        ("I'm sorry, but I can't help with that.", "refusal"),
    ],
)
def test_a_word_that_merely_occurs_is_no_label(text: str, reason: str) -> None:
    """Nothing outside the scale is graded, and no word in passing."""
    assert read_answer(text, scale=SUPPORT, field="label") == Verdict(None, reason)


@pytest.mark.parametrize("text", ["label: no longer valid", "Is the answer yes or no?", "answer: yes or no"])
def test_no_is_not_read_from_words_that_begin_with_it(text: str) -> None:
    """`no longer` states neither yes nor no."""
    assert read_answer(text, scale=("no", "yes")).grade is None


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    """Every form returns a value on its scale or a reason."""
    forms = [
        OneLabel(SUPPORT, ("label",)),
        NumberedLabels(SUPPORT),
        Records("nuggets", {"text": None, "importance": ("vital", "okay")}),
    ]

    for form in forms:
        verdict = form.read(text, 2, complete=True)
        assert (verdict.grade is None) == (verdict.reason is not None)
        assert verdict.grade is None or form.accepts(verdict.grade)


@pytest.mark.parametrize(
    ("text", "labels", "reason"),
    [
        ('{"1": "support", "2": "not_support"}', ["support", "not_support"], None),
        ('```json\n{"2": "support", "1": "partial support"}\n```', ["partial_support", "support"], None),
        ('{"1": "support"}', ["support", None], "no grade"),
        ('{"1": "support", "2": "maybe"}', ["support", None], "off the scale"),
        ('{"1": "support", "2": "support", "3": "support"}', ["support", "support"], None),
        ('["support", "support"]', None, "no grade"),
        ('{"1": "maybe", "2": "maybe"}', None, "off the scale"),
        ('{"1": "support", "2": "support"} {"1": "not_support", "2": "support"}', None, "contradiction"),
    ],
)
def test_labels_of_a_batch_are_known_by_their_numbers(
    text: str, labels: list[str | None] | None, reason: str | None
) -> None:
    """A unit that the answer leaves out, or labels off the scale, has no label; the others keep theirs."""
    assert NumberedLabels(SUPPORT).read(text, 2, complete=True) == Verdict(labels, reason)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ('{"nuggets": [{"text": "it  is\\nhigh", "importance": "Vital"}]}', [("it is high", "vital")]),
        ('{"nuggets": []}', []),
        # a fact that a model lists twice is one
        (
            '{"nuggets": [{"text": "high", "importance": "okay"}, {"text": "high ", "importance": "vital"}]}',
            [("high", "okay")],
        ),
        ('{"nuggets": [{"text": "high"}]}', "no grade"),
        ('{"nuggets": [{"text": " ", "importance": "okay"}]}', "incomplete record"),
        ('{"nuggets": [{"text": "high", "importance": "some"}]}', "off the scale"),
        ('{"nuggets": "none"}', "no list"),
        ('{"nuggets": [1]}', "incomplete record"),
        ('{"nuggets": []} {"nuggets": []}', "contradiction"),
        ('{"facts": []}', "no list"),
        ("No nuggets.", "no list"),
    ],
)
def test_records_are_read_whole_or_not_at_all(text: str, stated: object) -> None:
    """One that lacks a column makes the answer a failure: a list without its faulty part is not what was answered."""
    form = Records("nuggets", {"text": None, "importance": ("vital", "okay")}, most=2)
    verdict = form.read(text, 1, complete=True)
    records = verdict.grade

    if isinstance(stated, str):
        assert verdict == Verdict(None, stated)
    else:
        assert isinstance(records, list)
        assert [(record["text"], record["importance"]) for record in records] == stated


def test_more_records_than_allowed_are_a_failure() -> None:
    """A model that lists without end is asked again."""
    form = Records("facts", {"text": None}, most=1)

    assert form.read('{"facts": [{"text": "a"}, {"text": "b"}]}', 1, complete=True).reason == "too many"


@pytest.mark.parametrize(
    ("scale", "task", "message"),
    [
        ("[good, bad]", "relevance", "give each word its grade, `scale: {good: 0, bad: 1}`"),
        ("{no: 0, yes: 7}", "relevance", "expected whole numbers from 0 to 4"),
        ("{no: 1, yes: 1}", "relevance", "expected whole numbers from 0 to 4"),
        ("[full]", "assign", "expected two or more different numbers, or as many words"),
        ("[full, Full]", "assign", "or as many words"),
        ("[full, 1]", "assign", "or as many words"),
        ("[partial support, partial_support]", "assign", "or as many words"),
    ],
)
def test_a_scale_that_cannot_be_used_is_refused(tmp_path: Path, scale: str, task: str, message: str) -> None:
    """Words for grades need their numbers, and words that differ in case only are the same."""
    template = "{query} {text}" if task == "relevance" else "{query} {answer} {nugget}"
    path = tmp_path / "p.yaml"
    path.write_text(f"name: a\nversion: 1\nscale: {scale}\ntemplate: '{template}'\n")

    with pytest.raises(BadProtocol) as caught:
        read_prompt(path, task=ASSIGN if task == "assign" else task)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("unit: sentence", "its unit is `sentence`, and that of the task `assign` is `nugget`"),
        ("table: labels", "its table is `labels`, and that of the task `assign` is `assignments`"),
        ("each: passage", "`each` is `passage`, expected one of query, answer, nugget"),
        ("batch: 3", "`batch` is 3, expected 1 to 100, with the text that differs in `each`"),
        ("records: {field: a, columns: {b: word}}", "the column `b` is `word`, expected `text` or a scale"),
        ("records: {field: a, columns: {b: [x]}}", "the scale of `b` is ['x']"),
        ("records: {field: a, columns: {b: text}}\neach: nugget", "`each` has no effect"),
    ],
)
def test_a_prompt_for_another_task_is_refused(tmp_path: Path, more: str, message: str) -> None:
    """Unit and table of the file are those of the task, and a batch has a text that differs."""
    path = tmp_path / "p.yaml"
    path.write_text(
        f"name: a\nversion: 1\nscale: [a, b]\n{more}\ntemplate: '{{query}} {{answer}} {{nugget}}'\n"
    )

    with pytest.raises(BadProtocol) as caught:
        read_prompt(path, task=ASSIGN)
    assert message in str(caught.value)


def test_an_unknown_task_is_refused_with_the_one_that_was_meant() -> None:
    """As every other name."""
    with pytest.raises(UnknownName, match="no task is called `umbrella`"):
        read_prompt(task="umbrella")


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_a_prompt_that_names_its_unit_table_and_scale(name: str) -> None:
    """The built-in prompts are examples to copy: their files say what a label is about and where it goes."""
    task = TASKS[name]
    content, _ = task.read_prompt_file()
    prompt = read_prompt(task=name)

    assert prompt.name == task.name == name
    assert f"\nunit: {task.unit}\n".encode() in content or name == "relevance"  # older, and its hash is known
    for label in prompt.scale if prompt.records is None else ():
        assert str(label) in prompt.template


def test_yes_and_no_are_words_and_are_written_as_grades(
    serve: Serve, label_run: LabelRun, tmp_path: Path
) -> None:
    """YAML takes a bare `no` for false; here it is a word of the scale."""
    path = tmp_path / "p.yaml"
    path.write_text("name: useful\nversion: 1\nscale: {no: 0, yes: 3}\ntemplate: '{query} {text}'\n")

    def answer(request: Request) -> Response:
        return completion(json.dumps({"score": "yes" if "worth 4" in request.asked else "no"}))

    prompt = read_prompt(path)
    server = serve(answer)
    labelling = label_run(server, labeller=Labeller("small", prompt))

    assert prompt.scale == ("no", "yes")
    assert {row["document"]: row["grade"] for row in labelling.labelled} == {
        "d0": 0, "d1": 0, "d2": 0, "d3": 0, "d4": 3,
    }  # fmt: skip
    assert labelling.labelled[0]["scale"] == [0, 3]
    form = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert form["properties"] == {"score": {"type": "string", "enum": ["no", "yes"]}}


def test_umbrela_grades_from_0_to_3_and_never_4(serve: Serve, label_run: LabelRun) -> None:
    """The fifth document is `worth 4`, which is off the scale: a failure after one more question, and no label."""
    labelling = label_run(serve(), labeller=Labeller("small", read_prompt(task="umbrela")))

    assert [row["grade"] for row in labelling.labelled] == [0, 1, 2, 3]
    assert [failure["failure"] for failure in labelling.failures] == ["off the scale"]
    assert labelling.labelled[0]["labeller"] == "small umbrela/1"


def label_nuggets(
    server: Server, prompt: Prompt, nuggets: list[str], cache: Path | None = None, **options: object
) -> Labelling:
    """Assign nuggets to one answer."""
    items = [
        Item({"query": "q", "answer": "an answer", "nugget": text}, {"query": "q1", "nugget": f"n{number}"})
        for number, text in enumerate(nuggets)
    ]
    endpoint = Endpoint(server.address, retries=RetryPolicy(attempts=2))
    pool = Pool(tuple(items), len(items), column="label")
    return label_pool(pool, Labeller("small", prompt), endpoint, cache=cache, **options)  # type: ignore[arg-type]


def assign(request: Request) -> Response:
    """Label each numbered nugget by the word after its number."""
    lines = re.findall(r"^(\d+)\. (\w+)", request.asked, re.MULTILINE)
    return completion(json.dumps({number: word for number, word in lines}))  # noqa: C416 - a dict of strings


@pytest.fixture
def assigning(tmp_path: Path) -> Prompt:
    """Return a prompt for nuggets in batches of two."""
    path = tmp_path / "assign.yaml"
    path.write_text(ASSIGN_FILE)
    return read_prompt(path, task=ASSIGN)


def test_units_of_a_batch_share_a_question(serve: Serve, assigning: Prompt, tmp_path: Path) -> None:
    """Five nuggets, one of them twice: two questions of two units; each row has its own label."""
    words = ["support", "not_support", "partial_support", "support again", "support"]
    server = serve(assign)
    labelling = label_nuggets(server, assigning, words, tmp_path / "c")

    assert len(server.requests) == 2
    assert [(row["nugget"], row["label"]) for row in labelling.labelled] == [
        ("n0", "support"), ("n1", "not_support"), ("n2", "partial_support"), ("n3", "support"), ("n4", "support"),
    ]  # fmt: skip
    assert labelling.labelled[0]["scale"] == list(SUPPORT)
    assert "tokens" not in labelling.labelled[0]
    assert (labelling.complete, labelling.cached, labelling.asked) == (True, 0, 2)
    again = label_nuggets(server, assigning, words, tmp_path / "c")
    assert (len(server.requests), again.cached, again.labelled) == (2, 2, labelling.labelled)


def test_a_unit_that_a_batch_leaves_out_is_a_failure_of_its_own(serve: Serve, assigning: Prompt) -> None:
    """The rest of the batch is labelled; the model was asked once more."""
    server = serve(assign)
    labelling = label_nuggets(server, assigning, ["support", "unsure"])

    assert [row["nugget"] for row in labelling.labelled] == ["n0"]
    assert [(row["nugget"], row["failure"]) for row in labelling.failures] == [("n1", "off the scale")]
    assert (len(server.requests), labelling.complete) == (2, False)


def test_a_text_cannot_begin_the_next_number(assigning: Prompt) -> None:
    """A nugget with line breaks is one line of the list, so that it labels no other one."""
    (message,) = assigning.messages({"query": "q", "answer": "a"}, ["one\n2. support", "two"])

    assert "\n1. one 2. support\n2. two\n" in message["content"]


def test_the_size_of_a_batch_is_part_of_the_cache_key(assigning: Prompt) -> None:
    """Other units in a question may change its answers."""
    items = [Item({"query": "q", "answer": "a", "nugget": name}, {}) for name in ("x", "y", "z")]
    two, _ = make_questions(items, Labeller("m", assigning))
    three, places = make_questions(items, Labeller("m", assigning, batch=3))

    assert [question.count for question in two.values()] == [2, 1]
    assert [question.each for question in three.values()] == [("x", "y", "z")]
    assert [place.position for place in places] == [0, 1, 2]
    assert not set(two) & set(three)
    with pytest.raises(BadProtocol, match="its prompt asks about one unit at a time"):
        Labeller("m", batch=3)


def test_records_become_rows(serve: Serve, tmp_path: Path) -> None:
    """Two documents, two nuggets and none: two rows, and both documents are done."""
    nuggets = Task(
        "nuggets", "tests:none", unit="document", texts=("query", "text"), optional=(), table="nuggets"
    )
    path = tmp_path / "nuggets.yaml"
    path.write_text(
        "name: nuggets\nversion: 1\ntemplate: '{query} {text}'\n"
        "records: {field: nuggets, columns: {text: text, importance: [okay, vital]}}\n"
    )

    def answer(request: Request) -> Response:
        found = [("a", "vital"), ("b", "okay")] if "full" in request.asked else []
        return completion(json.dumps({"nuggets": [{"text": t, "importance": i} for t, i in found]}))

    items = tuple(
        Item({"query": "q", "text": text}, {"query": "q1", "document": text}) for text in ("full", "bare")
    )
    prompt = read_prompt(path, task=nuggets)
    labelling = label_pool(
        Pool(items, 2, column="label"), Labeller("m", prompt), Endpoint(serve(answer).address), cache=None
    )

    rows = [(row["document"], row["text"], row["importance"]) for row in labelling.labelled]
    assert rows == [("full", "a", "vital"), ("full", "b", "okay")]
    assert labelling.complete
    assert "2 of 2 labelled (100.0 %) by m nuggets/1" in labelling.sentences()


def test_a_label_of_the_cache_that_is_off_the_scale_is_refused(assigning: Prompt) -> None:
    """A file that was changed by hand labels nothing."""
    assert assigning.form.accepts(["support", None])
    assert not assigning.form.accepts(["support", "all of it"])
    assert not assigning.form.accepts("support")


def test_a_labelling_with_words_is_saved_and_loaded(serve: Serve, assigning: Prompt, tmp_path: Path) -> None:
    """As every result."""
    labelling = label_nuggets(serve(assign), assigning, ["support", "not_support"])
    labelling.save(tmp_path / "labelling.json")

    loaded = judged.load(tmp_path / "labelling.json")
    assert isinstance(loaded, Labelling)
    assert loaded.labelled == labelling.labelled
    assert "not_support" in repr(loaded)
