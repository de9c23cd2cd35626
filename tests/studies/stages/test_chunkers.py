"""Chunkers: every chunk is a part of the text, and together they are all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from judged.studies.stages.chunkers import (
    CHUNKERS,
    WORDS,
    FunctionChunks,
    HeadingChunks,
    PageChunks,
    SentenceChunks,
    TokenChunks,
    Tokeniser,
    WordChunks,
    list_sentences,
)
from judged.studies.stages.stage import StageFailed

TEXT = st.text(st.sampled_from("ab .!?\n\f#`é世。A1"), max_size=120)


def cut(spec: Any, text: str) -> list[str]:
    """Return the texts of chunks."""
    return [text[start:end] for start, end in spec.split(text)]


def test_words_slide_with_their_overlap() -> None:
    """By hand: windows of three words, one of which the next shares; the last ends with the text."""
    assert cut(WordChunks(size=3, overlap=1), "a b c d  e f") == ["a b c", "c d  e", "e f"]
    assert cut(WordChunks(size=3, overlap=1), "a b c") == ["a b c"]
    assert cut(WordChunks(size=2), "a b c") == ["a b", "c"]


def test_tokens_are_words_and_marks() -> None:
    """By hand: a full stop is a token."""
    assert cut(TokenChunks(size=3), "One, two. Three") == ["One, two", ". Three"]
    assert Tokeniser(WORDS).count("One, two. Three") == 5


def test_tokens_of_a_model_are_those_of_its_library(tmp_path: Path) -> None:
    """The same offsets as the `tokenizers` library gives; an unreadable file is an error with its name."""
    library = pytest.importorskip("tokenizers")
    model = library.Tokenizer(library.models.BPE())
    model.pre_tokenizer = library.pre_tokenizers.Whitespace()
    model.train_from_iterator(["low lower lowest"] * 3, library.trainers.BpeTrainer(vocab_size=20))
    model.save(str(tmp_path / "tokenizer.json"))
    text = "lowest low lower"
    expected = [(start, end) for start, end in model.encode(text).offsets]

    assert TokenChunks(size=1, tokeniser=str(tmp_path)).split(text) == expected
    assert Tokeniser(str(tmp_path / "tokenizer.json")).count(text) == len(expected)
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(StageFailed, match=r"other.json` cannot be read"):
        TokenChunks(tokeniser=str(tmp_path / "other.json")).split(text)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("He left. She stayed!  Why?", ["He left.", "She stayed!", "Why?"]),
        ("It costs 3.50 euros. Cheap.", ["It costs 3.50 euros.", "Cheap."]),
        ("See Fig. 2 of Dr. Who, e.g. the cat. Yes.", ["See Fig. 2 of Dr. Who, e.g. the cat.", "Yes."]),
        ('"Stop." He ran.', ['"Stop."', "He ran."]),
        ("A title\n\nA text", ["A title", "A text"]),
        ("好。是的！", ["好。", "是的！"]),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    """Abbreviations and decimals do not end one; quotation marks belong to it."""
    assert [text[start:end] for start, end in list_sentences(text)] == sentences


def test_sections_begin_with_headings() -> None:
    """Up to the level asked for; a heading in a block of code is none; long sections are cut into words."""
    text = "intro\n# A\none two three\n## B\nfour\n```\n# no heading\n```\n# C\nfive"

    assert cut(HeadingChunks(), text) == [
        "intro",
        "# A\none two three",
        "## B\nfour\n```\n# no heading\n```",
        "# C\nfive",
    ]
    assert len(cut(HeadingChunks(level=1), text)) == 3
    assert cut(HeadingChunks(level=1, size=3), "# A\none two three") == ["# A\none", "two three"]


def test_pages_end_with_form_feeds() -> None:
    """Empty ones are left out."""
    assert cut(PageChunks(), "one\ftwo\f\f three ") == ["one", "two", "three"]


def test_a_function_may_return_texts_or_offsets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no part of the text is an error that shows it."""
    (tmp_path / "cutters.py").write_text(
        "def lines(text):\n    return text.split('\\n')\n"
        "def halves(text):\n    return [(0, len(text) // 2), (len(text) // 2, len(text))]\n"
        "def upper(text):\n    return [text.upper()]\n"
        "def beyond(text):\n    return [(0, 99)]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    assert cut(FunctionChunks(function="cutters:lines"), "a\na\nb") == ["a", "a", "b"]
    assert FunctionChunks(function="cutters:lines").split("a\na\nb") == [(0, 1), (2, 3), (4, 5)]
    assert cut(FunctionChunks(function="cutters:halves"), "abcd") == ["ab", "cd"]
    for name in ("upper", "beyond"):
        with pytest.raises(StageFailed, match="which is not part of the text"):
            FunctionChunks(function=f"cutters:{name}").split("abc")


@settings(max_examples=60, deadline=None)
@given(
    TEXT,
    st.sampled_from(
        [
            WordChunks(size=3, overlap=1),
            TokenChunks(size=2),
            SentenceChunks(size=2, overlap=1),
            HeadingChunks(),
            HeadingChunks(size=2),
            PageChunks(),
        ]
    ),
)
def test_nothing_but_white_space_is_left_out(text: str, spec: Any) -> None:
    """Every other character is in some chunk; chunks are in order, within the text, and not empty."""
    spans = spec.split(text)
    covered = {place for start, end in spans for place in range(start, end)}

    assert all(text[place].isspace() for place in set(range(len(text))) - covered)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)


def test_an_overlap_is_smaller_than_the_chunk() -> None:
    """Else no window would move."""
    with pytest.raises(msgspec.ValidationError, match="expected a smaller overlap"):
        msgspec.convert({"type": "words", "size": 2, "overlap": 2}, CHUNKERS["words"])
