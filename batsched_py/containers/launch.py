"""The launch of a container: Batsim's command line, the folders that it sees, its user and its network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from msgspec import Struct

#: The default image. Tags of Batsim's own images are its versions; `latest` is built from the development of the next
#: generation, which speaks another protocol.
BATSIM_IMAGE: Final = "oarteam/batsim:4.0.0"

#: The name of the engine's machine in containers, for Docker Desktop and `host-gateway`.
HOST_NAME: Final = "host.docker.internal"

#: The network whose containers share the machine's own addresses.
HOST_NETWORK: Final = "host"

#: The policy of fetching an image from its registry.
Pull = Literal["missing", "always", "never"]

_PLATFORM: Final = PurePosixPath("/batsim/platform")
_WORKLOADS: Final = PurePosixPath("/batsim/workloads")
_EVENTS: Final = PurePosixPath("/batsim/events")
_EXPORT: Final = PurePosixPath("/batsim/export")


class Folder(Struct, frozen=True):
    """A folder of this machine that a container sees as `target`; read-only, unless `writable`."""

    source: str
    target: str
    writable: bool = False


class Launch(Struct, frozen=True, kw_only=True):
    """A container to be started.

    Attributes:
        image: name or id of the image.
        arguments: arguments of the image's program, which is Batsim.
        folders: folders of this machine that it sees.
        scratch: folders that it may write into and that vanish with it.
        working_folder: its working directory.
        user: "uid:gid", the owner of the files that it writes.
        network: the engine's name of the network.
        host_name: name of this machine in the container; None if it needs none.
    """

    image: str
    arguments: tuple[str, ...]
    folders: tuple[Folder, ...]
    scratch: tuple[str, ...]
    working_folder: str
    user: str
    network: str
    host_name: str | None


class LaunchFiles(Struct, frozen=True, kw_only=True):
    """Files of one run of Batsim, on this machine.

    Attributes:
        platform, workloads, events: input files; other files in their folders can be read, too, as they may refer to
            them.
        export: prefix of the files that Batsim writes, as text; None if they are not kept.
    """

    platform: Path
    workloads: tuple[Path, ...]
    events: Path | None = None
    export: str | None = None


def batsim(
    inputs: LaunchFiles, extra: Sequence[str], *, image: str, socket: str, user: str, network: str, named: bool
) -> Launch:
    """Make the launch of Batsim.

    Args:
        inputs: its files; the folder of the results exists.
        extra: more of Batsim's own arguments.
        image: an image with Batsim as its entry point.
        socket: address of the decision process, as the container sees it.
        user: see Launch.
        network: see Launch.
        named: True if the container needs a name for this machine.
    """
    arguments = ["--socket-endpoint", socket]
    folders = []

    def shown(option: str, path: Path, target: PurePosixPath) -> None:
        folders.append(Folder(_real_folder(path), str(target)))
        arguments.extend((option, str(target / path.name)))

    shown("--platform", inputs.platform, _PLATFORM)
    for number, workload in enumerate(inputs.workloads):
        shown("--workload", workload, _WORKLOADS / str(number))
    if inputs.events is not None:
        shown("--events", inputs.events, _EVENTS)
    scratch = ["/tmp"]  # noqa: S108 - in the container
    if inputs.export is None:
        scratch.append(str(_EXPORT))
        arguments += ["--export", str(_EXPORT / "out")]
    else:
        folder, name = os.path.split(inputs.export)
        folders.append(Folder(os.path.realpath(folder or "."), str(_EXPORT), writable=True))
        arguments += ["--export", f"{_EXPORT}/{name}"]
    return Launch(
        image=image,
        arguments=(*arguments, *extra),
        folders=tuple(folders),
        scratch=tuple(scratch),
        working_folder=str(_EXPORT),
        user=user,
        network=network,
        host_name=HOST_NAME if named else None,
    )


def _real_folder(path: Path) -> str:
    """Return the folder of a path; a link itself is not followed, as Batsim outside a container would not."""
    return os.path.realpath(path.parent)
