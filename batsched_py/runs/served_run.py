"""The files of a run with another simulator: the tables of the algorithm, its decisions, and the description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from batsched_py.errors import BatschedError
from batsched_py.files.output_file import writing
from batsched_py.model.table import Table
from batsched_py.results.place_files import CAPACITIES, PLACES, write_capacities, write_places
from batsched_py.runs.choice import Choice
from batsched_py.runs.decision_spool import DecisionSpool
from batsched_py.runs.run_description import Call, Decider, RunInputs, RunOrigin, failure_line, write_description
from batsched_py.runs.table_writer import table_files, write_tables
from batsched_py.session.session import Session


def write_served_run(
    prefix: str,
    choice: Choice,
    session: Session,
    inputs: RunInputs,
    call: Call,
    *,
    settings: Mapping[str, Any] | None = None,
    results: Mapping[str, Path] | None = None,
    decisions: DecisionSpool | None = None,
    failure: BaseException | None = None,
) -> None:
    """Write the files of `serve -e PREFIX`. AlgorithmError, InputError.

    Args:
        prefix: prefix of the files.
        choice: the algorithm.
        session: the session that has ended.
        inputs: the input files of the run, as far as they are known.
        call: the call that made it.
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
    written |= _write_places(prefix, session)
    known = {
        "protocol": session.dialect.name,
        "clock": choice.clock,
        "requests": choice.requests,
        "compute_sharing": session.view.compute_sharing,
        **(settings or {}),
    }
    origin = RunOrigin(inputs, Decider(choice.algorithm, session.options, session.explicit_options), known, call)
    written |= table_files(prefix, tables)
    write_description(prefix, origin, written, failure="" if failure is None else failure_line(failure))


def _write_places(prefix: str, session: Session) -> dict[str, Path]:
    """Write where tasks ran, if jobs request parts of hosts and Batsim does not know it; return name -> file."""
    capacity = session.placed.capacity
    if capacity is None:
        return {}
    found = {"places": Path(prefix + PLACES), "capacities": Path(prefix + CAPACITIES)}
    with writing(found["places"]):
        write_places(found["places"], session.placed.places.items())
    with writing(found["capacities"]):
        write_capacities(found["capacities"], capacity)
    return found
