"""An algorithm for `-s` that says what a recorded client of Batsim 5 said; the text of Batsim names the recording."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from batsched_py.api import Plan, Scheduler, View, option
from tests.clone import ROOT
from tests.differential.our_side import Script, say_next
from tests.differential.recorded5 import Recorded5

#: The environment variables with the folders of the recordings and of their inputs.
FOLDER: Final = "RECORDINGS_OF_BATSIM_5"
INPUTS: Final = "INPUTS_OF_BATSIM_5"


@dataclass(frozen=True, slots=True)
class Recording:
    """Its options."""

    recording: str = option("", "the recording to repeat", peer_text=r"\w+")


class RecordedClient(Scheduler[Recording]):
    """Says what was recorded, message by message."""

    name: ClassVar[str] = "recorded_client"
    uses_dynamic_jobs: ClassVar[bool] = True

    def __init__(self, options: Recording) -> None:
        super().__init__(options)
        folder = Path(os.environ.get(FOLDER, ROOT / "tests" / "data" / "batsim5"))
        inputs = Path(os.environ.get(INPUTS, folder / "inputs"))
        file = folder / f"{options.recording}.jsonl"
        self._script = Script(Recorded5(file, inputs)) if options.recording else None

    def decide(self, view: View, plan: Plan) -> None:
        """Say the next reply."""
        assert self._script is not None
        say_next(self._script, view, plan)
