"""Requests and replies as documents: one of each kind, in the spelling of each Batsim."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from batsched_py.protocol.conversation import BatsimSide, DecisionSide, Turn
from batsched_py.protocol.dialect import V4, Dialect
from batsched_py.protocol.events import RequestedCall, SimulationBegins, SimulationEnds

Document = dict[str, Any]

JOB = {"id": "w0!1", "subtime": 3, "res": 2, "profile": "p", "walltime": 10.5, "user": {"name": "ann"}}
DELAY = {"type": "delay", "delay": 5}
RESOURCE = {"id": 0, "name": "n0", "state": "idle", "properties": {"role": ""}}


def document(now: float, *events: tuple[str, dict[str, Any]]) -> Document:
    """A message of (type, data) pairs, all at `now`."""
    return {"now": now, "events": [{"timestamp": now, "type": kind, "data": data} for kind, data in events]}


def raw(message: object) -> bytes:
    """Its bytes."""
    return json.dumps(message).encode()


BEGINS_V4: Document = {
    "nb_resources": 3,
    "nb_compute_resources": 2,
    "nb_storage_resources": 1,
    "allow_compute_sharing": True,
    "allow_storage_sharing": True,
    "config": {
        "redis-enabled": True,
        "redis-hostname": "db",
        "redis-port": 6380,
        "redis-prefix": "batsim",
        "profiles-forwarded-on-submission": True,
        "dynamic-jobs-enabled": True,
        "dynamic-jobs-acknowledged": False,
        "profile-reuse-enabled": True,
        "sched-config": "{}",
        "forward-unknown-events": True,
        "mine": [1],
    },
    "compute_resources": [
        {**RESOURCE, "zone_properties": {"rack": "r0"}, "mine": 1},
        {"id": 1, "name": "n1", "state": "sleeping", "properties": {}, "zone_properties": {}},
    ],
    "storage_resources": [{"id": 2, "name": "d", "state": "idle", "properties": {}, "zone_properties": {}}],
    "workloads": {"w0": "/in/w.json"},
    "profiles": {"w0": {"p": DELAY}},
    "mine": None,
}
BEGINS_V14: Document = {
    "nb_resources": 2,
    "allow_time_sharing": True,
    "config": {
        "redis": {"enabled": True, "hostname": "db", "port": 6380, "prefix": "batsim"},
        "job_submission": {"forward_profiles": True, "from_scheduler": {"enabled": True, "acknowledge": False}},
        "mine": [1],
    },
    "resources_data": [RESOURCE, {"id": 1, "name": "n1", "state": "sleeping", "properties": {}}],
    "hpst_host": {"id": 9},
}
OPENING_V4 = document(0.0, ("SIMULATION_BEGINS", BEGINS_V4))
OPENING_V14 = document(0.0, ("SIMULATION_BEGINS", BEGINS_V14))

_LATER: list[tuple[str, dict[str, Any]]] = [
    ("JOB_SUBMITTED", {"job_id": "w0!1", "job": JOB, "profile": DELAY, "mine": 1}),
    ("RESOURCE_STATE_CHANGED", {"resources": "0-1", "state": "1"}),
    ("REQUESTED_CALL", {}),
    ("FROM_JOB_MSG", {"job_id": "w0!1", "msg": {"at": 0.5}}),
    ("NOTIFY", {"type": "event_machine_unavailable", "resources": "0-1"}),
    ("NOTIFY", {"type": "solar_flare", "timestamp": 1, "resources": {"north": 3}}),
    ("SOLAR_FLARE", {"class": "X"}),
    ("NOP", {}),
]
LATER_V4 = document(
    5.5,
    *_LATER,
    ("JOB_COMPLETED", {"job_id": "w0!1", "job_state": "COMPLETED_KILLED", "return_code": -1, "alloc": "0-1"}),
    (
        "JOB_KILLED",
        {
            "job_ids": ["w0!1"],
            "job_progress": {
                "w0!1": {
                    "profile_name": "c",
                    "current_task_index": 1,
                    "current_task": {"profile_name": "p", "progress": 0.5},
                }
            },
        },
    ),
    ("QUERY", {"requests": {"estimate_waiting_time": {"job_id": "w0!1", "job": JOB}}}),
    ("ANSWER", {"consumed_energy": 12.5}),
)
LATER_V14 = document(
    5.5,
    *_LATER,
    ("JOB_COMPLETED", {"job_id": "w0!1", "status": "TIMEOUT", "return_code": -1, "kill_reason": "Walltime reached"}),
    ("JOB_KILLED", {"job_ids": ["w0!1"], "job_progress": {"w0!1": {"profile": "p", "progress": 0.5}}}),
    ("QUERY_REPLY", {"energy_consumed": 12.5}),
)
REPLY_V4 = document(
    5.5,
    ("EXECUTE_JOB", {"job_id": "w0!1", "alloc": "0-1", "mapping": {"0": "0", "1": 1}}),
    ("EXECUTE_JOB", {"job_id": "w0!2", "alloc": "0", "storage_mapping": {"disk": 2}}),
    (
        "EXECUTE_JOB",
        {"job_id": "w0!3", "alloc": "0", "additional_io_job": {"alloc": "2", "profile_name": "io", "profile": DELAY}},
    ),
    ("REJECT_JOB", {"job_id": "w0!4"}),
    ("KILL_JOB", {"job_ids": ["w0!1"]}),
    ("CALL_ME_LATER", {"timestamp": 60}),
    ("REGISTER_PROFILE", {"workload_name": "dyn", "profile_name": "p", "profile": DELAY}),
    ("REGISTER_JOB", {"job_id": "dyn!1", "job": JOB}),
    ("SET_RESOURCE_STATE", {"resources": "1", "state": "2"}),
    ("SET_JOB_METADATA", {"job_id": "w0!1", "metadata": "why"}),
    ("CHANGE_JOB_STATE", {"job_id": "dyn!1", "job_state": "RUNNING"}),
    ("TO_JOB_MSG", {"job_id": "w0!1", "msg": "go"}),
    ("QUERY", {"requests": {"consumed_energy": {}}}),
    ("ANSWER", {"estimate_waiting_time": {"job_id": "w0!1", "estimated_waiting_time": 1.5}}),
    ("NOTIFY", {"type": "registration_finished"}),
)
REPLY_V14 = document(
    5.5,
    ("NOP", {}),
    ("EXECUTE_JOB", {"job_id": "w0!1", "alloc": "0-1"}),
    ("SUBMIT_PROFILE", {"workload_name": "dyn", "profile_name": "p", "profile": DELAY}),
    ("SUBMIT_JOB", {"job_id": "dyn!1", "job": JOB, "profile": DELAY}),
    ("QUERY_REQUEST", {"consumed_energy": {}}),
    ("NOTIFY", {"type": "submission_finished"}),
)

#: Turn -> the action that leads to it from the one before.
_ROAD = [Turn.BEFORE, Turn.DECIDING, Turn.SIMULATING, Turn.LAST_REPLY, Turn.OVER]


def decision_side(turn: Turn, opening: Document = OPENING_V4) -> DecisionSide:
    """Our end, brought to this turn by a conversation at t=0."""
    side = DecisionSide()
    steps: list[Callable[[], object]] = [
        lambda: side.receive(raw(opening)),
        lambda: side.reply(0.0, ()),
        lambda: side.receive(raw(document(0.0, ("SIMULATION_ENDS", {})))),
        lambda: side.reply(0.0, ()),
    ]
    for step in steps[: _ROAD.index(turn)]:
        step()
    assert side.turn is turn
    return side


def batsim_side(turn: Turn, dialect: Dialect = V4) -> BatsimSide:
    """Batsim's end, brought to this turn by a conversation at t=0."""
    side = BatsimSide(dialect)
    steps: list[Callable[[], object]] = [
        lambda: side.request(0.0, [SimulationBegins(0.0, ())]),
        lambda: side.receive(b'{"now":0,"events":[]}'),
        lambda: side.request(0.0, [SimulationEnds(0.0)]),
        lambda: side.receive(b'{"now":0,"events":[]}'),
    ]
    for step in steps[: _ROAD.index(turn)]:
        step()
    assert side.turn is turn
    return side


#: A request's events by what it does to the conversation, typed and as a document.
REQUESTS: dict[str, tuple[list[Any], Document]] = {
    "begin": ([SimulationBegins(0.0, ())], OPENING_V4),
    "request": ([RequestedCall(0.0)], document(0.0, ("REQUESTED_CALL", {}))),
    "end": ([SimulationEnds(0.0)], document(0.0, ("SIMULATION_ENDS", {}))),
}
