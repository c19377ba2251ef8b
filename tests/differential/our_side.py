"""Our side: a session is asked what real Batsim asked; an algorithm that says what was recorded must be let.

So our state has to believe all that Batsim told, and our Plan has to allow all that a scheduler really said to it. The
replies are compared as facts: the session sends calls first, and nothing that was decided for a later time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from batsched_py.api import Job, Plan, Scheduler, View
from batsched_py.errors import BatschedError, RemoteProtocolError
from batsched_py.protocol.batsim5.envelope import parse
from batsched_py.protocol.batsim5.greeting import is_greeting
from batsched_py.protocol.codec import decode
from batsched_py.protocol.commands import (
    CallMeLater,
    CallPeriodically,
    ChangeJobState,
    CreateProbe,
    ExecuteJob,
    KillJob,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetJobMetadata,
    SetResourceState,
    StopCalls,
    StopProbe,
    StopSimulation,
    ToJobMessage,
)
from batsched_py.protocol.dialect import V14
from batsched_py.protocol.events import REGISTRATION_FINISHED, Nop, Notify, Query
from batsched_py.protocol.fields import read_job
from batsched_py.scheduling.options import NoOptions
from batsched_py.session.session import Session
from batsched_py.transcripts.compare import FactDifference, Tolerance, compare_transcripts
from batsched_py.transcripts.facts import FactKind, read_facts
from batsched_py.transcripts.transcript import Exchange
from tests.differential.recorded import Recorded, UnusableError
from tests.differential.their_side import NEAR, Outcome

#: How the names of recordings begin in which a client makes one mistake.
MISTAKE: Final = "err_"


class Script:
    """The replies of a recorded scheduler, with the facts that an echo of it needs beyond its View."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        #: The replies, the next one last.
        talked = [exchange for exchange in recorded.exchanges if not is_greeting(exchange.request)]
        self.left = [exchange.reply for exchange in reversed(talked)]
        for reply in self.left:
            _check_kinds(reply, recorded)
        #: Ids of its periodic calls.
        self.called = {
            command.call_id
            for reply in self.left
            for command in decode(reply, recorded.dialect.commands, keep_unknown=False).events
            if type(command) is CallPeriodically
        }
        #: Jobs of its own, by id.
        self.submitted: dict[str, Job] = {}


def _check_kinds(reply: bytes, recorded: Recorded) -> None:
    """UnusableError if something was said that no verb says, or that is no reply at all."""
    try:
        commands = decode(reply, recorded.dialect.commands, keep_unknown=False).events
    except RemoteProtocolError as error:
        raise UnusableError(f"its scheduler said what Batsim refuses: {error}") from error
    for command in commands:
        if type(command) not in _VERBS:
            raise UnusableError(f"its scheduler said {type(command).__name__}, for which there is no verb here")


class Echo(Scheduler[NoOptions]):
    """Says what a recorded scheduler said, message by message."""

    name: ClassVar[str] = "echo"
    script: ClassVar[Script]

    def decide(self, view: View, plan: Plan) -> None:
        """Say the next recorded reply by the verbs of the Plan."""
        say_next(self.script, view, plan)


def say_next(script: Script, view: View, plan: Plan) -> None:
    """Say the next reply of a script by the verbs of the Plan."""
    for command in decode(script.left.pop(), script.recorded.dialect.commands, keep_unknown=False).events:
        _VERBS[type(command)](command, view, plan, script)


def follow(recorded: Recorded) -> Outcome:
    """Ask a session what was asked; it must answer without an error, and say what was said."""

    class Echoing(Echo):
        script = Script(recorded)
        needs_dynamic_jobs = recorded.dynamic_jobs

    session = Session(
        Echoing,
        open_store=lambda _: recorded.jobs_in_redis(),
        features=recorded.features,
        compute_sharing=True,  # of Batsim 5, which does not look
    )
    answered: list[Exchange] = []
    why: list[str] = []
    for exchange in recorded.exchanges:
        try:
            reply = session.answer(recorded.told(exchange.request))
            session.check()
        except BatschedError as error:
            why.append(f"exchange {exchange.number}: {type(error).__name__}: {error}")
            break
        answered.append(Exchange(exchange.number, exchange.request, reply))
    if not why:
        found = compare_transcripts(
            recorded.exchanges, answered, Tolerance(NEAR + _latest(recorded)), ignore=recorded.not_compared
        )
        why = [
            f"t={item.time:g} {item.fact.kind} {item.fact.subject}: {item.what}"
            for item in found.differences
            if not _is_said_again(item, recorded) and not _is_of_a_rejected_job(item, session)
        ]
    return Outcome(len(answered), tuple(why))


def is_refused_mistake(recorded: Recorded, outcome: Outcome) -> bool:
    """True if our Plan refuses a mistake that was made on purpose, which Batsim 5 let pass."""
    refusals = [line for line in outcome.why if "AlgorithmError" in line]
    return recorded.name.startswith(MISTAKE) and len(refusals) == len(outcome.why) == 1


