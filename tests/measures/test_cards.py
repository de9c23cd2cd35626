"""Every measure has a complete card, and the page of all cards is up to date."""

from __future__ import annotations

import doctest
from dataclasses import fields
from pathlib import Path

import pytest

from judged.agents.measures import SESSION_MEASURES
from judged.measures.cards import Card, list_cards, make_card, render_catalogue
from judged.measures.groups import MEASURES, list_groups
from judged.measures.laws import Law

EVERY = pytest.mark.parametrize("name", list(MEASURES))
EVERY_OF_SESSIONS = pytest.mark.parametrize("name", list(SESSION_MEASURES))
PAGE = Path(__file__).parents[2] / "docs" / "measures.md"


@EVERY
def test_no_part_of_a_card_is_missing(name: str) -> None:
    """Meaning, formula, symbols, conventions, agreement, example and references are all there."""
    it = make_card(name)
    optional = {"parameters", "spellings", "bounds"}
    empty = [
        field.name for field in fields(Card) if field.name not in optional and not getattr(it, field.name)
    ]

    assert empty == []
    assert it.meaning.endswith(".")
    assert "$" not in it.formula
    assert it.symbols.startswith("where")
    assert ">>> " in it.example
    assert (it.bounds is None) == MEASURES[name].text


@EVERY
def test_every_parameter_is_described(name: str) -> None:
    """With its meaning, its values and its default, and what `@` sets first."""
    it, measure = make_card(name), MEASURES[name]

    assert {parameter.name for parameter in it.parameters} == set(measure.defaults)
    assert all(parameter.meaning and parameter.expected for parameter in it.parameters)
    assert [parameter.at for parameter in it.parameters] == sorted(
        (parameter.at for parameter in it.parameters), reverse=True
    )
    assert any(parameter.at for parameter in it.parameters) == (measure.at_parameter is not None)


@EVERY_OF_SESSIONS
def test_no_part_of_a_card_of_sessions_is_missing(name: str) -> None:
    """The same without ties, which sessions do not have, and without other tools, of which none measures them."""
    it, measure = make_card(name, family="session"), SESSION_MEASURES[name]
    optional = {"parameters", "spellings", "ties", "agrees_with"}
    empty = [
        field.name for field in fields(Card) if field.name not in optional and not getattr(it, field.name)
    ]

    assert empty == []
    assert it.meaning.endswith(".")
    assert it.symbols.startswith("where")
    assert ">>> " in it.example
    assert "sessions" in it.aggregate
    assert {parameter.name for parameter in it.parameters} == set(measure.defaults)
    assert all(parameter.meaning and parameter.expected and parameter.default for parameter in it.parameters)
    assert it.parameters == () or it.parameters[0].at == (measure.at_parameter is not None)


def test_every_example_runs_as_it_is_shown_with_the_public_api_alone() -> None:
    """Copied from a card into a fresh interpreter, it prints what the card says."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    cards = [card for card in list_cards() if card.group != "custom"]
    for card in cards:
        test = doctest.DocTestParser().get_doctest(card.example, {}, card.heading, None, 0)
        imports = [
            example.source for example in test.examples if example.source.startswith(("import ", "from "))
        ]
        assert imports == ["import judged\n"], card.heading
        assert runner.run(test).failed == 0, card.heading

    assert len(cards) == sum(len(names) for family, names in list_groups().items() if family != "custom")


def test_sources_are_named_and_not_numbered_alone() -> None:
    """A reference to one of the source documents has its title or its page."""
    references = [reference for card in list_cards() for reference in card.references]

    assert not [reference for reference in references if "Source document" in reference]
    assert (
        "Retrieved Good Gain Metrics, section 1 (document 001 in docs/concepts/sources.md)."
        in make_card("CG", family="session").references
    )


@pytest.mark.parametrize(
    "name", [name for name in SESSION_MEASURES if Law.RATE in SESSION_MEASURES[name].laws]
)
def test_the_card_of_a_rate_says_that_it_is_not_shown_alone(name: str) -> None:
    """It rises when an agent stops early."""
    symbols = make_card(name, family="session").symbols

    assert "never shown alone: read it together with `CG` and `N`" in symbols


def test_names_that_two_families_have_are_distinguished() -> None:
    """In headings, in links to them, and in what a card says."""
    ranked, session = make_card("DCG"), make_card(SESSION_MEASURES["DCG"] @ 3)
    page = render_catalogue()

    assert (ranked.heading, session.heading) == ("DCG", "DCG (session)")
    assert (ranked.unknown, session.unknown) == ("unjudged", "unlabelled")
    assert (ranked.aggregate, session.aggregate) == ("the mean over queries", "the mean over sessions")
    assert "[DCG](#dcg)" in page
    assert "[DCG](#dcg-session)" in page
    assert "### DCG (session)" in page
    assert "- **Unlabelled:** counts as gain 0" in session.to_markdown()


def test_a_card_says_what_the_measure_says() -> None:
    """The card of nDCG, part by part."""
    it = make_card(MEASURES["nDCG"] @ 10)

    assert it.name == "nDCG"
    assert it.group == "ranked"
    assert it.title.startswith("Normalised discounted cumulative gain")
    assert it.range == "0 to 1"
    assert it.direction == "higher is better"
    assert it.aggregate == "the mean over queries"
    assert it.full_name == "Normalised discounted cumulative gain"
    assert it.spellings == ("ndcg_cut", 'ndcg_burges (gain="exp")', "MSnDCG")
    assert [parameter.name for parameter in it.parameters] == ["cutoff", "gain", "gains", "discount", "ideal"]
    assert it.parameters[0].at
    assert it.parameters[1].default == '"linear"'
    assert it.unjudged == "has no gain."
    assert len(it.references) == 2
    assert it.references[0].endswith("doi:10.1145/582415.582418")


def test_ranges_are_worded() -> None:
    """Bounded, bounded below, unbounded, and text."""
    assert make_card("DCG").range == "0 or more"
    assert make_card("yaap").range == "any number"
    assert make_card("relstring").range == "text"
    assert make_card("FallOut").direction == "lower is better"


def test_a_card_is_markdown() -> None:
    """Heading, formula, facts, table of parameters, example, references."""
    text = make_card("RBP").to_markdown(level=4)

    assert text.startswith("#### RBP\n")
    assert "$$\n\\mathrm{RBP} = " in text
    assert "- **Unjudged:** has no gain" in text
    assert "| `p` | persistence: the chance" in text
    assert "```pycon\n>>> import judged\n>>> qrels = " in text
    assert text.rstrip().endswith("doi:10.1145/1416950.1416952")


def test_the_page_of_measures_is_up_to_date() -> None:
    """`python -m judged.measures.cards > docs/measures.md` would change nothing."""
    assert PAGE.read_text(encoding="utf-8") == render_catalogue()
