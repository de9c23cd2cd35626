"""What answers of models state: one table of answers, with those that other parsers are known to misread."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from judged.labels.answer import Verdict, read_answer

SCALE = range(5)

STATED = {
    # misread by others (umbrela 0.0.7 and ragas 0.4.3 as run for their published parsers)
    "on a scale of 0 to 3, ##final score: 1": 1,
    "on a scale of 0 to 3, final score: 1": 1,
    "maps to 1 on topicality. ##final score: 3": 3,
    "refers to 2 of the 3 topics. ##final score: 0": 0,
    "##final score: 4": 4,
    "Rating: 4 (out of a maximum of 4)": 4,
    # JSON, as asked for
    '{"match": 2, "trust": 1, "score": 3}': 3,
    '{"score": 3}': 3,
    '{"score": "3"}': 3,
    '{"score": 3.0}': 3,
    '{"Score": 2}': 2,
    '```json\n{"match": 4, "trust": 4, "score": 4}\n```': 4,
    '```\n{"score": 0}\n```\n': 0,
    'The page answers 1 of 3 parts.\n{"match": 1, "trust": 3, "score": 2}': 2,
    '{"score": 2} That is, final score: 2.': 2,
    '{"query": {"score": 4}} {"score": 1}': 1,
    '{"a set: {1, 2}" {"score": 1}': 1,
    # thinking aloud
    '<think>Maybe score: 1? No, score: 4.</think>\n{"score": 3}': 3,
    'So it may be 2.\n</think>\n\n{"score": 3}': 3,
    "<reasoning>final score: 0</reasoning> Final score: 2": 2,
    # text
    "3": 3,
    " 3.\n": 3,
    "**3**": 3,
    "Off topic, though well written in 1999.\n\n0": 0,
    "Final Score: **2**": 2,
    "**Final score:** 2": 2,
    "final score = 2": 2,
    "The final score is 2.": 2,
    "The final relevance score is 2, since 3 of 4 parts are missing": 2,
    "Overall rating: 3/4": 3,
    "Score (0-4): 3": 3,
    "M: 3, T: 1, O: 2. Final score: 2": 2,
    "Score: 2": 2,
    "Grade: [2]": 2,
    "I use a score of 0 to 4 here.\nScore: 2": 2,
    r"So the answer is \boxed{3}.": 3,
    "score: 1\nfinal score: 2": 2,
    "final score: 2. Again, final score: 2": 2,
    "<score>3</score>": 3,
    "<match>4</match>\n<score> 2 </score>": 2,
    # other scripts
    "最终得分：3": 3,
    "分数是 2。": 2,
    "评分标准为零到四。得分：３": 3,
    "**最終スコア: 2**": 2,
    "점수: 1/4": 1,
    "final score: 3": 3,
    "final score: ٣": 3,
    '{"score": ३}': 3,
}

NOT_STATED = {
    "": "empty",
    " \n\t": "empty",
    "I'm sorry, but I can't help with that.": "refusal",
    "I’m sorry, I can’t assess this page.": "refusal",
    "I am unable to grade this.": "refusal",
    "Sorry, this says nothing of 3 cats.": "no grade",
    "评分：0-4": "no grade",
    "匹配得分：2，最终得分：3": "contradiction",
    "Published in 2015, it is off topic.": "no grade",
    "It meets 3 of 4 needs.": "no grade",
    "relevant": "no grade",
    "Final score: three": "no grade",
    '{"score": null}': "no grade",
    '{"score": true}': "no grade",
    '{"score": [3]}': "no grade",
    '{"match": 3, "trust": 3}': "no grade",
    '{"score": ': "no grade",
    "Score each from 0 to 4 and say why.": "no grade",
    "##final score: 10": "off the scale",
    "##final score: 5": "off the scale",
    "final score: -1": "off the scale",
    "final score: −1": "off the scale",
    "12": "off the scale",
    '{"score": 7}': "off the scale",
    "2.5": "not whole",
    '{"score": 2.5}': "not whole",
    "final score: 2.5": "not whole",
    "final score: 2,5": "not whole",
    "final score: 2-3": "no grade",
    "final score: 2 or 3": "no grade",
    "final score: 3 out of 10": "no grade",
    "Rating: 4 (out of a maximum of 10)": "no grade",
    "final score: 1. On reflection, final score: 3": "contradiction",
    '{"score": 1} {"score": 2}': "contradiction",
    '{"score": 1} but really the final score: 2': "contradiction",
    "score: 1, score: 4": "contradiction",
    "<think>score: 3, I would say": "unfinished",
}


@pytest.mark.parametrize(("text", "grade"), STATED.items())
def test_a_grade_that_is_stated_is_read(text: str, grade: int) -> None:
    """The number that the answer states as its grade, whatever other numbers are around it."""
    assert read_answer(text, scale=SCALE) == Verdict(grade)


@pytest.mark.parametrize(("text", "reason"), NOT_STATED.items())
def test_an_answer_that_states_no_grade_is_a_failure_and_never_0(text: str, reason: str) -> None:
    """No number is guessed, and the reason says what was wrong."""
    assert read_answer(text, scale=SCALE) == Verdict(None, reason)


def test_no_answer_at_all_is_empty() -> None:
    """Some endpoints answer with null."""
    assert read_answer(None, scale=SCALE) == Verdict(None, "empty")


def test_an_answer_that_was_cut_short_is_read_only_if_its_object_is_whole() -> None:
    """`final score: 1` may be the beginning of `final score: 10`."""
    assert read_answer("final score: 1", scale=SCALE, complete=False) == Verdict(None, "unfinished")
    assert read_answer('{"score": 1}\n\n\n', scale=SCALE, complete=False) == Verdict(1)


def test_a_prompt_may_have_a_shorter_scale_and_another_field() -> None:
    """Grades of 0 to 3, as UMBRELA has them, are refused above 3."""
    assert read_answer('{"O": 3, "score": 1}', scale=range(4), field="O") == Verdict(3)
    assert read_answer("final score: 4", scale=range(4)) == Verdict(None, "off the scale")


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    """Whatever a model says, there is a grade on the scale or a reason."""
    verdict = read_answer(text, scale=SCALE)

    assert (verdict.grade in SCALE) == (verdict.reason is None)


@given(st.integers(0, 4), st.text(st.characters(categories=("L", "Zs")), max_size=40))
def test_words_before_an_object_never_change_its_grade(grade: int, words: str) -> None:
    """A sentence without numbers, then the object that was asked for."""
    assert read_answer(f'{words}\n{{"score": {grade}}}', scale=SCALE) == Verdict(grade)
