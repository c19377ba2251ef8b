"""What is started in a container: Batsim's command line, the folders that it sees, and who it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

#: The image that is used if none is named. Batsim's own recipes call its images by Batsim's version; `latest` is built
#: from the development of the next generation, which speaks another protocol.
BATSIM_IMAGE: Final = "oarteam/batsim:4.0.0"

#: What Docker Desktop and `host-gateway` call the machine on which the engine runs.
HOST_NAME: Final = "host.docker.internal"

#: Network whose containers share the machine's own addresses.
HOST_NETWORK: Final = "host"

_PLATFORM: Final = PurePosixPath("/batsim/platform")
_WORKLOADS: Final = PurePosixPath("/batsim/workloads")
_EVENTS: Final = PurePosixPath("/batsim/events")
_EXPORT: Final = PurePosixPath("/batsim/export")


class Folder(Struct, frozen=True):
    """A folder of this machine that the container sees under another name; for reading only, unless `writable`."""

    source: str
    target: str
    writable: bool = False


class Launch(Struct, frozen=True, kw_only=True):
    """A container to be started.

    Attributes:
        image: by its name, or its id.
        arguments: of the image's program, which is Batsim.
        folders: what it sees of this machine.
        scratch: folders that it may write into and that vanish with it.
        working_folder: where it begins.
        user: "uid:gid"; the files that it writes are theirs.
        network: the engine's name of the network.
        host_name: what this machine is called in the container; None if it needs no name.
    """

    image: str
    arguments: tuple[str, ...]
    folders: tuple[Folder, ...]
    scratch: tuple[str, ...]
    working_folder: str
    user: str
    network: str
    host_name: str | None


class Inputs(Struct, frozen=True, kw_only=True):
    """Files of one run of Batsim, on this machine.

    Attributes:
        platform, workloads, events: are read; the folders they are in can be read, too, for what they refer to.
        export: the prefix of the files that Batsim writes, as text; None if they are not kept.
    """

    platform: Path
    workloads: tuple[Path, ...]
    events: Path | None = None
    export: str | None = None


def batsim(
    inputs: Inputs, extra: Sequence[str], *, image: str, socket: str, user: str, network: str, named: bool
) -> Launch:
    """How to start Batsim.

    Args:
        inputs: its files; the folder of the results exists.
        extra: more of Batsim's own arguments.
        image: has Batsim as its entry point.
        socket: where the decision process listens, as the container sees it.
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
    """A link's name is looked up in its own folder, as Batsim outside a container would."""
    return os.path.realpath(path.parent)
