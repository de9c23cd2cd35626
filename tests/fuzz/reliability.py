"""Attack everything, and write what came of it to docs/reliability.md: `python -m fuzz.reliability [SECONDS]` in `tests`.

SECONDS is the time for each reader, 20 by default. The script needs what the slow tests need (`make test-slow`), and
leaves out what is not installed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.killed import kill_study, kill_sweep
from fuzz.mutate import READERS, SLOW, fuzz
from fuzz.outcome import SEED, Outcome
from fuzz.servers import BEHAVIOURS, CLIENTS, LIMIT, attack_all, is_installed
from fuzz.viewer import attack as attack_viewer

PAGE = """# Reliability

What was tried, how often, and with what outcome. `make reliability` writes this page; the seed is {seed}. `make
test-slow` repeats all of it, for a shorter time with readers, and also runs the compiled part under the address and
undefined-behaviour sanitizers. Tests that are part of every run hold each defect that was found on the way.

## Readers

Every reader gets files that are mutated from small valid ones: bytes are flipped, cut, repeated, spliced and replaced. A reader may
return a result or raise one of judged's errors; any other error, or more than {slow:g} CPU seconds for one input, is a defect.

| reader | inputs | read | refused in words | defects |
|---|---:|---:|---:|---:|
{readers}

## Servers

Every client meets {behaviours} servers: they stall, drop, drip a byte now and then, flood, redirect to another address, ask to wait for
a year, answer with a bomb or with nested JSON, and lie: ids that do not exist, NaN, vectors of another length, an order of no results.
A client may return or raise one of judged's errors, within {limit:g} s where its timeout is 1 s, and must not speak to another address.
Engines of vector indexes run in a process that is ended after its time.

| client | servers | answer used | refused in words | defects |
|---|---:|---:|---:|---:|
{servers}

## Killed in the middle

Sweeps and studies are killed with SIGKILL, with their children, after a random amount of work, and started again. What was finished
before must be there, unchanged and once; in the end nothing may be missing.

| job | kills | checks held | defects |
|---|---:|---:|---:|
{killed}

## The viewer

Requests are wrong in one way or several; each must be refused, no answer may have a byte of a file beside the folder, and the viewer
must answer afterwards.

| attack | tried |
|---|---:|
{viewer}

Defects: {viewer_defects:,}.
"""
KILLS = 20
REQUESTS = 5_000


def main() -> None:
    """Attack, write the page, and print defects."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    warnings.simplefilter("ignore")
    outcomes: list[Outcome] = []

    def keep(outcome: Outcome) -> Outcome:
        outcomes.append(outcome)
        sys.stderr.write(f"{outcome.target}: {outcome.tried:,} tried, {len(outcome.defects):,} defects\n")
        return outcome

    readers = [keep(fuzz(reader, seconds)) for reader in READERS]
    servers = [keep(attack_all(client)) for client in CLIENTS if is_installed(client)]
    killed = [keep(_in_folder(kill, KILLS)) for kill in (kill_sweep, kill_study)]
    viewer = keep(_in_folder(attack_viewer, REQUESTS))
    page = PAGE.format(
        seed=SEED,
        slow=SLOW,
        limit=LIMIT,
        behaviours=len(BEHAVIOURS),
        readers="\n".join(_rows(readers, "read", "refused")),
        servers="\n".join(_rows(servers, "answered", "refused")),
        killed="\n".join(
            f"| {one.target} | {KILLS} | {one.held.total():,} | {len(one.defects):,} |" for one in killed
        ),
        viewer="\n".join(f"| {kind} | {count:,} |" for kind, count in sorted(viewer.held.items())),
        viewer_defects=len(viewer.defects),
    )
    (Path(__file__).parents[2] / "docs" / "reliability.md").write_text(page, encoding="utf-8")
    sys.stdout.writelines(f"{one.target} {defect}\n" for one in outcomes for defect in one.defects[:20])


def _in_folder(attack: Callable[[Path, int], Outcome], count: int) -> Outcome:
    with TemporaryDirectory(prefix="judged-attack-") as folder:
        return attack(Path(folder), count)


def _rows(outcomes: list[Outcome], good: str, refused: str) -> Iterator[str]:
    for one in outcomes:
        counts = (one.tried, one.held[good], one.held[refused], len(one.defects))
        yield f"| {one.target} | " + " | ".join(f"{count:,}" for count in counts) + " |"


if __name__ == "__main__":
    main()
