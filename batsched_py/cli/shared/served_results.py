"""The results of a run with another simulator: the tables of the algorithm, and the description of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from batsched_py.cli.shared.algorithm import AlgorithmChoice
from batsched_py.cli.shared.described_runs import files_of_choice, this_call
from batsched_py.errors import BatschedError
from batsched_py.model.table import Table
from batsched_py.runs.choice import decider_of
from batsched_py.runs.decision_spool import DecisionSpool
from batsched_py.runs.run_description import (
    RunInputs,
    RunOrigin,
    failure_line,
    write_description,
)
from batsched_py.runs.table_writer import table_files, write_tables
from batsched_py.session.session import Session


def write_results(
    prefix: str,
    choice: AlgorithmChoice,
    session: Session,
    inputs: RunInputs | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    results: Mapping[str, Path] | None = None,
    decisions: DecisionSpool | None = None,
    failure: BaseException | None = None,
) -> None:
    """Write the tables of the session's algorithm, its decisions, and the description of the run.

    AlgorithmError, InputError.

    Args:
        prefix: prefix of the files.
        choice: the algorithm.
        session: the session that has ended.
        inputs: the input files of the run; None if another program read them.
        settings: settings of the simulator in addition to those known to the session.
        results: files written by the simulator, by name.
        decisions: rows of the session; None if there are none.
        failure: the error that ended the run; None if it ended normally.
    """
    tables: Sequence[Table] = ()
    with nullcontext() if failure is None else suppress(BatschedError):
        tables = session.tables()
    write_tables(prefix, tables)
    written = dict(results or {})
    if decisions is not None:
        session.end_log()
        decisions.write()
        written["decisions"] = decisions.path
    known = {
        "protocol": session.dialect.name,
        "clock": choice.clock,
        "requests": choice.requests,
        "compute_sharing": session.view.compute_sharing,
        **(settings or {}),
    }
    origin = RunOrigin(
        RunInputs(files=files_of_choice(choice)) if inputs is None else inputs,
        decider_of(choice.algorithm, session),
        known,
        this_call(),
    )
    written |= table_files(prefix, tables)
    write_description(prefix, origin, written, failure="" if failure is None else failure_line(failure))
