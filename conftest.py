"""What every example in a docstring can use without importing it."""

from __future__ import annotations

import pytest

from judged.kernels import examples


@pytest.fixture(scope="session", autouse=True)
def _names_for_examples(doctest_namespace: dict[str, object]) -> None:
    """Offer the views made by hand, with which the examples of measures begin."""
    doctest_namespace.update({name: getattr(examples, name) for name in examples.__all__})
