"""Pictures by matplotlib: what it logs while it is loaded."""

from __future__ import annotations

import logging

import pytest

from batsched_py.reporting.pictures.drawing import draw

pytest.importorskip("matplotlib")


def test_a_slow_list_of_fonts_is_no_message(caplog: pytest.LogCaptureFixture) -> None:
    """Matplotlib warns of it after five seconds, once on each machine; other warnings about fonts are kept."""
    draw("a test", "curves", lambda paper: paper)
    logger = logging.getLogger("matplotlib.font_manager")
    logger.warning("Matplotlib is building the font cache; this may take a moment.")
    logger.warning("findfont: Font family 'x' not found.")
    assert caplog.messages == ["findfont: Font family 'x' not found."]
