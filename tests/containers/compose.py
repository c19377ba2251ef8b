"""docker-compose.yml, read and started through Docker's interface: as the file says, but on this machine's own network.

A key that is not known here is an error: nothing that the file says is passed over.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import yaml
from docker.models.containers import Container
from docker.types import Mount

from tests.clone import ROOT
from tests.containers.engine import Engine

FILE = ROOT / "docker-compose.yml"

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_NANOSECONDS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9}


@dataclass(frozen=True, kw_only=True)
class Service:
    """One service, with Compose's own names; the defaults are Compose's."""

    image: str
    command: Sequence[str]
    user: str
    build: Mapping[str, Any] | None = None
    profiles: Sequence[str] = ()
    ports: Sequence[str] = ()
    volumes: Sequence[str] = ()
    tmpfs: Sequence[str] = ()
    cap_drop: Sequence[str] = ()
    security_opt: Sequence[str] = ()
    init: bool = False
    read_only: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    healthcheck: Mapping[str, Any] = field(default_factory=dict)
    depends_on: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def services(environment: Mapping[str, str], replaced: Mapping[str, str]) -> dict[str, Service]:
    """Return the services of the file, with the variables of this environment; some texts are replaced first."""
    text = FILE.read_text()
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    content = yaml.safe_load(text)
    assert content.keys() <= {"services", "volumes", "x-confined", "x-ours", "x-listening"}
    return {name: Service(**_interpolated(told, environment)) for name, told in content["services"].items()}


def wanted(known: Mapping[str, Service], *names: str) -> list[str]:
    """The services that `up` starts, each after those it depends on; without names those that have no profile."""
    order: list[str] = []

    def visit(name: str) -> None:
        for other in known[name].depends_on:
            visit(other)
        if name not in order:
            order.append(name)

    for name in names or [name for name, service in known.items() if not service.profiles]:
        visit(name)
    return order


class Project:
    """Services that were started, and their volumes."""

    def __init__(self, engine: Engine, known: Mapping[str, Service], name: str) -> None:
        self._engine, self._known, self._name = engine, known, name
        self.containers: dict[str, Container] = {}
        #: The state of each dependency before its dependents were started.
        self.seen: dict[str, str] = {}

    def start(self, name: str) -> None:
        """As `up` does: build the image, wait for what it depends on, start it."""
        service = self._known[name]
        for other, told in service.depends_on.items():
            assert told == {"condition": "service_healthy"}
            self.seen[other] = self._health(self.containers[other])
            assert self.seen[other] == "healthy", self.containers[other].logs()
        if service.build is not None:
            assert service.build.keys() <= {"context", "args"}
            path = str(ROOT / service.build["context"])
            self._engine.client.images.build(
                path=path, buildargs=dict(service.build["args"]), tag=service.image, rm=True, network_mode="host"
            )
        self.containers[name] = self._engine.client.containers.run(
            service.image,
            list(service.command),
            name=f"{self._name}_{name}",
            detach=True,
            user=service.user,
            init=service.init,
            read_only=service.read_only,
            environment=dict(service.environment),
            tmpfs=dict.fromkeys(service.tmpfs, ""),
            cap_drop=list(service.cap_drop),
            security_opt=list(service.security_opt),
            healthcheck=_health_check(service.healthcheck),
            mounts=[self._mount(*volume.split(":")) for volume in service.volumes],
            network_mode="host",
            extra_hosts=dict.fromkeys(self._known, "127.0.0.1"),  # instead of the names that a network gives
        )

    def wait(self, name: str) -> tuple[int, str]:
        """Exit code and log of a service that ends."""
        container = self.containers[name]
        code = container.wait(timeout=600)["StatusCode"]
        return int(code), container.logs().decode()

    def down(self) -> None:
        """As `down --volumes` does."""
        for container in self.containers.values():
            container.remove(force=True, v=True)
        for volume in self._engine.client.volumes.list(filters={"name": self._name}):
            volume.remove()

    def _health(self, container: Container) -> str:
        """Wait for the first result of its check, and return it."""
        wanted = {"container": container.id, "event": ["health_status", "die"]}
        events = self._engine.client.events(decode=True, since=0, filters=wanted)
        try:
            return str(next(iter(events))["Action"]).removeprefix("health_status: ")
        finally:
            events.close()

    def _mount(self, source: str, target: str, mode: str = "rw") -> Mount:
        if source.startswith((".", "/")):
            path = (FILE.parent / source).resolve()
            assert path.is_dir()
            return Mount(target, str(path), type="bind", read_only=mode == "ro")
        return Mount(target, f"{self._name}_{source}", type="volume", read_only=mode == "ro")


@contextmanager
def up(engine: Engine, known: Mapping[str, Service], name: str, *names: str) -> Iterator[Project]:
    """The project, with these services started; taken down at the end."""
    project = Project(engine, known, name)
    try:
        for service in wanted(known, *names):
            project.start(service)
        yield project
    finally:
        project.down()


def _interpolated(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: environment.get(found[1]) or found[2] or "", value)
    if isinstance(value, list):
        return [_interpolated(item, environment) for item in value]
    if isinstance(value, dict):
        return {key: _interpolated(item, environment) for key, item in value.items()}
    return value


def _health_check(told: Mapping[str, Any]) -> dict[str, Any]:
    if told.get("disable"):
        return {"test": ["NONE"]}
    return {key: _nanoseconds(value) if key in ("interval", "timeout") else value for key, value in told.items()}


def _nanoseconds(text: str) -> int:
    found = re.fullmatch(r"(\d+)(ms|s|m)", text)
    assert found is not None, text
    return int(found[1]) * _NANOSECONDS[found[2]]


def extracted(container: Container, folder: str, to: Path) -> None:
    """The files of a folder of a container, as `docker cp` gets them; the container may have ended."""
    pieces, _ = container.get_archive(folder)
    with tarfile.open(fileobj=BytesIO(b"".join(pieces))) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(to, filter="data")
        else:  # Python before 3.11.4
            tar.extractall(to)  # our own container's
