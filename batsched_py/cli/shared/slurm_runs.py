"""Recorded runs of the algorithm `slurm`, which commands show as Slurm's own commands do."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from batsched_py.cli.shared.algorithm import AlgorithmChoice, Warnings, load_from_here
from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.recorded_choice import recorded_choice, recorded_features
from batsched_py.errors import TranscriptError
from batsched_py.runs.slurm.history import JobHistory, job_history
from batsched_py.runs.slurm.instant import scheduler_at
from batsched_py.schedulers.slurm.scheduler import Slurm
from batsched_py.session.session import Session
from batsched_py.site.folder import TRANSCRIPT
from batsched_py.text.display import displayed
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.transcript import Transcript


class SlurmRecording(Struct, frozen=True):
    """A recording of `slurm`.

    Attributes:
        path: its file.
        transcript: its exchanges.
        session: a new session with its options.
        is_timed: False if the times of decisions were measured.
    """

    path: Path
    transcript: Transcript
    session: Session
    is_timed: bool

    def scheduler_at(self, at: float | None) -> Slurm:
        """Return the algorithm as it was at an instant, or at the end; to be called once. TranscriptError."""
        return scheduler_at(self.transcript, self.session, str(self.path), at, timed=self.is_timed)

    def history(self, job: str) -> JobHistory:
        """Return the history of a job; to be called once. TranscriptError."""
        return job_history(self.transcript, self.session, str(self.path), job, timed=self.is_timed)


def open_recording(source: Path, choice: AlgorithmChoice) -> SlurmRecording:
    """Open a recording, or that of a site in its folder; TranscriptError if it is not one of `slurm`."""
    path = source / TRANSCRIPT if source.is_dir() else source
    if not path.exists() and Path(f"{source}_jobs.csv").exists():
        rule = "has files of results only: name the recording of the run (simulate --record RUN.jsonl)"
        raise TranscriptError(str(source), "", rule)
    transcript = Transcript(path, Warnings(), limits=current_limits())
    header = transcript.header or Header()
    chosen = recorded_choice(choice, str(path), header, trusted=False)
    scheduler = load_from_here(chosen.algorithm, choice.options)
    if not issubclass(scheduler, Slurm):
        raise TranscriptError(str(path), "", f"is a run of {displayed(scheduler.name)}, not of slurm")
    session = chosen.session(features=recorded_features(transcript), silent=True)  # the run has shown its warnings
    return SlurmRecording(path, transcript, session, header.clock != "measured")
