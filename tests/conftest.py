"""What every test runs under."""

import os
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

#: In CI the same commit tries the same examples; at a desk each run tries new ones and remembers what failed.
settings.register_profile("ci", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


class OneEngine(LoadScopeScheduling):  # type: ignore[misc]  # it has no annotations
    """Tests go to whichever process is idle, but those that share a container engine and its images to the same."""

    def _split_scope(self, nodeid: str) -> str:
        folder = "tests/containers/"
        return folder if nodeid.startswith(folder) else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneEngine:
    """For every way to ask for several processes: `-n 2`, `-n auto`."""
    return OneEngine(config, log)
