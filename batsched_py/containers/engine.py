"""A container engine with Docker's API: finding it, getting images, creating and removing containers."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import docker
import docker.errors
from docker.context import ContextAPI
from docker.types import LogConfig, Mount
from docker.utils import parse_repository_tag

from batsched_py.containers.container import Container, engine_errors
from batsched_py.containers.launch import Launch, Pull
from batsched_py.errors import EngineError

#: Seconds that the engine may take for an answer, or be silent while it gets an image.
PATIENCE: Final = 60

#: Label of our containers, as in: docker ps --filter label=batsched-py
LABEL: Final = "batsched-py"

_LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "::1")


class Engine:
    """An engine that answered.

    Attributes:
        is_desktop: True for Docker Desktop, whose containers run in a machine of their own.
        is_rootless: True if the engine is an ordinary user's, who is root in its containers and nowhere else.
    """

    def __init__(self, client: docker.DockerClient, address: str) -> None:
        self._client = client
        with engine_errors(f"the container engine at {address}"):
            info = client.info()
        self.is_desktop = info.get("OperatingSystem") == "Docker Desktop"
        self.is_rootless = "name=rootless" in (info.get("SecurityOptions") or [])

    def fetch(self, image: str, pull: Pull, notify: Callable[[str], None]) -> None:
        """Get the image from its registry, if it is missing here or `pull` asks for it. EngineError."""
        if pull != "always" and self._has(image):
            return
        if pull == "never":
            raise EngineError(f"image {image} is not on this machine, and --pull never forbids to get it")
        notify(f"getting {image}")
        repository, tag = parse_repository_tag(image)
        with engine_errors(f"image {image} cannot be pulled"):
            for line in self._client.api.pull(repository, tag or "latest", stream=True, decode=True):
                if "error" in line:
                    raise EngineError(f"image {image} cannot be pulled: {line['error']}")

    def create(self, launch: Launch, name: str) -> Container:
        """Create a container, which is not yet started. EngineError.

        It has no more rights than Batsim needs: files of other programs and the network are out of its reach.
        """
        is_root = launch.user.startswith("0:")
        with engine_errors(f"a container of {launch.image} cannot be made"):
            self._client.containers.create(
                launch.image,
                list(launch.arguments),
                name=name,
                labels={LABEL: "batsim"},
                user=launch.user,
                working_dir=launch.working_folder,
                mounts=[
                    Mount(folder.target, folder.source, type="bind", read_only=not folder.writable)
                    for folder in launch.folders
                ],
                tmpfs=dict.fromkeys(launch.scratch, "mode=1777"),
                network_mode=launch.network,
                extra_hosts={} if launch.host_name is None else {launch.host_name: "host-gateway"},
                healthcheck={"test": ["NONE"]},
                init=True,  # a Batsim that is process 1 could not abort: the kernel keeps such signals from it
                read_only=True,
                cap_drop=["ALL"],
                cap_add=["DAC_OVERRIDE"] if is_root else [],  # root writes into anybody's folder here, too
                security_opt=["no-new-privileges:true"],
                log_config=LogConfig(type=LogConfig.types.NONE),  # its output is read while it runs
            )
        return Container(self._client, name, launch.image)

    def discard(self, name: str) -> None:
        """Stop and remove a container, if there is one of this name. EngineError."""
        with engine_errors(f"container {name} cannot be removed"), suppress(docker.errors.NotFound):
            self._client.api.remove_container(name, force=True, v=True)

    def _has(self, image: str) -> bool:
        try:
            with engine_errors(f"image {image}"):
                self._client.images.get(image)
        except EngineError as error:
            if isinstance(error.__cause__, docker.errors.NotFound):
                return False
            raise
        return True


@contextmanager
def connected(address: str | None) -> Iterator[Engine]:
    """Connect to the engine at an address such as unix:///var/run/docker.sock; None for that of the `docker` command.

    EngineError if none answers there, or if it is on another machine, which would not see the files of this one.
    """
    where = address or os.environ.get("DOCKER_HOST") or _of_context()
    parts = _read(where)
    if parts.scheme == "ssh" or (parts.scheme in ("tcp", "http", "https") and parts.hostname not in _LOCAL_HOSTS):
        raise EngineError(
            f"the container engine at {where} is on another machine, which does not see files of this one"
        )
    with engine_errors(f"no container engine answers at {where} (--docker-host and DOCKER_HOST say where it is)"):
        _check_listening(parts)
        client = docker.DockerClient(base_url=where, timeout=PATIENCE)
    with closing(client):
        yield Engine(client, where)


def _read(address: str) -> SplitResult:
    """Split an engine's address. EngineError."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # is read only now
    except ValueError as error:
        raise EngineError(f"{address} is not the address of a container engine: {error}") from error
    return parts


def _of_context() -> str:
    """Return the address of the current `docker context`, or the usual one."""
    with suppress(docker.errors.DockerException, OSError, ValueError):
        context: Any = ContextAPI.get_current_context()
        if context is not None and context.Host:
            return str(context.Host)
    return "unix:///var/run/docker.sock"


def _check_listening(address: SplitResult) -> None:
    """Check that an engine listens. The OSError says why not, which the library's own errors hide."""
    if address.scheme == "unix":
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(address.path)
    elif address.hostname is not None and address.port is not None:
        socket.create_connection((address.hostname, address.port), PATIENCE).close()
