"""docker-compose.yml: what `docker compose up` brings up finishes a run, confined and on loopback."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import docker
import docker.errors
import pytest
import redis

from batsched_py.errors import SiteError
from batsched_py.site.client import SiteClient
from tests.clone import ROOT
from tests.containers.compose import Service, extracted, services, up, wanted
from tests.containers.engine import Engine
from tests.containers.images import BASE, REDIS, STAND_IN
from tests.containers.results import same_results
from tests.integration.programs import run
from tests.redis_server import free_port

LOCAL = {"BASE": BASE, "REDIS_IMAGE": REDIS, "BATSIM_IMAGE": STAND_IN}
RUN = ("-p", str(ROOT / "platforms/cluster32.xml"), "-w", str(ROOT / "workloads/lublin200.json"))


def here(**environment: str) -> dict[str, Service]:
    """The services with images of this machine, on free ports of its loopback."""
    ports = {"28000": str(free_port()), "6379": str(free_port())}
    return services({**LOCAL, **environment}, {**ports, "0.0.0.0": "127.0.0.1"})


def redis_port(known: dict[str, Service]) -> int:
    """Return the port of Redis in the file of Compose."""
    command = known["redis"].command
    return int(command[command.index("--port") + 1])


def test_up_finishes_a_run_with_the_embedded_simulator(with_redis: Engine, tmp_path: Path) -> None:
    """Scheduler and simulator end with success, each started when what it needs was healthy; the results are ours."""
    known = here()
    assert wanted(known) == ["scheduler", "redis", "simulator"]
    with up(with_redis, known, "default") as project:
        code, log = project.wait("simulator")
        assert code == 0, log
        assert re.search(r"jobs +200 *\n", log)
        assert project.seen == {"scheduler": "healthy", "redis": "healthy"}
        code, log = project.wait("scheduler")
        assert (code, log.splitlines()[-1]) == (0, "the simulation ended at t=183186.666 after 402 messages")
        with redis.Redis("127.0.0.1", redis_port(known)) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
        with redis.Redis("127.0.0.1", redis_port(known), password="batsched") as store:
            assert len(store.keys("default:job_w0!*")) == 200
        extracted(project.containers["simulator"], "/out", tmp_path)
    assert run(tmp_path, "simulate", *RUN, "-s", "easy", "-e", "here/simulator", "--quiet").returncode == 0
    same_results(tmp_path / "out", tmp_path / "here")


def test_the_profile_site_goes_on_where_it_was(ours: Engine, tmp_path: Path) -> None:
    """Healthy, guarded by its token, and with the same leases after it was killed."""
    (tmp_path / "out").mkdir()
    port, token = str(free_port()), "a-secret-of-many-characters"
    environment = {"SITE_PORT": port, "SITE_TOKEN": token, "OUT": str(tmp_path / "out")}
    known = services(
        {**LOCAL, **environment, "BATSCHED_USER": f"{os.getuid()}:{os.getgid()}"},
        {"8080": port, "0.0.0.0": "127.0.0.1"},
    )
    assert wanted(known, "site") == ["site"]
    url = f"http://127.0.0.1:{port}"
    with up(ours, known, "site", "site") as project:
        with pytest.raises(SiteError, match="must send the site's token"):
            SiteClient(url, patience=60).get("api", "leases")
        client = SiteClient(url, token, patience=60)
        client.post("api", "leases", body={"nodes": 32, "duration": "unlimited"})
        project.containers["site"].kill()
        project.containers["site"].start()
        assert [lease["number"] for lease in client.get("api", "leases")] == [1]


def test_the_profile_batsim_has_a_decision_process_of_its_own(with_batsim: Engine, tmp_path: Path) -> None:
    """It does not meet the embedded simulator; another algorithm, files in a folder of the user's, and a recording."""
    out = tmp_path / "out"
    out.mkdir()
    known = here(ALGORITHM="fcfs", OUT=str(out), BATSCHED_USER=f"{os.getuid()}:{os.getgid()}")
    assert wanted(known, "batsim") == ["batsim-scheduler", "batsim"]
    with up(with_batsim, known, "batsim", "batsim") as project:
        code, log = project.wait("batsim")
        assert code == 0, log
        code, log = project.wait("batsim-scheduler")
        assert code == 0, log
    assert run(tmp_path, "simulate", *RUN, "-s", "fcfs", "-e", "here/batsim", "--quiet").returncode == 0
    replayed = run(tmp_path, "replay", "out/batsim.jsonl.gz")
    assert (replayed.returncode, replayed.stdout[:4]) == (0, "fcfs")
    (out / "batsim.jsonl.gz").unlink()
    same_results(out, tmp_path / "here")


