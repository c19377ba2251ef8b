"""Content of files that Batsim refuses and this simulator accepts."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.model.settings import Settings
from batsched_py.simulator.referee.strictness import NO_MASTER, NO_SIZE, NO_TRANSFERS, UNKNOWN_CONFIG, refused_files
from batsched_py.traces.simgrid_xml import read_platform
from tests.unit.simulator.scenario import job, platform, play, reject, workload

PLAIN = workload(job("a", at=1))


@pytest.mark.parametrize(
    ("members", "refused"),
    [
        ({"type": "parallel", "cpu": [1, 1]}, True),
        ({"type": "parallel", "cpu": [1, 1], "com": []}, True),
        ({"type": "parallel", "cpu": [1, 1], "com": [0, 0, 0, 0]}, False),
        ({"type": "parallel_homogeneous", "cpu": 1}, True),
        ({"type": "parallel_homogeneous", "cpu": 1, "com": 0}, False),
        ({"type": "parallel_homogeneous_total", "cpu": 1}, True),
        ({"type": "parallel_homogeneous_total", "cpu": 1, "com": 0}, False),
        ({"type": "delay", "delay": 1}, False),
        ({"type": "parallel_homogeneous_pfs", "bytes_to_read": 1}, False),
    ],
)
def test_parallel_tasks_must_say_what_they_send(members: dict[str, Any], refused: bool) -> None:
    """Batsim has no default for it, whether a job uses the profile or not."""
    told = [*refused_files(platform(), [workload(profiles={"p": members})])]
    assert told == ([NO_TRANSFERS] if refused else [])


def test_a_workload_must_say_for_how_many_hosts_it_is() -> None:
    """0, which we take for unknown, is refused like a missing `nb_res`."""
    assert [*refused_files(platform(), [PLAIN, replace(PLAIN, host_count=0)])] == [NO_SIZE]


def test_a_platform_must_have_a_master() -> None:
    """By its name or by its role."""
    assert [*refused_files(platform(), [PLAIN], "boss")] == [NO_MASTER]
    assert [*refused_files(platform().with_roles({"h0": "master"}), [PLAIN], "boss")] == []


def test_unknown_items_of_the_configuration_are_named(tmp_path: Path) -> None:
    """All of them, as they stand in the platform file."""
    file = tmp_path / "platform.xml"
    config = '<config id="c"><prop id="a/b" value="1"/><prop id="surf/precision" value="1e-9"/></config>'
    hosts = '<host id="h" speed="1f"/><host id="master_host" speed="1f"/>'
    zone = f'<zone id="z" routing="Full">{hosts}</zone>'
    file.write_text(f'<platform version="4.1">{config}<config><prop id="c" value=""/></config>{zone}</platform>')
    read = read_platform(file)
    assert read.config == (("a/b", "1"), ("surf/precision", "1e-9"), ("c", ""))
    assert [*refused_files(read, [PLAIN])] == [f"{UNKNOWN_CONFIG}a/b, c"]


def test_a_run_tells_what_batsim_would_refuse() -> None:
    """Among its approximations."""
    jobs = replace(PLAIN, host_count=0)
    result, _ = play(jobs, {1.0: [reject("a")]}, settings=Settings(master_host="boss"))
    assert result.approximations == (NO_MASTER, NO_SIZE)
    result, _ = play(PLAIN, {1.0: [reject("a")]})
    assert result.approximations == ()
