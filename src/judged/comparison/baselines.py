"""The systems of a comparison against any one of them: what a reader sees who changes the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.comparison.contrasts import Contrast, contrast_families
from judged.comparison.settings import SHORT
from judged.wording import join_words

if TYPE_CHECKING:
    from judged.comparison.result import Comparison


@dataclass(frozen=True, eq=False)
class BaselineContrasts:
    """The contrasts of every other system with one baseline, in every measure."""

    baseline: str
    contrasts: tuple[Contrast, ...]
    family: int
    """The number of comparisons of one measure that the p-values are corrected for."""
    every_pair: bool
    """Whether these are all pairs of systems, rather than the comparisons with baselines."""
    baselines: tuple[str, ...] = ()
    """The baselines of the family, if they are several."""

    def describe(self, correction: str) -> str:
        """Return the correction and its family in words.

        >>> BaselineContrasts("bm25", (), 9, every_pair=False).describe("maxT")
        'maxT over the 9 comparisons with bm25'
        """
        if correction == "none":
            return SHORT[correction]
        some = "comparison" if self.family == 1 else f"{self.family} comparisons"
        whom = join_words(self.baselines or (self.baseline,))
        family = f"all {self.family} pairs of systems" if self.every_pair else f"the {some} with {whom}"
        return f"{SHORT[correction]} over {family}"


def contrast_with_each(comparison: Comparison, baselines: Sequence[str]) -> dict[str, BaselineContrasts]:
    """Return the contrasts with each of the baselines.

    Those that the comparison has are taken from it, seen from the baseline's side; the others are made with the same
    settings, and corrected over the comparisons with that baseline alone.
    """
    own = {name: _find_own(comparison, name) for name in baselines}
    absent = [name for name, contrasts in own.items() if contrasts is None]
    made = _contrast_absent(comparison, absent) if absent else {}
    others = len(comparison.systems) - 1
    return {
        name: BaselineContrasts(name, made[name], others, every_pair=False)
        if contrasts is None
        else BaselineContrasts(
            name,
            contrasts,
            comparison.comparisons,
            every_pair=not comparison.baselines and len(comparison.systems) > 2,
            baselines=comparison.baselines,
        )
        for name, contrasts in own.items()
    }


def _find_own(comparison: Comparison, baseline: str) -> tuple[Contrast, ...] | None:
    """Return the comparison's own contrasts with the baseline; None if it lacks some of them."""
    own = tuple(
        contrast if contrast.baseline == baseline else contrast.reverse()
        for contrast in comparison.contrasts
        if baseline in {contrast.system, contrast.baseline}
    )
    return own if len(own) == (len(comparison.systems) - 1) * len(comparison.scores) else None


def _contrast_absent(comparison: Comparison, baselines: Sequence[str]) -> Mapping[str, tuple[Contrast, ...]]:
    systems = comparison.systems
    places = [systems.index(name) for name in baselines]
    families = [[(other, at) for other in range(len(systems)) if other != at] for at in places]
    by_measure = [contrast_families(scores, families, comparison.settings) for scores in comparison.scores]
    return {
        name: tuple(contrast for families in by_measure for contrast in families[number])
        for number, name in enumerate(baselines)
    }