@pytest.mark.parametrize("name", services({}, {}))
def test_each_service_is_confined_and_on_loopback(name: str) -> None:
    """No root, no right, no file to write but what is mounted; published is what this machine alone can reach."""
    service = services({}, {})[name]
    assert service.user == "1000:1000"
    assert (service.read_only, service.init, service.cap_drop) == (True, True, ["ALL"])
    assert service.security_opt == ["no-new-privileges:true"]
    assert [port for port in service.ports if not port.startswith("127.0.0.1:")] == []
    assert {volume.split(":")[1] for volume in service.volumes if not volume.endswith(":ro")} <= {"/out"}


def test_a_container_has_what_the_file_asks_for(with_redis: Engine) -> None:
    """The engine reports that the run above was confined, not only the file."""
    known = here()
    with up(with_redis, known, "asked", "redis") as project:
        project.containers["redis"].reload()
        attributes = project.containers["redis"].attrs
    assert attributes["Config"]["User"] == "1000:1000"
    assert attributes["HostConfig"]["ReadonlyRootfs"] is True
    assert attributes["HostConfig"]["CapDrop"] == ["ALL"]


def programs() -> list[list[str]]:
    """Compose itself, as a plugin or by itself, as far as it is installed."""
    found = [["docker", "compose"], ["docker-compose"]]
    return [command for command in found if shutil.which(command[0]) and told(command, "version").returncode == 0]


def told(command: Sequence[str], *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Compose in a clone and return the completed process."""
    return subprocess.run(
        [*command, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module")
def program() -> list[str]:
    if not (found := programs()):
        pytest.skip("needs docker compose: apt-get install docker-compose")
    return found[0]


def test_compose_finds_nothing_wrong_with_the_file(program: list[str]) -> None:
    """Its own check; and it knows the services that we read."""
    checked = told(program, "--profile", "batsim", "config", "--services")
    assert checked.returncode == 0, checked.stderr
    assert sorted(checked.stdout.split()) == sorted(services({}, {}))


@pytest.fixture
def composed(program: list[str], with_redis: Engine) -> Iterator[dict[str, str]]:
    """The environment of a Compose that uses the tests' engine; what it brings up is taken down."""
    try_network(with_redis)
    environment = {
        **LOCAL,
        "DOCKER_HOST": with_redis.address,
        "COMPOSE_PROJECT_NAME": "composed",
        "SCHEDULER_PORT": str(free_port()),
        "REDIS_PORT": str(free_port()),
    }
    yield environment
    told(program, "down", "--volumes", **environment)


def try_network(engine: Engine) -> None:
    """The test is skipped where the kernel has no networks for containers."""
    try:
        network = engine.client.networks.create("tried")
        try:
            engine.client.containers.run(BASE, ["true"], network="tried", remove=True)
        finally:
            network.remove()
    except docker.errors.APIError as error:
        pytest.skip(f"this kernel has no networks for containers: {error.explanation}")


def test_compose_itself_finishes_a_run(program: list[str], composed: dict[str, str], tmp_path: Path) -> None:
    """On a network of its own, with the names of the services; the exit code is the simulator's."""
    out = tmp_path / "out"
    out.mkdir()
    user = f"{os.getuid()}:{os.getgid()}"
    done = told(program, "run", "--rm", "simulator", OUT=str(out), BATSCHED_USER=user, **composed)
    assert done.returncode == 0, done.stderr
    assert re.search(r"jobs +200 *\n", done.stdout)
    assert run(tmp_path, "simulate", *RUN, "-s", "easy", "-e", "here/simulator", "--quiet").returncode == 0
    same_results(out, tmp_path / "here")


def test_the_reader_passes_nothing_over() -> None:
    """A key of a service that the tests do not know would not be tested: it is an error."""
    with pytest.raises(TypeError):
        Service(image="a", command=[], user="1000:1000", privileged=True)  # type: ignore[call-arg]
