"""Conversations of a real Batsim 5.0.0-rc2 and its clients: they are read and written back without loss."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import RemoteProtocolError
from batsched_py.protocol.batsim5.greeting import is_greeting, read_greeting, read_hello, write_greeting, write_hello
from batsched_py.protocol.batsim5.profiles import profile_id
from batsched_py.protocol.codec import decode, encode
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.forms import Forms
from tests.clone import files

RUNS = files("tests/data/batsim5/*.jsonl")
each_run = pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)

#: Recordings in which a client said what is no message of Batsim 5: Batsim aborted or crashed, and we read none of it.
REFUSED = {
    "err_alloc_empty": "host_allocation",
    "err_cml_empty_id": "call_me_later_id",
    "err_cml_negative": "time",
    "err_cml_offset": "offset",
    "err_edc_sends_batsim_event": "JobCompletedEvent",
    "err_kill_empty": "job_ids",
    "err_no_placement": "executor_placement",
    "err_no_placement_type": "executor_placement_type",
    "err_probe_noaccumulation": "ProbeDataAccumulation",
    "err_probe_oneshot": "Periodic",
    "err_register_profile_noworkload": "workload!name",
    "err_trigger_probe": "TriggerProbeEvent",
    "err_unknown_event": "NoSuchEvent",
    "err_unknown_field": "foo",
    "hello_constraints": "scheduling_constraints",
    "hello_events_left_out": "events",
    "hello_no_commit": "decision_component_commit",
    "hello_no_events": "one EDCHelloEvent",
    "hello_no_name": "decision_component_name",
    "hello_no_version": "batprotocol_version",
    "hello_not_json": "JSON",
    "hello_unknown_events_feature": "forward_unknown_external_events",
    "hello_unknown_feature": "no_such_feature",
    "hello_unknown_field": "unknown_field",
    "reply_empty_message": "JSON",
    "reply_events_left_out": "events",
    "reply_not_json": "JSON",
    "reply_required_left_out": "job_id",
    "reply_type_far_after": "must stand after event_type",
}


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a recording."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def spoken(path: Path, speaker: str) -> Iterator[bytes]:
    """Yield the messages of one side after the greeting, as they were sent, without the NUL."""
    for raw in path.read_text().splitlines():
        line = json.loads(raw)
        if line["from"] == speaker and "kind" not in line:
            yield line["text"].encode() if "text" in line else json.dumps(line["data"]).encode()


def again(raw: bytes, forms: Forms) -> bytes:
    """A message, read and written."""
    return encode(decode(raw, forms, keep_unknown=False, dialect_name="v5"), forms, "v5", keep_unknown=False)


def content(raw: bytes) -> Any:
    """Return the content of a message in one spelling: without members at their defaults, and in milliseconds."""
    document = plain(json.loads(raw.rstrip(b"\0").replace(b"/* c */", b"")))
    return {**document, "now": float(document.get("now", 0.0))}


def plain(value: Any) -> Any:
    """A value without defaults of the schema, its times in milliseconds."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {key: plain(item) for key, item in value.items()}
    if "job" in members:
        members["job"]["profile_id"] = profile_id(members["job_id"].split("!")[0], members["job"]["profile_id"])
    if {"time", "period"} & members.keys() and members.pop("time_unit", "Second") == "Second":
        members |= {key: 1000 * members[key] for key in ("time", "period") if key in members}
    if members.get("strategy") == "SpreadOverHostsFirst" or members.get("host_allocation"):
        members.pop("strategy", None)
    if members.get("host_allocation"):
        members["host_allocation"] = members["host_allocation"].replace(",", " ")
    return {key: item for key, item in members.items() if item not in (None, "", {}, 0.0) or key == "event_type"}


def test_there_are_recordings() -> None:
    """The tests below do try something."""
    assert len(RUNS) >= 90
    assert REFUSED.keys() <= {path.stem for path in RUNS}


@each_run
def test_each_event_of_batsim_is_written_back_as_it_came(path: Path) -> None:
    """Batsim writes what is at its default, so nothing may be left out."""
    for raw in spoken(path, "batsim"):
        assert json.loads(again(raw, V5.events)[:-1]) == json.loads(raw)
        assert again(raw, V5.events).endswith(b"}\0")


@pytest.mark.parametrize("path", [run for run in RUNS if run.stem not in REFUSED], ids=lambda path: path.stem)
def test_each_reply_is_written_back_with_the_same_content(path: Path) -> None:
    """But those that Batsim did not understand or could not do, which are named above and refused below."""
    for raw in spoken(path, "edc"):
        assert content(again(raw, V5.commands)) == content(raw)
        assert decode(again(raw, V5.commands), V5.commands, keep_unknown=False) == decode(
            raw, V5.commands, keep_unknown=False
        )


@each_run
def test_the_greeting_is_written_back_as_it_was(path: Path) -> None:
    """The text of the user, and the hello of the client."""
    for line in lines(path):
        if line.get("kind") == "init":
            raw = bytes.fromhex(line["hex"])
            assert is_greeting(raw)
            assert read_greeting(raw) == line["data"]["str"]
            assert write_greeting(read_greeting(raw)) == raw
        if line.get("kind") == "hello" and path.stem not in REFUSED and "b64" not in line:
            said = line.get("text", json.dumps(line.get("data"))).encode()
            raw = line["flags"].to_bytes(4, "little") + said
            assert content(write_hello(read_hello(raw))[4:]) == content(said)


@pytest.mark.parametrize(("name", "why"), REFUSED.items(), ids=REFUSED)
def test_what_batsim_does_not_understand_is_refused(name: str, why: str) -> None:
    """The first message of the client that is wrong is named."""
    path = next(path for path in RUNS if path.stem == name)
    with pytest.raises(RemoteProtocolError, match=why):
        read_all(path)


def test_a_client_that_speaks_in_binary_is_refused() -> None:
    """Its messages can be read from their JSON alone, which stands beside them."""
    (hello,) = [line for line in lines(files("tests/data/batsim5/binary_fcfs.jsonl")[0]) if line.get("kind") == "hello"]
    assert hello["flags"] == 1
    with pytest.raises(RemoteProtocolError, match="must say that it speaks JSON"):
        read_hello(hello["flags"].to_bytes(4, "little") + base64.b64decode(hello["b64"]))


def read_all(path: Path) -> None:
    """Read all that a client said."""
    for line in lines(path):
        if line.get("kind") == "hello":
            read_hello(line["flags"].to_bytes(4, "little") + line.get("text", json.dumps(line.get("data"))).encode())
    for raw in spoken(path, "edc"):
        decode(raw, V5.commands, keep_unknown=False, dialect_name="v5")


def test_no_message_of_others_is_taken_for_a_greeting() -> None:
    """Messages of Batsim 1 to 4 begin with a brace."""
    assert not is_greeting(b'{"now":0.0,"events":[]}')
    assert not is_greeting(b"")
    assert is_greeting(bytes(4))
