"""What holds for all tests: the slowest files first, the same inputs each time, interrupts that reach commands."""

import importlib
import os
import signal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.parts import Parts

# With one file to a worker, one of these at the end would have the other workers wait. Those that took longest first,
# as measured in November 2026, with the time that they wait.
SLOWEST = (
    "docs/test_documents.py",
    "service/web/test_openapi.py",
    "renderer/test_driver_contract.py",
    "service/web/test_page_browser.py",
    "test_site_sync_browser.py",
    "test_site_sync.py",
    "service/jobs/test_pool.py",
    "service/test_comparing.py",
    "renderer/test_hidden_text_fetched.py",
    "renderer/test_pixels.py",
    "renderer/test_hidden_text.py",
    "renderer/test_moments.py",
    "renderer/test_pixels_places.py",
    "renderer/test_pixels_letters.py",
    "renderer/test_pixels_animations.py",
    "analysis/test_contract.py",
    "test_patterns.py",
    "docs/test_site_browser.py",
    "test_render_modes.py",
    "service/web/test_hostile_site.py",
    "renderer/test_hostile_scripts.py",
    "renderer/test_hostile_network.py",
    "library/test_urls.py",
    "library/test_private_hosts.py",
    "renderer/test_pixels_fetched.py",
    "service/web/test_quotas_browser.py",
    "service/jobs/test_overrun.py",
    "test_cli_browser.py",
    "renderer/test_replay.py",
    "test_report_browser.py",
    "service/test_stores.py",
    "bulk/test_command.py",
    "snapshot/test_store.py",
    "service/test_adaptive.py",
    "service/jobs/test_render_modes.py",
    "examples/test_demo.py",
    "renderer/test_pixel_oracle.py",
    "renderer/test_settling.py",
    "fuzz/test_hidden.py",
    "bulk/test_rendering.py",
    "bulk/test_cleaning.py",
    "test_cli_targets.py",
    "test_cli_manners.py",
    "renderer/test_hostile_pages.py",
    "renderer/test_leaks.py",
    "renderer/test_hostile_frames.py",
    "renderer/test_host_rules.py",
    "analysis/test_damaged.py",
    "experiments/test_running.py",
    "experiments/test_command.py",
    "test_cli.py",
    "renderer/test_extras.py",
    "renderer/test_sample_browser.py",
    "renderer/test_memory.py",
)
# Files and tests that take seconds each, most of them because they start processes; make quick leaves them out.
SLOW = (
    "analysis/test_auto.py::test_processes_with_other_seeds_and_other_instructions_say_the_same",
    "analysis/test_contract.py::test_many_siblings_cost_in_proportion",
    "analysis/test_contract.py::test_two_processes_with_different_hash_seeds_say_the_same",
    "analysis/test_cst.py::test_tables_agree_with_the_plain_tree",
    "analysis/test_fields.py::test_many_records_cost_in_proportion",
    "analysis/test_link_lists.py::test_navigation_agrees_with_the_plain_walk",
    "analysis/test_markdown.py::test_100000_nested_elements",
    "analysis/test_markdown_reading.py::",
    "analysis/test_mdr.py::test_matching_is_that_of_the_plain_form",
    "analysis/test_mdr.py::test_regions_are_those_of_the_plain_form",
    "analysis/test_selection.py::test_the_same_elements_as_another_library_finds",
    "analysis/test_sst.py::test_tables_agree_with_the_plain_tree",
    "analysis/test_wobm.py::test_regions_are_those_of_the_plain_form",
    "analysis/test_writers.py::test_10000_equal_siblings",
    "analysis/test_writers.py::test_two_processes_with_different_hash_seeds_write_the_same_bytes",
    "archive/test_bounds.py::test_pages_of_an_archive_are_not_held",
    "archive/test_damaged.py::test_500_damaged_archives_lose_nothing_that_is_whole",
    "bulk/test_cleaning.py::test_processes_give_the_rows_of_one",
    "bulk/test_command.py::test_an_interrupted_run_ends_at_once_and_goes_on",
    "bulk/test_learning.py::test_processes_learn_the_same",
    "bulk/test_running.py::test_a_shard_that_kills_its_worker_is_listed_and_the_others_are_done",
    "bulk/test_running.py::test_workers_killed_at_any_moment_lose_and_double_nothing",
    "experiments/test_command.py::",
    "experiments/test_grids.py::test_the_experiments_tell_classes_apart_where_noise_is_gone",
    "experiments/test_running.py::",
    "renderer/test_leaks.py::test_many_pages_leave_nothing_behind",
    "renderer/test_long_tags.py::test_it_reads_as_by_looking_at_each_tag",
    "renderer/test_proxy.py::test_a_slow_reader_holds_the_server_back",
    "renderer/test_proxy.py::test_slow_heads_and_silent_connections_are_ended",
    "renderer/test_sample.py::TestAlwaysTheSame::",
    "renderer/test_sample.py::TestResuming::test_after_an_interruption_at_every_event",
    "service/jobs/test_overrun.py::",
    "service/jobs/test_pool.py::",
    "service/jobs/test_space.py::test_a_thousand_jobs_of_a_megabyte_leave_nothing",
    "service/jobs/test_work.py::TestHeld::test_the_pages_of_a_sample",
    "service/web/test_connections.py::TestFloods::test_half_sent_heads_shut_nobody_out_who_has_a_token",
    "service/web/test_downloads.py::test_what_is_deleted_is_room_for_everybody",
    "service/web/test_guard.py::TestConnections::",
    "service/web/test_openapi.py::",
    "service/web/test_pages.py::TestTables::test_are_bounded",
    "service/web/test_preview.py::test_hostile_text_costs_seconds_at_most",
    "snapshot/test_store.py::test_a_flipped_bit_of_the_index_changes_no_answer",
    "snapshot/test_store.py::test_a_writer_killed_at_any_moment_leaves_nothing_half_written",
    "snapshot/test_store.py::test_several_processes",
    "test_cli.py::TestClean::test_equal_commands_give_equal_bytes_in_every_process",
    "test_cli_records.py::test_formulas_and_line_ends_stay_harmless",
    "test_hostile_words.py::",
    "test_patterns.py::test_a_quadratic_pattern_is_caught",
    "test_patterns.py::test_no_",
    "tools/test_fuzz.py::",
)
_PLACES = {name: place for place, name in enumerate(SLOWEST)}


