"""The logger that schedulers written for pybatsim write to."""

from __future__ import annotations

import logging
from typing import Final

#: The logger of `self.logger` and `self.bs.logger`, under pybatsim's name.
LOGGER: Final = logging.getLogger("batsim.batsim")
