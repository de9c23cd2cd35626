"""What was worked out by hand, written as arithmetic with `log2`, evaluated to sixty digits."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from conformance.exact.arithmetic import WORKING, Number, decimal, logarithm

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def evaluated(text: str) -> Number:
    """Return the value of an expression such as `(1 + 1/log2(5)) / 2`; exact where no logarithm occurs."""
    with localcontext(prec=WORKING):
        return _value(ast.parse(text, mode="eval").body)


def _value(node: ast.expr) -> Number:
    if isinstance(node, ast.Constant):
        return Fraction(str(node.value))
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and isinstance(node.args[0], ast.Constant)
    ):
        argument = decimal(Fraction(str(node.args[0].value)))
        if node.func.id == "log2":
            return logarithm(int(argument))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sqrt":
        return decimal(_value(node.args[0])).sqrt()
    assert isinstance(node, ast.BinOp), ast.dump(node)
    left, right = _value(node.left), _value(node.right)
    if isinstance(left, Decimal) != isinstance(right, Decimal):
        left, right = decimal(left), decimal(right)
    result: Number = OPERATORS[type(node.op)](left, right)
    return result
