"""docs/site-api.md: the API of a site, as its OpenAPI description has it."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("litestar")

from tests.docs.site_api import PAGE, page


def test_the_reference_is_that_of_the_api() -> None:
    """`python -m tests.docs.site_api` writes it anew after a change; each parameter has a meaning."""
    written = page()
    assert PAGE.read_text() == written
    assert re.findall(r"^\* .*:\s*$", written, re.MULTILINE) == []
