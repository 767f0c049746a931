"""What holds for all tests: the slowest files start first, and an interrupt reaches the commands that tests start."""

import signal

import pytest
from hypothesis import settings

# With one file to a worker, one of these at the end would have the other workers wait. Longest first, as measured.
SLOWEST = (
    "renderer/test_leaks.py",
    "renderer/test_hostile_scripts.py",
    "renderer/test_hostile_network.py",
    "service/web/test_page_browser.py",
    "analysis/test_contract.py",
    "service/web/test_hostile_site.py",
    "service/jobs/test_pool.py",
    "renderer/test_hostile_pages.py",
    "evaluation/test_running.py",
    "evaluation/test_command.py",
    "test_cli.py",
    "renderer/test_extras.py",
    "renderer/test_hostile_frames.py",
    "test_cli_browser.py",
    "renderer/test_sample_browser.py",
    "renderer/test_settling.py",
    "test_report_browser.py",
    "service/test_comparing.py",
    "renderer/test_memory.py",
)
_PLACES = {name: place for place, name in enumerate(SLOWEST)}


def pytest_configure() -> None:
    # A shell starts what it runs in the background with interrupts ignored, and so would be all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile(
        "steady", deadline=None
    )  # how long an example takes says nothing on a busy machine
    settings.load_profile("steady")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(
        key=lambda item: _PLACES.get(item.nodeid.partition("::")[0].removeprefix("tests/"), len(SLOWEST))
    )
