"""A handover: in the middle of a run, another algorithm decides from now on, or the same one by other options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from batsched_py.errors import OptionError
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.view import View
from batsched_py.session.option_values import make_options
from batsched_py.session.rehearsal import is_rehearsed
from batsched_py.session.scheduler_factory import check_needs
from batsched_py.session.session import Session

# An algorithm keeps books of its own, which no other one can read. But those that can be rehearsed decide by the View:
# their new object needs only the jobs, and plans the waiting ones as if all had just come, in their order. Jobs
# that run stay where they are. Promises of the former algorithm are dropped: they are not those of the new one.
#
# Leases cannot be begun anew, since suspended, prepared and reserved ones are in books only. There the object stays,
# and changes its own rules. It hands over only jobs that any algorithm can go on with.


def hand_over(session: Session, kind: type[Scheduler[Any]], values: Mapping[str, Any]) -> None:
    """Let an algorithm decide in a session from its next message on.

    OptionError if it cannot go on with the jobs there, needs what the run has not, or options cannot change. The
    session is for nothing but this run, and must be between two messages.

    Args:
        session: the session of the run.
        kind: the algorithm.
        values: values of its options; the others are those of the run if it is the same algorithm, else the defaults.
    """
    former, view, plan = session.scheduler, session.view, session.plan
    options = changed_options(former, kind, values)
    if type(former) is kind and not is_rehearsed(kind):
        former.change_options(options, view)
        return
    if why := _obstacle(former, kind, view):
        raise OptionError(f"{kind.name} cannot take over from {former.name}: {why}")
    successor = kind(options)
    check_needs(successor, view.config, view)
    for job_id in list(plan.promises):
        plan.withdraw_promise(job_id)
    successor.setup(view)
    session.hand_over(successor)


def changed_options(former: Scheduler[Any], kind: type[Scheduler[Any]], values: Mapping[str, Any]) -> Any:
    """Return the options with which an algorithm takes over; OptionError if they contradict each other."""
    if type(former) is not kind:
        return make_options(kind.options_type, values, kind.name)
    try:
        return replace(former.options, **values)
    except (TypeError, ValueError) as error:
        raise OptionError(f"options of {kind.name}: {error}") from error


def _obstacle(former: Scheduler[Any], kind: type[Scheduler[Any]], view: View) -> str:
    """Return why an algorithm cannot take over from another one; "" if it can."""
    if not is_rehearsed(kind):
        return "it would begin with no knowledge of the jobs that run"
    if view.asleep or view.switching:
        return f"host {view.asleep | view.switching} sleeps or switches"
    if view.compute_sharing and former.counts_shares != kind.counts_shares:
        return "jobs share hosts"
    return "" if is_rehearsed(type(former)) else former.binding(view)
