"""The site, for all tests of the documentation that want it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.site import build


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Built once, whatever the number of pytest-xdist's workers."""
    folder = tmp_path_factory.getbasetemp()
    return build(folder.parent if hasattr(request.config, "workerinput") else folder)
