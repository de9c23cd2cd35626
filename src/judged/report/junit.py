"""Outcomes as JUnit XML, in the form that CI servers read: `testsuites`, `testsuite`, `testcase`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from judged.wording import to_xml_text


@dataclass(frozen=True, slots=True)
class Case:
    """One test: its name, its outcome and the reason."""

    name: str
    outcome: Literal["passed", "failure", "error", "skipped"]
    message: str
    """One-line summary."""
    text: str = ""
    """Why, at length."""
    kind: str = ""
    """One-word name of a failure."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests that belong together."""

    name: str
    cases: Sequence[Case]

    def count(self, outcome: str) -> int:
        """Return the number of tests with this outcome."""
        return sum(case.outcome == outcome for case in self.cases)


def to_junit(suites: Sequence[Suite], *, name: str, seconds: float = 0.0) -> str:
    """Return the suites as a document that fits the schema `junit-10.xsd` of Jenkins' xUnit plugin.

    >>> print(to_junit([Suite("s", [Case("AP", "failure", "x < y", "0 < 1", kind="fail")])], name="n"))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="n" tests="1" failures="1" errors="0" time="0.000">
      <testsuite name="s" tests="1" failures="1" errors="0" skipped="0">
        <testcase name="AP" classname="s">
          <failure type="fail" message="x &lt; y">0 &lt; 1</failure>
        </testcase>
      </testsuite>
    </testsuites>
    """
    total = {
        key: sum(suite.count(outcome) for suite in suites)
        for key, outcome in (("failures", "failure"), ("errors", "error"))
    }
    head = {
        "name": name,
        "tests": sum(len(suite.cases) for suite in suites),
        **total,
        "time": f"{seconds:.3f}",
    }
    lines = [line for suite in suites for line in _suite(suite)]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites{_attributes(head)}>",
            *lines,
            "</testsuites>\n",
        ]
    )


def _suite(suite: Suite) -> list[str]:
    head = {
        "name": suite.name,
        "tests": len(suite.cases),
        "failures": suite.count("failure"),
        "errors": suite.count("error"),
        "skipped": suite.count("skipped"),
    }
    lines = [line for case in suite.cases for line in _case(case, suite.name)]
    return [f"  <testsuite{_attributes(head)}>", *lines, "  </testsuite>"]


def _case(case: Case, suite: str) -> list[str]:
    head = _attributes({"name": case.name, "classname": suite})
    text = escape(to_xml_text(case.text or case.message))
    if case.outcome == "passed":
        inner = f"      <system-out>{text}</system-out>"
    else:
        about = {"type": case.kind or case.outcome, "message": case.message}
        inner = f"      <{case.outcome}{_attributes(about)}>{text}</{case.outcome}>"
    return [f"    <testcase{head}>", inner, "    </testcase>"]


def _attributes(values: Mapping[str, object]) -> str:
    return "".join(f" {name}={quoteattr(to_xml_text(str(value)))}" for name, value in values.items())
