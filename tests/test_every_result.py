"""Every kind of result can be iterated, printed and turned into data frames; none is forgotten."""

from __future__ import annotations

import pytest

import judged
from judged.result import RESULTS, Result
from support.every_result import EXAMPLES


@pytest.fixture(params=sorted(EXAMPLES))
def result(request: pytest.FixtureRequest) -> Result:
    """A result of every kind."""
    return EXAMPLES[request.param]()


def test_there_is_an_example_of_every_kind() -> None:
    """Those of other tests aside."""
    assert EXAMPLES.keys() == {kind for kind in RESULTS if kind != "weather"}


def test_every_result_is_iterable_and_not_empty(result: Result) -> None:
    """Over what it consists of; more than once."""
    assert len(list(result)) == len(list(result)) > 0


def test_every_result_prints_as_a_table(result: Result) -> None:
    """With a rule below its headings, and as HTML in notebooks."""
    assert "───" in repr(result)
    assert "<table>" in result._repr_html_()


def test_every_result_is_a_data_frame(result: Result) -> None:
    """Its main table, and each of the others by name."""
    pytest.importorskip("pandas", reason="the extra `pandas` is not installed")

    assert len(result.to_pandas())
    assert all(len(result.to_pandas(name)) == table.num_rows for name, table in result.tables().items())


def test_every_result_has_the_rows_of_its_main_table(result: Result) -> None:
    """As dicts, and of each other table by name; what is not a mapping is iterated by them."""
    assert repr(result.rows()) == repr(result.to_arrow().to_pylist())  # some values are NaN
    assert [len(result.rows(name)) for name in result.tables()] == [len(t) for t in result.tables().values()]
    if not hasattr(result, "keys"):
        assert repr(list(result)) == repr(result.rows())


def test_only_mappings_are_iterated_otherwise() -> None:
    """Measures of an evaluation, systems of several."""
    evaluation = EXAMPLES["evaluation"]()
    assert isinstance(evaluation, judged.Evaluation)

    assert dict(evaluation) == {"AP": 0.75, "RR": 0.75}
    assert list(EXAMPLES["evaluations"]()) == ["one", "other"]
