from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from evalcore.sandbox.sandbox import Sandbox
from ngramscan.errors import SandboxError
from ngramscan.progress import Progress
from tests.support.places import SHARED

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A shell that runs the tests in the background has them ignore Ctrl-C, and with them every command
# that they start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests start hundreds of processes, which would each compile what they import.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The same run has the same examples for everybody: Hypothesis would take another profile where CI
# is set. It also draws constants of those of our modules that are imported by then, so that a test
# has other examples if other files are selected. A machine that is busy is no fault, so that no
# example has a time limit. NGRAMSCAN_FULL=1 draws new ones.
settings.register_profile(
    "everywhere",
    settings.get_profile("default"),
    deadline=None,
    derandomize=os.environ.get("NGRAMSCAN_FULL") != "1",
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("everywhere")

numbers = count()


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the journal of the person who runs it, or asks a real host."""
    cache = tmp_path_factory.getbasetemp() / f"cache{next(numbers)}"  # made where it is used
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    for name in os.environ.keys() - {"NGRAMSCAN_FULL"}:
        if name.startswith(("NGRAMSCAN_", "EVALCORE_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def silent() -> Progress:
    return Progress()


@pytest.fixture
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return SHARED


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium, once per module and worker; nothing is downloaded for it.

    While it runs, its thread has a running event loop: tests of other modules may start their own.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Where it is installed, the shell takes a fifth less of the processor.
        names = ("chromium-headless-shell", "chromium", playwright.chromium.executable_path)
        path = next(filter(None, map(shutil.which, names)), None)
        if path is None:
            pytest.skip("there is no browser: install the system's package chromium")
        options = ["--no-sandbox"] * (os.geteuid() == 0)
        with playwright.chromium.launch(executable_path=path, args=options) as browser:
            yield browser


@pytest.fixture(scope="session")
def sandbox_here() -> None:
    """What runs programs that models wrote needs a system that can keep them from doing harm."""
    try:
        with Sandbox(workers=1):
            pass
    except SandboxError as error:
        pytest.skip(f"no sandbox here: {error}")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: some tests wait."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What uses the shared folder is marked by using it; slow and network tests run on request."""
    gc.freeze()  # what is imported now stays: no collection need look at it
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)
