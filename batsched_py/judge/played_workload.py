"""Rules that a finished run of a contract workload breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Final

import orjson
from msgspec import Struct

from batsched_py.judge.refusals import job_in, rule_of_stop
from batsched_py.judge.verdicts import Verdict
from batsched_py.judge.witnesses import Witness
from batsched_py.judge.workloads import ChainedCase
from batsched_py.results.records import JobRecord
from batsched_py.scheduling.base import Scheduler
from batsched_py.testing.case import WORKLOAD, Case
from batsched_py.testing.play import Played
from batsched_py.testing.rules import ROUNDING, ContractTrial, Liberties, broken_rule
from batsched_py.text.wording import counted, seconds

#: Number of calls without an effect that a run may have.
_MOST_CALLS: Final = 100
#: A job starves that waits longer than this many times what FCFS needs, and is passed by at least so many jobs.
_PATIENCE: Final = 8.0
_PASSED: Final = 50
#: Workload with a starving job -> its place, and the seconds that it waits with FCFS, computed by a run.
STARVING: Final = {"large-among-small": (0, 16.0), "small-among-large": (0, 10.0)}
#: Part of the text of a broken rule of the contract -> the rule of the judge.
_CONTRACT: Final = (
    ("was rejected, though", "rejects"),
    ("was killed;", "kills"),
    ("the run does not end", "unstarted"),
    ("never ended", "unstarted"),
    ("had failed", "unavailable-host"),
    (" ran on hosts ", "busy-host"),
    (" ran on ", "wrong-size"),
)


class PlayedWorkload(Struct, frozen=True):
    """A finished run of a workload, with what was seen of the algorithm."""

    name: str
    case: Case
    played: Played
    scheduler: type[Scheduler[Any]]
    witness: Witness

    def broken_rules(self) -> Iterator[Verdict]:
        """Yield the rules that are broken, each once."""
        yield from self._contract()
        yield from self._changed_jobs()
        yield from self._polling()
        yield from self._conditions()
        if self.name in STARVING:
            yield from self._starvation(*STARVING[self.name])
        if self.name == "exact" and not self.played.deadlock:
            yield from self._promises()
        if self.witness.output.getvalue():
            first = self.witness.output.getvalue().splitlines()[0]
            yield self._verdict("prints", f"decide wrote to standard output: {first!r}")

    def _verdict(self, rule: str, why: str, time: float | None = None, job: str = "") -> Verdict:
        return Verdict(rule=rule, workload=self.name, why=why, time=time, job=job or job_in(why))

    def _contract(self) -> Iterator[Verdict]:
        """Yield each violation of the contract once; what is allowed is filtered later."""
        for liberties in (Liberties(), Liberties(may_kill=True, may_reject=True, may_leave=True)):
            why = broken_rule(ContractTrial(self.case, self.played, self.scheduler, liberties))
            if why and (liberties == Liberties() or not any(part in why for part, _ in _CONTRACT)):
                rule = next((rule for part, rule in _CONTRACT if part in why), "contract")
                rule = rule_of_stop(why) if rule == "unstarted" else rule
                job = job_in(why)
                ending = next((one for one in self.played.endings if one.job.id == job), None)
                yield self._verdict(rule, why, None if ending is None else ending.finish, job)
                return

    def _changed_jobs(self) -> Iterator[Verdict]:
        seen = self.witness
        if seen.changed:
            yield self._verdict("changes-jobs", f"decide changed the job {seen.changed}", seen.changed_at, seen.changed)

    def _polling(self) -> Iterator[Verdict]:
        vain = [request for request, reply in self.played.exchanges if _is_in_vain(request, reply)]
        if len(vain) > _MOST_CALLS:
            why = f"{counted(len(vain), 'requested call')} had no effect but further calls"
            yield self._verdict("polling", why, _time(vain[_MOST_CALLS]))

    def _conditions(self) -> Iterator[Verdict]:
        if not isinstance(self.case, ChainedCase):
            return
        records = {record.job.id: record for record in self.played.endings}
        for job, other in self.case.after:
            one, needed = records.get(f"{WORKLOAD}!{job:03d}"), records.get(f"{WORKLOAD}!{other:03d}")
            if one and needed and not one.rejected and one.start < needed.finish - ROUNDING:
                why = f"{one.job.id} started before {needed.job.id} ended, on which it depends"
                yield self._verdict("conditions", why, one.start, one.job.id)
                return

    def _starvation(self, place: int, needed: float) -> Iterator[Verdict]:
        job_id = f"{WORKLOAD}!{place:03d}"
        record = next((one for one in self.played.endings if one.job.id == job_id), None)
        if record is None or record.rejected:
            return
        passed = sum(_passed(record, other) for other in self.played.endings)
        wait = record.start - record.job.submit_time
        if wait > _PATIENCE * needed and passed >= _PASSED:
            why = (
                f"{job_id} of {counted(record.job.size, 'host')} waited {seconds(wait)} s while {passed} later jobs"
                f" started; first come, first served needs {seconds(needed)} s"
            )
            yield self._verdict("starvation", why, record.start, job_id)

    def _promises(self) -> Iterator[Verdict]:
        for record in sorted(self.played.endings, key=lambda one: one.start):
            promised = self.witness.promises.get(record.job.id)
            if promised is not None and not record.rejected and record.start > promised + ROUNDING:
                why = f"{record.job.id} started at {seconds(record.start)}, and was promised {seconds(promised)}"
                yield self._verdict("broken-promise", why, record.start, record.job.id)
                return


def decisions_until_the_first_end(played: Played) -> Sequence[tuple[float, object]]:
    """Return (time, commands) of each message before the first end of a job."""
    first = min((ending.finish for ending in played.endings if not ending.rejected), default=0.0)
    exchanges = [(_time(request), _commands(reply)) for request, reply in played.exchanges]
    return list(takewhile(lambda one: one[0] < first, exchanges))


def _passed(record: JobRecord, other: JobRecord) -> bool:
    later = other.job.submit_time > record.job.submit_time
    return not other.rejected and later and other.start < record.start


def _time(request: bytes) -> float:
    return float(orjson.loads(request)["now"])


def _commands(reply: bytes) -> list[Any]:
    return [(event["type"], event["data"]) for event in orjson.loads(reply)["events"]] if reply else []


def _is_in_vain(request: bytes, reply: bytes) -> bool:
    """Return True for a message of requested calls that is answered by nothing but calls."""
    asked = [event["type"] for event in orjson.loads(request)["events"]]
    called = bool(asked) and all(kind == "REQUESTED_CALL" for kind in asked)
    return called and all(kind == "CALL_ME_LATER" for kind, _ in _commands(reply))
