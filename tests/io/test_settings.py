"""Settings in YAML: what PyYAML accepts in silence, and what would fill the memory, is an error with its place."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from judged.errors import BadProtocol, Unreadable
from judged.io.settings import convert_settings, parse_yaml, read_yaml


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: 2\na: 3\n", "s.yaml, line 3: the key `a` appears twice"),
        (b"x:\n  - {k: 1, k: 1}\n", "s.yaml, line 2: the key `k` appears twice"),
        (b'{"tools": {}, "tools": {}}', "s.yaml, line 1: the key `tools` appears twice"),
        (b"base: &b {k: 1, k: 2}\nuse: {<<: *b}\n", "s.yaml, line 1: the key `k` appears twice"),
        (b"a: [1\n", "s.yaml, line 2: expected ',' or ']'"),
        (b"a: *nothing\n", "s.yaml, line 1: found undefined alias"),
        (b"&a [*a]", "s.yaml: a part of it contains itself"),
        (b"[" * 5000, "s.yaml: it is nested too deeply"),
        (b"a: 2020-99-99", "s.yaml: month must be in 1..12"),
        (b"a: " + b"9" * 5000, "s.yaml: Exceeds the limit"),
        (b"a: \xff", "s.yaml: 'utf-8' codec can't decode byte 0xff"),
        (b"a: \x01", "s.yaml: unacceptable character"),
        (b"--- 1\n--- 2\n", "s.yaml, line 2: but found another document"),
    ],
)
def test_what_is_not_a_document_of_settings_is_an_error_with_its_place(content: bytes, message: str) -> None:
    """Never a traceback, whatever PyYAML raises."""
    with pytest.raises(BadProtocol) as caught:
        parse_yaml(content, "s.yaml")

    assert str(caught.value).startswith(message)


def test_aliases_of_aliases_are_bounded() -> None:
    """Nine lines unfold to 10^9 values, which nobody may convert; ten of ten are fine."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(BadProtocol, match="its aliases unfold to more than 1,000,000 values"):
        parse_yaml("\n".join(lines).encode(), "s.yaml")
    assert len(parse_yaml("\n".join(lines[:2]).encode(), "s.yaml")["a1"]) == 10


def test_merged_keys_may_be_overridden() -> None:
    """That is what merging is for, also where the merged mapping merges another one itself."""
    content = b"a: &a {k: 1, m: 1}\nb: &b {<<: *a, k: 2}\nc: {<<: *b, k: 3}\nd: {<<: [*a, *b], m: 4}\n"

    assert parse_yaml(content, "s.yaml") == {
        "a": {"k": 1, "m": 1},
        "b": {"k": 2, "m": 1},
        "c": {"k": 3, "m": 1},
        "d": {"k": 1, "m": 4},
    }


def test_keys_of_different_types_are_different() -> None:
    """The number 1 and the text "1"."""
    assert parse_yaml(b"1: a\n'1': b\n", "s.yaml") == {1: "a", "1": "b"}


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    """As editors on Windows write it."""
    (tmp_path / "s.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")

    assert read_yaml(tmp_path / "s.yaml") == {"a": 1}
    with pytest.raises(Unreadable, match=r"absent\.yaml cannot be read"):
        read_yaml(tmp_path / "absent.yaml")


def test_a_hint_goes_with_the_first_wrong_value() -> None:
    """After the source and the place."""

    class Server(msgspec.Struct):
        ports: list[int]

    with pytest.raises(BadProtocol, match=r"s\.yaml: `ports\[1\]`: expected `int`, got `str`") as caught:
        convert_settings({"ports": [1, "x"]}, Server, "s.yaml", hint="ports are numbers")
    assert caught.value.hint == "ports are numbers"
