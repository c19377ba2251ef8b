"""A peer that names files, modules and paths wherever it can: run as a program, under an audit hook.

Prints as JSON what sessions imported or opened meanwhile (nothing), and for each option of each algorithm the error.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from batsched_py.errors import BatschedError
from batsched_py.plugins import load
from batsched_py.protocol.batsim5.greeting import write_greeting
from batsched_py.queries.parser import parse
from batsched_py.schedulers import BUILT_INS
from batsched_py.scheduling.options import describe_options
from batsched_py.session.session import Session
from tests.builders import begins_data, message, submitted_data

#: Actions of a session that only its user may cause.
FORBIDDEN = ("open", "import", "exec", "compile", "os.", "subprocess.", "socket.", "ctypes.", "pty.", "shutil.")
#: `trap` is a module in the current folder.
HOSTILE = ("trap.py:key", "trap:key", "os:system", "/etc/passwd", "../x", "x" * 1_000_000)

#: Set while a session works.
watching = False
#: Actions recorded while a session worked.
done: list[str] = []


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """The hook; it cannot be removed."""
    if watching and event.startswith(FORBIDDEN) and not _is_annotation(event, arguments):
        done.append(f"{event} {arguments!r}"[:200])


def _is_annotation(event: str, arguments: tuple[Any, ...]) -> bool:
    """True for what reading the types of options does: annotations in our own modules are texts."""
    if event == "compile":
        return bool(arguments[1] == "<string>")
    return event == "exec" and arguments[0].co_filename == "<string>"


def ask(name: str, option: str, value: str) -> str:
    """The error of a session of this algorithm whose peer says so; "" if there is none."""
    config = {"sched-config": json.dumps({option: "VALUE"}), "dynamic-jobs-enabled": True}
    request = message(0.0, ("SIMULATION_BEGINS", begins_data(config=config)))
    request = request.replace(b"VALUE", value.encode())  # a megabyte is not escaped twice
    submission = message(1.0, ("JOB_SUBMITTED", submitted_data("a")))
    return told(name, request, submission)


def greet(name: str, option: str, value: str) -> str:
    """The same of Batsim 5, which greets with the options."""
    hosts = [{"id": 0, "name": "a", "state": "IDLE"}]
    begins = {"host_number": 1, "computation_host_number": 1, "computation_hosts": hosts}
    events = [{"event_type": "SimulationBeginsEvent", "event": begins}]
    return told(name, write_greeting(json.dumps({option: value})), json.dumps({"events": events}).encode())


def told(name: str, *messages: bytes) -> str:
    """Return the error with which a session refuses these messages."""
    global watching  # noqa: PLW0603 - a hook has no other way
    session = Session(load(name))
    watching = True
    try:
        for message in messages:
            session.answer(message)
    except BatschedError as error:
        return str(error)
    finally:
        watching = False
    return ""


def speak(name: str, value: str) -> None:
    """Say it in all places where a peer may say what it likes."""
    global watching  # noqa: PLW0603 - as above
    profiles = {kind: {"type": kind, "trace": value, "trace_file": value} for kind in ("smpi", "delay", value)}
    begins = begins_data(
        profiles={"w0": profiles, value: profiles},
        workloads={"w0": value, value: value},
        config={"dynamic-jobs-enabled": True, "profiles-forwarded-on-submission": True, value: value},
    )
    submission = submitted_data("a")
    submission["job"].update({"profile": value, "metadata": value, "file": value, "constraint": value, value: value})
    submission["profile"] = {"type": "smpi", "trace": value, value: value}
    session = Session(load(name))
    watching = True
    try:
        session.answer(message(0.0, ("SIMULATION_BEGINS", begins)))
        session.answer(
            message(
                1.0,
                ("JOB_SUBMITTED", submission),
                ("NOTIFY", {"type": value, value: value}),
                (value, {value: value}),
                ("QUERY", {"requests": {value: {value: value}}}),
            )
        )
    except BatschedError as error:
        found = str(error)
        assert "sched-config" not in found, found
    finally:
        watching = False


def main() -> None:
    parse('match("a", "a")').evaluate({})  # what the extra `query` brings is loaded when it is first needed
    sys.addaudithook(watch)
    found = []
    for name in BUILT_INS:
        for value in HOSTILE[:-1]:
            speak(name, value)
    for name in BUILT_INS:
        load(name)
        for option in describe_options(load(name).options_type):
            for value in HOSTILE:
                found.append(([name, option.name, value[:20]], ask(name, option.name, value)))
            for value in HOSTILE[:2]:
                found.append(([name, option.name, value], greet(name, option.name, value)))
    json.dump({"done": done, "errors": found}, sys.stdout)


if __name__ == "__main__":
    main()
