"""Exact numbers: fractions where the value is rational, else decimals far beyond double precision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import TypeAlias

Number: TypeAlias = Fraction | Decimal
Discounted: TypeAlias = Mapping[int | Fraction, Fraction]
"""A sum of coefficients over base-2 logarithms: {2: 3, 5: 1} is 3/log₂2 + 1/log₂5."""

WORKING = 60
"""Digits carried along; 30 are written."""
WRITTEN = 30


def decimal(value: Number | int) -> Decimal:
    """Return the value as a decimal of sixty digits."""
    with localcontext(prec=WORKING):
        return Decimal(value.numerator) / value.denominator if isinstance(value, Fraction | int) else value


@cache
def logarithm(number: int | Fraction) -> Decimal:
    """Return the logarithm to base 2."""
    with localcontext(prec=WORKING):
        return decimal(number).ln() / Decimal(2).ln()


def root(number: int) -> tuple[int, int]:
    """Return the smallest base and its power that make the number: 8 is 2³, 6 is 6¹."""
    for base in range(2, number):
        power, reached = 1, base
        while reached < number:
            power, reached = power + 1, reached * base
        if reached == number:
            return base, power
    return number, 1


def discounted(gains: Iterable[Fraction]) -> Discounted:
    """Each gain, first to last, over log₂(rank + 1), kept as coefficients of logarithms that are no powers."""
    total: defaultdict[int, Fraction] = defaultdict(Fraction)
    for rank, gain in enumerate(gains, 1):
        base, power = root(rank + 1)
        total[base] += gain / power
    return {base: Fraction(each) for base, each in sorted(total.items()) if each}


def value(parts: Discounted) -> Number:
    """Return what a discounted sum amounts to, exact where only log₂2 occurs."""
    if set(parts) <= {2}:
        return parts.get(2, Fraction(0))
    with localcontext(prec=WORKING):
        return sum((decimal(each) / logarithm(base) for base, each in parts.items()), Decimal(0))


def ratio(above: Discounted, below: Discounted) -> Number:
    """One discounted sum over another, exact where they are proportional; 0 over nothing."""
    if not below or not above:
        return Fraction(0)
    shares = {above.get(base, Fraction(0)) / each for base, each in below.items()}
    if set(above) == set(below) and len(shares) == 1:
        return shares.pop()
    with localcontext(prec=WORKING):
        return decimal(value(above)) / decimal(value(below))


def mean(values: list[Number]) -> Number:
    """Return the arithmetic mean; 0 of nothing."""
    if not values:
        return Fraction(0)
    exact = [each for each in values if isinstance(each, Fraction)]
    if len(exact) == len(values):
        return sum(exact, Fraction(0)) / len(exact)
    with localcontext(prec=WORKING):
        return sum(map(decimal, values), Decimal(0)) / len(values)


def geometric_mean(values: list[Number], floor: Fraction = Fraction(1, 100_000)) -> Number:
    """Return the geometric mean, in which a value below the floor counts as the floor; 0 of nothing."""
    raised = [
        max(each, floor) if isinstance(each, Fraction) else max(each, decimal(floor)) for each in values
    ]
    if not raised or len(set(raised)) == 1:
        return raised[0] if raised else Fraction(0)
    with localcontext(prec=WORKING):
        return (sum((decimal(each).ln() for each in raised), Decimal(0)) / len(raised)).exp()


def written(number: Number) -> str:
    """As in the suite: `p/q` or a whole number where exact, else thirty significant digits."""
    if isinstance(number, Fraction):
        return str(number)
    with localcontext(prec=WRITTEN):
        return format(+number, "f")
