"""Images made on this machine: the base, ours by the Dockerfile, Redis, and a stand-in for Batsim."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
from io import BytesIO
from pathlib import Path

import pytest

from tests.clone import ROOT
from tests.containers.engine import Engine
from tests.containers.root_filesystem import programs_root, python_root
from tests.redis_server import NONE, executable

BASE = "python-of-this-machine"
OURS = "batsched-py"
REDIS = "redis-of-this-machine"
STAND_IN = "batsim-stand-in"

_DOCKERFILE = f"""FROM {OURS}
COPY batsim.py /opt/
HEALTHCHECK NONE
ENTRYPOINT ["python3", "/opt/batsim.py"]
CMD []
"""


def wheels(folder: Path) -> Path:
    """The packages that the Dockerfile installs, from wherever pip finds them; skipped if it finds nothing."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = told["project"]
    extras = project["optional-dependencies"]
    needed = [*told["build-system"]["requires"], *project["dependencies"], *extras["redis"], *extras["site"]]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder), *needed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"needs the packages of the image: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}")
    return folder


def make_base(engine: Engine, folder: Path) -> None:
    """This machine's Python and a shell; pip takes packages from a folder in it."""
    packages = folder / "wheels"
    packages.mkdir()
    python_root(folder / "python.tar", wheels(packages))
    found_there = "ENV PATH=/usr/local/bin:/bin PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels"
    engine.client.api.import_image(str(folder / "python.tar"), repository=BASE, changes=[found_there])


def make_ours(engine: Engine) -> None:
    """By the Dockerfile, as it is."""
    engine.client.images.build(path=str(ROOT), buildargs={"BASE": BASE}, tag=OURS, rm=True, network_mode="host")


def make_redis(engine: Engine, folder: Path) -> None:
    """This machine's redis-server and redis-cli; skipped if it has none."""
    programs = [_binary(name) for name in ("redis-server", "redis-cli")]
    programs_root(folder / "redis.tar", programs)
    path = "ENV PATH=/usr/local/bin:/bin"
    engine.client.api.import_image(str(folder / "redis.tar"), repository=REDIS, changes=[path])


def _binary(name: str) -> Path:
    """The program itself, where an environment of Python has only a script of this name."""
    places = [*os.environ["PATH"].split(os.pathsep), str(Path(executable() or "").parent)]
    for place in places:
        found = Path(place, name)
        if found.is_file() and found.read_bytes()[:4] == b"\x7fELF":
            return found
    pytest.skip(NONE)


def make_stand_in(engine: Engine) -> None:
    """Ours, with a program in it that is called as Batsim is."""
    context = BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        program = Path(__file__).with_name("batsim.py").read_bytes()
        for name, content in (("Dockerfile", _DOCKERFILE.encode()), ("batsim.py", program)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, BytesIO(content))
    context.seek(0)
    engine.client.images.build(fileobj=context, custom_context=True, tag=STAND_IN, rm=True)
