"""The tables of an algorithm about its run."""

from __future__ import annotations

from typing import Any

from batsched_py.errors import AlgorithmError
from batsched_py.interruption import is_interruption
from batsched_py.model.table import Table, checked_tables
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.view import View
from batsched_py.session.error_context import where
from batsched_py.text.display import displayed


def run_tables(scheduler: Scheduler[Any], view: View) -> tuple[Table, ...]:
    """Return the tables; AlgorithmError if the algorithm fails, or if one of them cannot be written."""
    try:
        return checked_tables(scheduler.tables(view))
    except BaseException as error:
        if is_interruption(error):
            raise
        why = displayed(" ".join(f"{type(error).__name__}: {error}".split()))
        raise AlgorithmError(f"tables of {scheduler.name}: {why}{where(error)}") from error
