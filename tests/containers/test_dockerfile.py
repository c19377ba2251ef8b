"""The Dockerfile: what it builds is small, confined, and notices that it is well."""

from __future__ import annotations

import re
from typing import Any

import docker
from docker.models.containers import Container

from tests.clone import ROOT
from tests.containers.engine import Engine
from tests.containers.images import BASE, OURS

#: What the container of a careful user may not do.
CONFINED: dict[str, Any] = {
    "read_only": True,
    "tmpfs": {"/tmp": ""},
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges:true"],
}


def output(engine: Engine, *arguments: str, entrypoint: list[str] | None = None) -> str:
    """Run a confined container and return its output."""
    said = engine.client.containers.run(
        OURS, list(arguments), entrypoint=entrypoint, network_mode="none", remove=True, **CONFINED
    )
    return str(said, "utf-8")


def test_the_program_runs_confined(ours: Engine) -> None:
    """In a file system that cannot be written, without any right."""
    assert output(ours, "--version").startswith("batsched-py, version ")
    assert "easy" in output(ours, "list")


def test_nobody_is_root(ours: Engine) -> None:
    """Nor could become root: the image says so, for whoever forgets to."""
    assert output(ours, "-c", "import os; print(os.getuid(), os.getgid())", entrypoint=["python3"]) == "1000 1000\n"


def test_the_image_is_little_more_than_its_base(ours: Engine) -> None:
    """Neither pip nor its cache nor the sources are in it."""
    size, base = (ours.client.images.get(name).attrs["Size"] for name in (OURS, BASE))
    assert size - base < 50e6
    modules = "import importlib.util as i; print([n for n in ('pip', 'redis', 'zmq') if i.find_spec(n)])"
    assert output(ours, "-c", modules, entrypoint=["python3"]) == "['redis', 'zmq']\n"


def test_the_default_command_listens_and_is_found_healthy(ours: Engine) -> None:
    """By the image's own check; what the check says of a container that does not listen is told apart."""
    states = {}
    for command, retries in ((None, 100), (["-c", "import signal; signal.pause()"], 1)):
        container = ours.client.containers.run(
            OURS,
            command,
            entrypoint=None if command is None else ["python3"],
            network_mode="none",
            detach=True,
            healthcheck={"interval": 200_000_000, "retries": retries, "start_period": 1_000_000},
            **CONFINED,
        )
        try:
            states[command is None] = verdict(ours.client, container)
        finally:
            container.remove(force=True)
    assert states == {True: "healthy", False: "unhealthy"}


def verdict(client: docker.DockerClient, container: Container) -> str:
    """Wait for the first state of health that the engine finds, and return it."""
    events = client.events(decode=True, since=0, filters={"container": container.id, "event": "health_status"})
    try:
        return str(next(iter(events))["Action"]).removeprefix("health_status: ")
    finally:
        events.close()


def test_the_context_has_no_more_than_the_image_needs() -> None:
    """Files that are copied are let in, and no others."""
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert {name for names in copied for name in names.split()} == allowed


def test_the_default_base_is_not_left_to_chance(ours: Engine) -> None:
    """A tag with a version; and commands are lists, which need no shell and get the signals."""
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^ARG BASE=python:3\.\d+-slim$", text, re.MULTILINE)
    config = ours.client.images.get(OURS).attrs["Config"]
    assert config["Entrypoint"] == ["batsched-py"]
    assert config["User"] == "1000:1000"
    assert config["Cmd"][0] == "serve"
