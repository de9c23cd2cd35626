"""What every example in a docstring can use without importing it."""

from __future__ import annotations

import pytest

from judged.kernels import examples
from judged.measures.cards import EXAMPLE_SETUP


@pytest.fixture(scope="session", autouse=True)
def _names_for_examples(doctest_namespace: dict[str, object]) -> None:
    """Offer `judged`, what the cards of measures begin with, and the views made by hand."""
    for setup in EXAMPLE_SETUP.values():
        exec(setup, doctest_namespace)  # noqa: S102 - the text is ours, and cards show it
    makers = {name: maker for name, maker in vars(examples).items() if name.startswith("make_")}
    doctest_namespace.update(makers)
