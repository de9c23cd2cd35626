"""Values that Python printed: lists, dicts, and objects written as `Document(page_content='…')`."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["NotAValue", "python_value"]


class NotAValue(Exception):
    """A text that Python did not print."""


def python_value(text: str) -> Any:
    """The value that a text printed by Python stands for; an object becomes a dict of its named parts.

    >>> python_value("[Document(page_content='Paris', metadata={'score': 0.9})]")
    [{'page_content': 'Paris', 'metadata': {'score': 0.9}}]
    """
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        raise NotAValue from None


def _value(node: ast.expr) -> Any:
    """The value of one part; nothing is run, names and calls mean nothing."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [_value(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.Call) and not node.args:
        return {each.arg: _value(each.value) for each in node.keywords if each.arg}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        return _value(node.args[0])  # UUID('…'), float32(0.5)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    raise NotAValue
