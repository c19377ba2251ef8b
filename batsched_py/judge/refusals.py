"""The rule that an error of a run breaks."""

from __future__ import annotations

import re
from typing import Final

from batsched_py.campaigns.run_limits import is_memory_error
from batsched_py.errors import AlgorithmError, BatschedError, PlanError

#: The text of an error of the plan or of the referee -> the rule, the first that fits.
_RULES: Final = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (r"it runs already", "started-twice"),
        (r"it has ended", "ended-job"),
        (r"no such job|a job is needed|id of a job is needed", "unknown-job"),
        (r"not in the platform", "unknown-host"),
        (r"\bunavailable\b", "unavailable-host"),
        (r"running a job|running tasks", "busy-host"),
        (r"it needs .*hosts?, not|it needs at least one host", "wrong-size"),
        (r"it does not run", "idle-kill"),
        (r"(call|wake|CALL_ME_LATER).*later than now", "past-call"),
        (r"it depends on|waits for|is held", "conditions"),
    )
)
#: The text of a run that does not end -> the rule.
_ENDS: Final = (
    (re.compile(r"calls that were asked for|no time has passed|the run does not end: \d+ messages"), "endless"),
    (re.compile(r""), "unstarted"),
)
_JOB: Final = re.compile(r"\bw0!\d+\b")


def rule_of_error(error: BaseException) -> str:
    """Return the id of the rule that an error of a run breaks."""
    cause = error.__cause__ if isinstance(error, AlgorithmError) else error
    if is_memory_error(error):
        return "memory"
    if isinstance(cause, SystemExit):
        return "exits"
    if isinstance(cause, AttributeError) and "immutable type" in str(cause):
        return "changes-jobs"
    if isinstance(cause, TypeError) and "does not support item assignment" in str(cause):
        return "changes-jobs" if "mappingproxy" in str(cause) else "raises"
    if isinstance(error, AlgorithmError) and not isinstance(cause, PlanError):
        return "raises"
    text = str(cause)
    found = next((rule for pattern, rule in _RULES if pattern.search(text)), None)
    if found is not None:
        return found
    if "does not end" in text:
        return rule_of_stop(text)
    return "refused" if isinstance(error, BatschedError) else "raises"


def rule_of_stop(text: str) -> str:
    """Return the id of the rule that a run breaks which stopped with this text instead of ending."""
    return next(rule for pattern, rule in _ENDS if pattern.search(text))


def job_in(text: str) -> str:
    """Return the first id of a job in a text; "" if there is none."""
    found = _JOB.search(text)
    return found[0] if found else ""
