"""`judged measures`: the list and the cards."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from judged.measures.groups import list_groups
from support.terminal import needs_a_terminal, show_on_a_terminal

Invoke = Callable[..., Result]


def test_the_list_names_every_measure_under_its_family(invoke: Invoke) -> None:
    """Families in order, each measure in one line."""
    result = invoke("measures")
    lines = result.stdout.splitlines()

    assert result.exit_code == 0
    headings = [family.capitalize() for family in list_groups()]
    names = [name for names in list_groups().values() for name in names]
    assert [line for line in lines if line in headings] == headings
    assert [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in names] == names


@pytest.mark.parametrize("spelling", ["nDCG", "ndcg", "nDCG@10", "ndcg_cut_10", 'nDCG(gain="exp")@5'])
def test_any_spelling_finds_the_card(invoke: Invoke, spelling: str) -> None:
    """Case, cutoffs, parameters and other tools' names lead to the same card."""
    result = invoke("measures", spelling)

    assert result.exit_code == 0
    assert result.stdout.startswith("nDCG: ")
    assert "nDCG@k = (Σ(i=1…k) v(gᵢ) / log₂(i + 1))" in result.stdout
    assert "doi:10.1145/582415.582418" in result.stdout


def test_cards_fit_a_page(invoke: Invoke) -> None:
    """Prose is wrapped; no line of the facts is wider than a hundred cells."""
    result = invoke("measures", "RBP")

    assert all(len(line) <= 100 for line in result.stdout.splitlines())


def test_cards_come_as_markdown(invoke: Invoke) -> None:
    """The same card for a page of documentation."""
    result = invoke("measures", "RR", "--format", "markdown")

    assert result.stdout.startswith("## RR\n")
    assert "$$" in result.stdout


def test_the_list_comes_as_markdown(invoke: Invoke) -> None:
    """A table for each family."""
    result = invoke("measures", "--format", "markdown")

    assert "**Ranked**" in result.stdout
    assert "| RR " in result.stdout


def test_cards_come_as_json(invoke: Invoke) -> None:
    """Every field by name, no infinities; several names at once, each card once."""
    cards = json.loads(invoke("measures", "RR", "mrr", "yaap", "--format", "json").stdout)

    assert [card["name"] for card in cards] == ["RR", "RR", "yaap"]  # of rankings and of neighbours
    assert cards[0]["range"] == "0 to 1"
    assert cards[2]["bounds"] == [None, None]


def test_json_of_the_whole_list_is_the_catalogue(invoke: Invoke) -> None:
    """Without names, all of them."""
    cards = json.loads(invoke("measures", "--format", "json").stdout)

    assert len(cards) == sum(map(len, list_groups().values()))


def test_a_name_of_two_families_has_two_cards(invoke: Invoke) -> None:
    """`DCG` of a ranking and of a session, each under its own heading; other names have one."""
    both = invoke("measures", "dcg").stdout.splitlines()
    session = invoke("measures", "AvgGain_2").stdout

    assert [line.partition(":")[0] for line in both if line.startswith("DCG") and ": " in line] == [
        "DCG",
        "DCG (session)",
    ]
    assert session.startswith("AvgGain (session): ")
    assert "unlabelled:   counts as gain 0" in session
    assert "the mean over sessions" in session


def test_the_nearest_name_may_be_of_any_family(invoke: Invoke) -> None:
    """A misspelt measure of sessions gets a suggestion as well."""
    result = invoke("measures", "Coverag")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean `Coverage`?" in result.stderr


def test_an_unknown_name_is_an_error_with_a_hint(invoke: Invoke) -> None:
    """A misspelt name gets a suggestion."""
    result = invoke("measures", "nDGC")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean `nDCG`?" in result.stderr


@needs_a_terminal
@pytest.mark.parametrize("columns", [120, 80, 60, 40])
def test_the_list_fits_the_terminal(columns: int) -> None:
    """However narrow it is; nothing is cut."""
    lines = show_on_a_terminal("measures", columns=columns).splitlines()

    assert max(map(len, lines)) <= columns
    assert "normalised discounted cumulative gain" in " ".join(" ".join(lines).split()).lower()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["normalised", "discounted"], {"nDCG", "nDCG_JK", "alpha_nDCG"}),
        (["Normalized discounted"], {"nDCG", "nDCG_JK", "alpha_nDCG"}),
        (["mean average precision"], {"AP"}),
        (["reciprocal"], {"RR", "ERR", "nERR", "ERR_IA", "nERR_IA"}),
        (["hit", "rate"], {"Success"}),
        (["duplicates"], {"SRR", "SRR_micro"}),
    ],
)
def test_measures_are_found_by_their_full_names(invoke: Invoke, words: list[str], found: set[str]) -> None:
    """In British and American spelling, as one argument or several."""
    cards = json.loads(invoke("measures", *words, "--format", "json").stdout)

    assert found <= {card["name"] for card in cards}
    assert len(cards) < 10


def test_words_that_are_only_in_the_text_of_a_card_find_it(invoke: Invoke) -> None:
    """Järvelin and Kekäläinen are in the references of nDCG; several hits are listed by family."""
    result = invoke("measures", "Kekäläinen")

    assert result.exit_code == 0
    assert result.stdout.startswith("Ranked\n\n  nDCG ")


def test_a_measure_that_is_written_wrongly_is_not_looked_up(invoke: Invoke) -> None:
    """`P@0` is an error, although cards have the word `P`."""
    result = invoke("measures", "P@0")

    assert result.exit_code == 2
    assert "`cutoff` of P must be a whole number from 1" in result.stderr


def test_the_card_of_ndcg_says_which_name_means_exponential_gain(invoke: Invoke) -> None:
    """`ndcg_burges` is another name only with the parameter that it implies."""
    assert 'ndcg_cut, ndcg_burges (gain="exp"), MSnDCG' in invoke("measures", "nDCG").stdout
