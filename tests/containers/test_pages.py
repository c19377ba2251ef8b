"""Pages of the documentation whose commands start Batsim in a container: followed with a stand-in for its image."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.containers.launch import BATSIM_IMAGE
from tests.containers.engine import Engine
from tests.containers.images import STAND_IN
from tests.docs.following import follow, needs_engine, runnable
from tests.docs.pages import PAGES, name


@pytest.mark.parametrize("page", [page for page in PAGES if needs_engine(page)], ids=name)
def test_the_commands_of_a_page_do_what_it_shows(page: Path, with_batsim: Engine, tmp_path: Path) -> None:
    """As pages without containers; the stand-in is called as the public image is."""
    repository, _, tag = BATSIM_IMAGE.partition(":")
    assert with_batsim.client.images.get(STAND_IN).tag(repository, tag)
    follow(page, runnable(page), tmp_path, DOCKER_HOST=with_batsim.address)