def pytest_configure(config: pytest.Config) -> None:
    # Commands read no configuration file of whoever runs the tests.
    os.environ["XDG_CONFIG_HOME"] = os.devnull
    # A shell starts what it runs in the background with interrupts ignored, and so would be all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The same examples in every run, so that only a change of the code changes the result; with the option
    # --hypothesis-profile=search they are others each time. How long one takes says nothing on a busy machine.
    settings.register_profile("search", deadline=None)
    settings.register_profile("steady", deadline=None, derandomize=True)
    settings.load_profile("steady")
    # Hypothesis also draws the constants of all modules that are loaded, hence of tests that happened to run before.
    if not (config.getoption("--hypothesis-profile") or os.environ.get("DOMSIEVE_FUZZ_REPORT")):
        providers._get_local_constants = Constants


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Twice as many as there are processors, because tests with a browser wait for half of their time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores if config.option.markexpr else 2 * cores


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a worker one file at a time, or a part of a long one."""
    if config.getoption("dist") != "loadfile":
        return None
    scheduling = importlib.import_module("xdist.scheduler").LoadFileScheduling(config, log)
    scheduling._split_scope = Parts().of
    return scheduling


@pytest.hookimpl(tryfirst=True)  # before -m is judged
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if name(item).startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: _PLACES.get(name(item).partition("::")[0], len(SLOWEST)))


def name(item: pytest.Item) -> str:
    """Return the name of a test as the lists above have it."""
    return item.nodeid.removeprefix("tests/")
