"""A measure of one's own is a measure like any other, and mistakes in one are explained."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

import judged
from judged.arrays import Floats
from judged.cli.main import judged as program
from judged.errors import BadMeasure, BadPlugin, UnknownName
from judged.kernels.examples import make_ranking
from judged.kernels.ranked.ranking import Ranking
from judged.measures.cards import make_card
from judged.measures.custom import undefine
from judged.measures.groups import GROUPS, MEASURES
from judged.measures.parse import parse_measure
from support.strategies import queries, view

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}, "q3": {"d": 1}}
RUN = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}


def share(ranking: Ranking, *, cutoff: int = 10, rel: float | None = None, floor: float = 0.0) -> Floats:
    r"""The share of relevant documents among the first `cutoff`, or `floor` if that is more.

    $$S@k = \max(f, h / k)$$

    where $h$ counts the relevant documents.

    Unjudged: counts as not relevant.
    """
    return np.maximum(ranking.hits_within(cutoff, rel) / cutoff, floor)


def share_of_one(
    ranks: Any,
    grades: Any,
    retrieved: int,  # noqa: ARG001 - every function of a query is called with it
    judged: Any,  # noqa: ARG001
    *,
    cutoff: int = 10,
    rel: float | None = None,
    floor: float = 0.0,
) -> float:
    """The same of one query."""
    least = 1 if rel is None else rel
    hits = sum(r <= cutoff and g >= max(least, 0) for r, g in zip(ranks, grades, strict=True))
    return max(hits / cutoff, floor)


@pytest.fixture
def Share() -> judged.Measure:
    """A measure with a known parameter, one of its own, and an `@`."""
    floor = judged.measures.Parameter.number("the least that a query scores", low=0, high=1)
    return judged.define("Share", share, at_parameter="cutoff", parameters={"floor": floor})


def test_it_is_written_printed_and_parsed(Share: judged.Measure) -> None:
    """By any case of its name, with every parameter; what it prints is read back."""
    measure = Share(rel=2, floor=0.25) @ 5

    assert str(measure) == "Share(rel=2, floor=0.25)@5"
    assert parse_measure(str(measure)) == measure
    assert parse_measure("SHARE(REL=2, floor=0.25)@5") == measure
    assert parse_measure("share_5") == Share @ 5
    assert MEASURES["Share"] is Share
    assert GROUPS["custom"] == ("Share",)


def test_it_is_scored_by_name(Share: judged.Measure) -> None:
    """By hand: one hit in the first two, one, and a query without results, which scores 0."""
    result = judged.evaluate(QRELS, RUN, ["Share@2", Share @ 1, "nDCG@10"])

    assert result.per_query()["Share@2"].tolist() == [0.5, 0.5, 0.0]
    assert result.per_query()["Share@1"].tolist() == [0.0, 1.0, 0.0]
    assert result["share@1"] == pytest.approx(1 / 3)


def test_its_docstring_is_its_card(Share: judged.Measure) -> None:
    """Parts that are missing are left out; parameters are described as given."""
    it = make_card(Share)
    text = it.to_markdown()

    assert it.meaning.startswith("The share of relevant documents among the first `cutoff`")
    assert it.formula == "S@k = \\max(f, h / k)"
    assert it.unjudged == "counts as not relevant."
    assert (it.ties, it.example, it.references) == ("", "", ())
    assert "| `floor` | the least that a query scores | a number from 0 to 1 | 0 |" in text
    assert "**Example.**" not in text


def test_a_card_needs_no_docstring() -> None:
    """A lambda says nothing, and the card says that."""
    judged.define("Ones", lambda ranking: np.ones(len(ranking)))

    assert make_card("Ones").meaning == "No description was given."
    assert "$$" not in make_card("Ones").to_markdown()


def test_the_command_shows_it(Share: judged.Measure) -> None:
    """In its family, and as a card."""
    listed = CliRunner().invoke(program, ["measures"])
    shown = CliRunner().invoke(program, ["measures", Share.name])

    assert "\nCustom\n" in listed.output
    assert shown.exit_code == 0
    assert "the least that a query scores" in shown.output


@settings(max_examples=50, deadline=None)
@given(
    drawn=st.lists(queries(), min_size=1, max_size=4),
    cutoff=st.integers(1, 12),
    rel=st.sampled_from([None, 0, 1, 2]),
)
def test_a_function_of_one_query_gives_the_same(drawn: list[Any], cutoff: int, rel: float | None) -> None:
    """Both forms of one definition agree on any queries and parameters."""
    both = (
        judged.define("Whole", share, replace=True),
        judged.measures.define_per_query("Each", share_of_one, replace=True),
    )
    one, other = (measure(cutoff=cutoff, rel=rel).per_query(view(drawn)) for measure in both)

    assert one.tolist() == other.tolist()


def test_a_function_of_one_query_gets_its_parts() -> None:
    """Ranks and grades of judged results, how many were retrieved, all judged grades highest first."""
    got: list[Any] = []

    def mine(ranks: Any, grades: Any, retrieved: int, judged: Any) -> float:
        got.append((ranks.tolist(), grades.tolist(), retrieved, judged.tolist()))
        return 0.0

    judged.measures.define_per_query("Mine", mine).per_query(
        make_ranking([None, 1, 0], [], missed=[[3], [2]])
    )

    assert got == [([2, 3], [1.0, 0.0], 3, [3.0, 1.0, 0.0]), ([], [], 0, [2.0])]


def test_a_function_of_one_query_cannot_change_the_view() -> None:
    """Writing into what it is given is an error, and other measures see what they would have."""

    def careless(ranks: Any, grades: Any, retrieved: int, judged: Any) -> float:  # noqa: ARG001
        grades[:] = 9
        return 0.0

    found = make_ranking([1, 0])

    with pytest.raises(BadMeasure, match="Careless failed: ValueError: assignment destination is read-only"):
        judged.measures.define_per_query("Careless", careless).per_query(found)
    assert found.grade.tolist() == [1.0, 0.0]


def test_parameters_explain_themselves_by_their_defaults() -> None:
    """Numbers, truth values and words need no description."""

    def each(
        ranking: Ranking,
        *,
        factor: float = 1.0,
        strict: bool = False,
        side: Literal["Left", "right"] = "Left",
    ) -> Floats:
        return np.full(len(ranking), factor * strict * (side == "Left"))

    measure = judged.define("Sided", each)

    assert str(measure(factor=0.5, strict=True, side="left")) == 'Sided(factor=0.5, strict=True, side="Left")'
    assert parse_measure("Sided(strict=True)").per_query(make_ranking([1])).tolist() == [1.0]
    with pytest.raises(BadMeasure, match="`side` of Sided must be `Left` or `right`, not 'middle'"):
        measure(side="middle")
    with pytest.raises(BadMeasure, match="`strict` of Sided must be True or False, not 1"):
        measure(strict=1)


def test_a_domain_of_its_own_is_kept() -> None:
    """Values outside it are refused in its own words."""
    whole = judged.measures.Parameter.whole("how many", low=2)
    measure = judged.define(
        "Own", lambda ranking, *, n=2: np.zeros(len(ranking)) * n, parameters={"n": whole}
    )

    assert str(measure(n=3)) == "Own(n=3)"
    with pytest.raises(BadMeasure, match=r"`n` of Own must be a whole number from 2, not 1"):
        measure(n=1)


def test_a_name_is_defined_once() -> None:
    """With `replace=True` the new one counts."""
    judged.define("Again", lambda ranking: np.zeros(len(ranking)))

    with pytest.raises(BadMeasure, match="a measure called `Again` was defined already") as caught:
        judged.define("Again", lambda ranking: np.ones(len(ranking)))
    judged.define("Again", lambda ranking: np.ones(len(ranking)), replace=True)

    assert "say `replace=True`" in str(caught.value)
    assert parse_measure("Again").per_query(make_ranking([0])).tolist() == [1.0]
    assert GROUPS["custom"] == ("Again",)


def test_what_was_defined_can_be_forgotten(Share: judged.Measure) -> None:
    """And only that."""
    undefine("Share")

    with pytest.raises(UnknownName, match="no measure is called `Share`"):
        parse_measure(str(Share))
    with pytest.raises(BadMeasure, match="`nDCG` was not defined"):
        undefine("nDCG")


def nothing(ranking: Ranking) -> Floats:
    """A measure without parameters."""
    return np.zeros(len(ranking))


@pytest.mark.parametrize(
    ("name", "function", "given", "message"),
    [
        ("ndcg", nothing, {}, "`ndcg` is taken: it means the measure nDCG"),
        ("nDCG", nothing, {"replace": True}, "`nDCG` is taken: it means the measure nDCG"),
        ("MRR", nothing, {}, "`MRR` is taken: it means the measure RR"),
        ("Official", nothing, {}, "it means trec_eval's measures `official`"),
        ("My P", nothing, {}, "'My P' cannot be the name of a measure"),
        ("Mine_5", nothing, {}, "'Mine_5' cannot be the name of a measure"),
        ("5mine", nothing, {}, "'5mine' cannot be the name of a measure"),
        ("", nothing, {}, "'' cannot be the name of a measure"),
        (5, nothing, {}, "5 cannot be the name of a measure"),
        ("Mine", 5, {}, "`Mine` must be made from a function, not 5"),
        ("Mine", lambda: 0, {}, "takes nothing, expected ranking and its parameters after a `*`"),
        ("Mine", lambda ranking, k=5: (ranking, k), {}, "takes ranking, k, expected ranking"),
        ("Mine", lambda ranking, **kw: (ranking, kw), {}, "takes ranking, *kw, expected ranking"),
        (
            "Mine",
            lambda ranking, *, what=None: (ranking, what),
            {},
            "the values that `what` of `Mine` accepts are not declared",
        ),
        (
            "Mine",
            lambda ranking, *, p=2: (ranking, p),
            {},
            "`p` of Mine must be a number between 0 and 1, not 2",
        ),
        (
            "Mine",
            nothing,
            {"at_parameter": "cutoff"},
            "`at_parameter` of `Mine` must be one of its parameters, not 'cutoff'",
        ),
        ("Mine", nothing, {"bounds": (1, 0)}, "the bounds of `Mine` must be a lower and a higher number"),
        (
            "Mine",
            nothing,
            {"parameters": {"n": judged.measures.Parameter.whole("how many")}},
            "the function of `Mine` has no parameter `n`",
        ),
    ],
)
def test_a_bad_definition_is_refused(name: Any, function: Any, given: dict[str, Any], message: str) -> None:
    """With words, and nothing is left of it."""
    with pytest.raises(BadMeasure) as caught:
        judged.define(name, function, **given)

    assert message in str(caught.value)
    assert "custom" not in GROUPS


def test_a_function_of_one_query_takes_four_arguments() -> None:
    """The message names them."""
    with pytest.raises(BadMeasure, match="takes ranking, expected ranks, grades, retrieved, judged"):
        judged.measures.define_per_query("Mine", nothing)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda ranking: np.zeros(len(ranking) + 1),
            "Mine returned 3 values, expected one for each of 2 queries",
        ),
        (lambda ranking: np.zeros((len(ranking), 2)), "returned an array of shape (2, 2), expected one"),
        (lambda ranking: 0.5, "returned an array of shape (), expected one"),  # noqa: ARG005
        (lambda ranking: ["a"] * len(ranking), "returned ['a', 'a'], expected an array of numbers"),
        (lambda ranking: ranking.retrieved * np.nan, "returned nan for 2 of 2 queries, expected 0 to 1"),
        (lambda ranking: ranking.retrieved * 1.0, "returned 2 for 1 of 2 queries, expected 0 to 1"),
        (lambda ranking: 1 / 0, "Mine failed: ZeroDivisionError: division by zero"),  # noqa: ARG005
    ],
)
def test_a_value_that_makes_no_sense_is_refused(function: Callable[..., Any], message: str) -> None:
    """Wrong length, wrong kind, not a number, out of bounds, or an error of the function itself."""
    measure = judged.define("Mine", function)

    with pytest.raises(BadMeasure) as caught:
        measure.per_query(make_ranking([1, 0], [1]))

    assert message in str(caught.value)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs a package that announces measures: a module and the folder of its metadata."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(code: str, entries: str, package: str = "plugged") -> None:
        (tmp_path / f"{package}_code.py").write_text(code, encoding="utf-8")
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
        )
        (info / "entry_points.txt").write_text(f"[judged.measures]\n{entries}\n", encoding="utf-8")
        monkeypatch.delitem(sys.modules, f"{package}_code", raising=False)
        monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path / package)])

    return install


PLUGIN = '''
"""A measure that a package brings."""
import judged

def found(ranking, *, cutoff: int = 10):
    """Whether anything judged is among the first results."""
    return ranking.within(cutoff)[:0].sum() + 0.25 * (ranking.retrieved > 0)

Plugged = judged.define("Plugged", found, at_parameter="cutoff")
'''


def test_an_installed_package_brings_a_measure(installed: Callable[..., None]) -> None:
    """It is found by name in any case, loaded then and not before, and scored."""
    installed(PLUGIN, "Plugged = plugged_code:Plugged")

    assert "Plugged" not in MEASURES
    assert str(parse_measure("plugged@5")) == "Plugged@5"
    assert judged.evaluate(QRELS, RUN, "Plugged@3").per_query()["Plugged@3"].tolist() == [0.25, 0.25, 0.0]
    assert parse_measure("Plugged") == MEASURES["Plugged"]


def test_the_command_line_knows_it(installed: Callable[..., None], tmp_path: Path) -> None:
    """`-m` takes it, the list names it without loading it, its card is shown."""
    installed(PLUGIN, "Plugged = plugged_code:Plugged")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 2 t\n")
    listed = CliRunner().invoke(program, ["measures"])
    loaded = "plugged_code" in sys.modules
    scored = CliRunner().invoke(
        program, ["score", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "Plugged@5"]
    )

    assert "Other installed packages provide: Plugged" in listed.output
    assert not loaded
    assert scored.exit_code == 0, scored.output
    assert "0.2500" in scored.output
    assert "Whether anything judged" in CliRunner().invoke(program, ["measures", "plugged"]).output


def test_a_known_name_loads_no_package(installed: Callable[..., None]) -> None:
    """What judged has itself is never looked for elsewhere."""
    installed("raise RuntimeError('loaded')", "nDCG = plugged_code:nDCG")

    assert parse_measure("nDCG@10") == MEASURES["nDCG"] @ 10


@pytest.mark.parametrize(
    ("code", "entries", "message"),
    [
        (
            "raise RuntimeError('no luck')",
            "Bad = plugged_code:Bad",
            "cannot be loaded: RuntimeError: no luck",
        ),
        ("", "Bad = plugged_code:Bad", "the measure `Bad` of the package `plugged` cannot be loaded"),
        ("Bad = 5", "Bad = plugged_code:Bad", "is a int, expected a measure called `Bad`"),
        (
            "from judged import AP as Bad",
            "Bad = plugged_code:Bad",
            "is the measure AP, expected a measure called `Bad`",
        ),
    ],
)
def test_a_package_that_is_wrong_is_named(
    installed: Callable[..., None], code: str, entries: str, message: str
) -> None:
    """Whose measure it is, and what is the matter with it."""
    installed(code, entries)

    with pytest.raises(BadPlugin) as caught:
        parse_measure("Bad@10")

    assert message in str(caught.value)


def test_two_packages_with_one_name_are_refused(installed: Callable[..., None]) -> None:
    """Which of them is meant cannot be known."""
    installed(PLUGIN, "Plugged = plugged_code:Plugged")
    installed(PLUGIN, "plugged = other_code:Plugged", package="other")

    with pytest.raises(BadPlugin, match="several packages provide a measure called `Plugged`"):
        parse_measure("Plugged")


def test_a_name_close_to_a_package_s_is_suggested(installed: Callable[..., None]) -> None:
    """As those of judged itself are."""
    installed(PLUGIN, "Plugged = plugged_code:Plugged")

    with pytest.raises(UnknownName, match="did you mean `Plugged`"):
        parse_measure("Pluged")


def test_a_measure_made_by_hand_can_be_announced(installed: Callable[..., None]) -> None:
    """A package may bring a `Measure` that it did not define here."""
    code = "from dataclasses import replace\nfrom judged import P\nHand = replace(P, name='Hand', family='custom')\n"
    installed(code, "Hand = plugged_code:Hand")

    assert parse_measure("hand@3").per_query(make_ranking([1, 0, 1])).tolist() == [pytest.approx(2 / 3)]
    assert replace(MEASURES["Hand"], name="P", family="ranked") == MEASURES["P"]


def test_a_law_that_is_none_is_refused() -> None:
    """Laws are relied on, so a misspelt one is an error that names the right ones."""
    with pytest.raises(UnknownName, match="law of measures"):
        judged.define("Misspelt", lambda ranking: ranking.retrieved, laws=["grow"])
