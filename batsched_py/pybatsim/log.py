"""The logger that schedulers written for pybatsim write to."""

from __future__ import annotations

import logging
from typing import Final

from batsched_py.text.display import displayed_line

#: The logger of `self.logger` and `self.bs.logger`, under pybatsim's name.
LOGGER: Final = logging.getLogger("batsim.batsim")


def _escape(record: logging.LogRecord) -> bool:
    """Let the text of a record be safe to display: schedulers quote names and messages of Batsim."""
    try:
        text = record.getMessage()
    except (TypeError, ValueError, KeyError):
        return True  # the handler reports that the arguments do not fit
    record.msg, record.args = displayed_line(text), None
    return True


LOGGER.addFilter(_escape)
