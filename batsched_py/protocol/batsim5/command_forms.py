"""Commands of Batsim 5: a reader and a writer of each, and the table."""

from __future__ import annotations

from typing import Any, Final

from batsched_py.bits import MAX_HOST
from batsched_py.protocol import commands
from batsched_py.protocol.batsim5.envelope import REPLY_ENVELOPE, only
from batsched_py.protocol.batsim5.jobs import read_job, write_job
from batsched_py.protocol.batsim5.placements import read_execute, write_execute
from batsched_py.protocol.batsim5.profiles import read_profile, write_profile
from batsched_py.protocol.batsim5.triggers import read_call, read_probe, write_call, write_periodic_call, write_probe
from batsched_py.protocol.commands import KillJob, RegisterJob, RegisterProfile, SetResourceState
from batsched_py.protocol.events import REGISTRATION_FINISHED, Notify
from batsched_py.protocol.fields import Data, check_job_id, check_pstate, hosts, mapping, text, texts
from batsched_py.protocol.forms import Form, Forms
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

_NOTHING: Final = frozenset[str]()


def _read_reject(timestamp: float, data: Data) -> commands.RejectJob:
    only(data, frozenset({"job_id"}))
    return commands.RejectJob(timestamp, text(data, "job_id"))


def _read_kill(timestamp: float, data: Data) -> KillJob:
    only(data, frozenset({"job_ids"}))
    job_ids = texts(data, "job_ids")
    if not job_ids:
        raise FieldError("job_ids", "must name at least one job")
    return KillJob(timestamp, job_ids)


def _write_kill(command: KillJob) -> dict[str, Any]:
    if not command.job_ids:
        raise FieldError("job_ids", "must name at least one job")
    return {"job_ids": list(command.job_ids)}


def _read_register_job(timestamp: float, data: Data) -> RegisterJob:
    only(data, frozenset({"job_id", "job"}))
    job_id = text(data, "job_id")
    check_job_id(job_id)
    return RegisterJob(timestamp, job_id, read_job(job_id, mapping(data, "job"), timestamp, may_be_nothing=True))


def _write_register_job(command: RegisterJob) -> dict[str, Any]:
    check_job_id(command.job_id)
    if command.job is None:
        raise FieldError("job", "is missing, and Batsim 5 has no Redis to find it in")
    if command.profile is not None:
        raise FieldError("profile", "must be registered first, by a command of its own")
    return {"job_id": command.job_id, "job": write_job(command.job, always=False)}


def _read_register_profile(timestamp: float, data: Data) -> RegisterProfile:
    only(data, frozenset({"profile"}))
    workload, name, members = read_profile(mapping(data, "profile"), "profile")
    if not name:
        raise FieldError("profile.id", f"must be workload!name, not {shown(workload)}")
    return RegisterProfile(timestamp, workload, name, members)


def _write_register_profile(command: RegisterProfile) -> dict[str, Any]:
    if command.profile.get("ret"):
        wrong = shown(command.profile["ret"])
        raise FieldError("profile.ret", f"must be 0, not {wrong}: Batsim 5 reads exit codes from workload files only")
    return {"profile": write_profile(command.workload, command.name, command.profile)}


def _read_change(timestamp: float, data: Data, highest: int = MAX_HOST) -> SetResourceState:
    return _read_switch(timestamp, data, "pstate", highest)


def _read_turn(timestamp: float, data: Data, highest: int = MAX_HOST) -> SetResourceState:
    return _read_switch(timestamp, data, "state", highest)


def _read_switch(timestamp: float, data: Data, member: str, highest: int) -> SetResourceState:
    only(data, frozenset({"host_ids", member}))
    switched, pstate = hosts(data, "host_ids", highest), data.get(member, 0)
    if not switched:
        raise FieldError("host_ids", "must name at least one host")
    if type(pstate) is not int or not 0 <= pstate < 10**9:
        raise FieldError(member, f"must be the number of a pstate, not {shown(pstate)}")
    return SetResourceState(timestamp, switched, str(pstate), turns=member == "state")


def _write_switch(command: SetResourceState) -> dict[str, Any]:
    if not command.hosts:
        raise FieldError("host_ids", "must name at least one host")
    check_pstate(command.state)
    return {"host_ids": str(command.hosts), "state" if command.turns else "pstate": int(command.state)}


def _read_finish(timestamp: float, data: Data) -> Notify:
    only(data, _NOTHING)
    return Notify(timestamp, REGISTRATION_FINISHED)


def _write_notice(command: Notify) -> dict[str, Any]:
    if command.kind != REGISTRATION_FINISHED:
        raise FieldError(
            "type", f"must be {REGISTRATION_FINISHED}, which is final in Batsim 5, not {shown(command.kind)}"
        )
    return {}


def _read_stop_calls(timestamp: float, data: Data) -> commands.StopCalls:
    only(data, frozenset({"call_me_later_id"}))
    return commands.StopCalls(timestamp, text(data, "call_me_later_id"))


def _read_stop_probe(timestamp: float, data: Data) -> commands.StopProbe:
    only(data, frozenset({"probe_id"}))
    return commands.StopProbe(timestamp, text(data, "probe_id"))


def _read_stop(timestamp: float, data: Data) -> commands.StopSimulation:
    only(data, _NOTHING)
    return commands.StopSimulation(timestamp)


#: Commands of Batsim 5.
V5: Final[Forms] = Forms(
    Form(commands.ExecuteJob, "ExecuteJobEvent", read_execute, write_execute, names_hosts=True),
    Form(commands.RejectJob, "RejectJobEvent", _read_reject, lambda command: {"job_id": command.job_id}),
    Form(KillJob, "KillJobsEvent", _read_kill, _write_kill),
    Form(commands.CallMeLater, "CallMeLaterEvent", read_call, write_call),
    Form(commands.CallPeriodically, "CallMeLaterEvent", read_call, write_periodic_call),
    Form(
        commands.StopCalls,
        "StopCallMeLaterEvent",
        _read_stop_calls,
        lambda command: {"call_me_later_id": command.call_id},
    ),
    Form(RegisterJob, "RegisterJobEvent", _read_register_job, _write_register_job),
    Form(RegisterProfile, "RegisterProfileEvent", _read_register_profile, _write_register_profile),
    Form(Notify, "FinishRegistrationEvent", _read_finish, _write_notice),
    Form(
        SetResourceState,
        "ChangeHostsPStateEvent",
        _read_change,
        _write_switch,
        names_hosts=True,
        choose=lambda command: "TurnOnOffHostsEvent" if command.turns else "ChangeHostsPStateEvent",
    ),
    Form(SetResourceState, "TurnOnOffHostsEvent", _read_turn, None, names_hosts=True),
    Form(commands.CreateProbe, "CreateProbeEvent", read_probe, write_probe),
    Form(commands.StopProbe, "StopProbeEvent", _read_stop_probe, lambda command: {"probe_id": command.probe_id}),
    Form(commands.StopSimulation, "ForceSimulationStopEvent", _read_stop, lambda _: {}),
    envelope=REPLY_ENVELOPE,
)
