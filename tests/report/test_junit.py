"""JUnit XML: the structure that CI servers read, whatever stands in the names and messages."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given, strategies as st

from judged.report.junit import Case, Suite, to_junit

# What `junit-10.xsd` of Jenkins' xUnit plugin demands, which GitLab, Azure and GitHub's reporters read as well:
# element → (attributes that must be there, those that may, elements that may stand in it).
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "hostname", "id", "package", "file"},
        {"testcase", "properties", "system-out", "system-err"},
    ),
    "testcase": (
        {"name"},
        {"classname", "time", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}


def check(element: ET.Element) -> None:
    """The element, and all within it, fit the schema."""
    needed, allowed, inner = SCHEMA[element.tag]

    assert needed <= set(element.attrib) <= needed | allowed
    assert {child.tag for child in element} <= inner
    for child in element:
        check(child)


CASES = (
    Case("AP", "passed", "fine", "all is well"),
    Case("nDCG@10", "failure", "worse", "by much", kind="fail"),
    Case("RR", "skipped", "unsure", kind="inconclusive"),
    Case("P@5", "error", "no file"),
)


def test_the_document_fits_the_schema_and_its_counts_are_right() -> None:
    """Each outcome has its element; sums stand above."""
    root = ET.fromstring(to_junit([Suite("one", CASES), Suite("two", CASES[:1])], name="gates", seconds=1.5))  # noqa: S314
    check(root)
    first, second = root

    assert root.tag == "testsuites"
    assert root.attrib == {"name": "gates", "tests": "5", "failures": "1", "errors": "1", "time": "1.500"}
    assert (first.get("tests"), first.get("failures"), first.get("skipped"), first.get("errors")) == tuple(
        "4111"
    )
    assert second.get("failures") == "0"
    assert [[child.tag for child in case] for case in first] == [
        ["system-out"],
        ["failure"],
        ["skipped"],
        ["error"],
    ]
    assert (first[1][0].get("type"), first[1][0].get("message"), first[1][0].text) == (
        "fail",
        "worse",
        "by much",
    )


@given(name=st.text(), message=st.text(), text=st.text())
def test_any_text_makes_a_document_that_can_be_read(name: str, message: str, text: str) -> None:
    """Characters that XML cannot hold are replaced; the others come back."""
    report = to_junit([Suite(name, [Case(name, "failure", message, text or "x")])], name=name)
    root = ET.fromstring(report.encode())  # noqa: S314
    check(root)

    plain = text.isprintable() and text != ""
    assert not plain or root[0][0][0].text == text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