def _is_said_again(item: FactDifference, recorded: Recorded) -> bool:
    """True for a kill that was asked for before, perhaps in the same reply: our Plan leaves it out as Batsim does."""
    fact = item.fact
    if item.right is not None or fact.is_event or fact.kind is not FactKind.KILLS:
        return False
    said = [kill for told in read_facts(recorded.exchanges, recorded.dialect) for kill in told.facts]
    alike = [kill for kill in said if not kill.is_event and kill.kind is fact.kind and kill.subject == fact.subject]
    return sum(kill.time <= fact.time for kill in alike) > 1


def _is_of_a_rejected_job(item: FactDifference, session: Session) -> bool:
    """True for metadata of a job that our session had rejected before the algorithm saw it: it can never run.

    So too for the rejection, which came later or never from who was recorded.
    """
    fact = item.fact
    if fact.subject not in session.rejections:
        return False
    return fact.kind is FactKind.REJECTIONS or (item.right is None and fact.kind is FactKind.METADATA)


def _latest(recorded: Recorded) -> float:
    """Seconds by which a recorded scheduler answered late, at most: its decisions were for the time of its answer."""
    talked = [exchange for exchange in recorded.exchanges if not is_greeting(exchange.request)]
    messages = [(parse(item.request), parse(item.reply)) for item in talked]
    return max(float(reply["now"] - request["now"]) for request, reply in messages)


def _start(command: ExecuteJob, view: View, plan: Plan, _: Script) -> None:
    extras: dict[str, Any] = {}
    if command.storage_mapping is not None:
        extras["storage_mapping"] = command.storage_mapping
    if command.additional_io is not None:
        extras["additional_io"] = command.additional_io
    if command.placement != "spread":
        extras["placement"] = command.placement
    if command.overrides:
        extras["overrides"] = command.overrides
    job = view.job(command.job_id)
    assert job is not None
    plan.start(job, command.hosts, command.mapping, **extras)


def _call(command: CallMeLater, view: View, plan: Plan, _: Script) -> None:
    """Batsim 5 calls at once whoever asks for the past, our Plan refuses."""
    if command.at > view.now:
        plan.wake_at(command.at)


def _stop_calls(command: StopCalls, _: View, plan: Plan, script: Script) -> None:
    """Batsim 5 passes over calls that it does not know, our Plan refuses."""
    if command.call_id in script.called:
        plan.stop_calls(command.call_id)


def _reject(command: RejectJob, view: View, plan: Plan, _: Script) -> None:
    """The session itself rejects what can never run."""
    if command.job_id in view.queue:
        plan.reject(_job(command, view), "so it was recorded")


def _submit(command: RegisterJob, view: View, plan: Plan, script: Script) -> None:
    job, profile = command.job, command.profile
    if job is None:  # it was put into Redis: nobody but its scheduler knows what it was
        store = script.recorded.jobs_in_redis()
        job = read_job(command.job_id, dict(store.jobs([command.job_id])[command.job_id]))
        if script.recorded.dialect.name == V14.name:
            profile = store.profiles([(job.workload, job.profile)])[job.workload, job.profile]
    time = min(job.submit_time, view.now)
    # Schedulers rounded their clock up, and one lied; Batsim submits at once whatever it is told, our Plan refuses.
    plan.submit(replace(job, submit_time=time, members={**job.members, "subtime": time}), profile)
    script.submitted[job.id] = job


def _attach(command: SetJobMetadata, view: View, plan: Plan, script: Script) -> None:
    """To a job that waits, or that was registered just now; the session has rejected already what can never run."""
    job = view.job(command.job_id) or script.submitted.get(command.job_id)
    if job is not None:
        plan.set_metadata(job, command.metadata)


def _notify(command: Notify, _: View, plan: Plan, __: Script) -> None:
    if command.kind == REGISTRATION_FINISHED:
        plan.finish_registration()
    else:
        plan.continue_registration()


def _job(command: Any, view: View) -> Any:
    job = view.job(command.job_id)
    assert job is not None, command
    return job


#: Kind of a command -> the verb that says it.
_VERBS: Final[Mapping[type, Callable[[Any, View, Plan, Script], None]]] = {
    ExecuteJob: _start,
    RejectJob: _reject,
    KillJob: lambda command, view, plan, _: plan.kill(
        [run.job for run in view.running if run.job.id in command.job_ids]
    ),
    CallMeLater: _call,
    CallPeriodically: lambda command, _, plan, __: plan.call_every(command.period, command.call_id, command.times),
    StopCalls: _stop_calls,
    CreateProbe: lambda command, _, plan, __: plan._send(command),  # the one verb watches all hosts
    StopProbe: lambda command, _, plan, __: plan._send(command),
    StopSimulation: lambda _, __, plan, ___: plan.stop(),
    RegisterJob: _submit,
    RegisterProfile: lambda command, _, plan, __: plan.register_profile(
        command.workload, command.name, command.profile
    ),
    SetResourceState: lambda command, _, plan, __: plan.set_pstate(command.hosts, int(command.state)),
    SetJobMetadata: _attach,
    ToJobMessage: lambda command, view, plan, _: plan.message(_job(command, view), command.message),
    ChangeJobState: lambda command, view, plan, _: plan.change_state(_job(command, view), command.state),
    Nop: lambda *_: None,
    Query: lambda _, __, plan, ___: plan.ask_energy(),
    Notify: _notify,
}
