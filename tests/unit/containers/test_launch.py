"""The start of Batsim in a container: its arguments, and the folders that it sees."""

from __future__ import annotations

from pathlib import Path

from batsched_py.containers.launch import HOST_NAME, Folder, Launch, LaunchFiles, batsim


def launched(inputs: LaunchFiles, *extra: str, named: bool = False) -> Launch:
    """With what does not matter here."""
    socket, user, network = "tcp://127.0.0.1:5", "7:8", "host"
    return batsim(inputs, extra, image="batsim:4", socket=socket, user=user, network=network, named=named)


def test_each_input_is_shown_with_the_folder_it_is_in(tmp_path: Path) -> None:
    """Files refer to files beside them: a platform to its parts, jobs to traces of MPI."""
    inputs = LaunchFiles(
        platform=tmp_path / "p.xml",
        workloads=(tmp_path / "a" / "w.json", tmp_path / "b" / "w.json"),
        events=tmp_path / "e.txt",
    )
    launch = launched(inputs)
    folder = str(tmp_path)
    assert launch.folders == (
        Folder(folder, "/batsim/platform"),
        Folder(f"{folder}/a", "/batsim/workloads/0"),
        Folder(f"{folder}/b", "/batsim/workloads/1"),
        Folder(folder, "/batsim/events"),
    )
    assert launch.arguments == (
        *("--socket-endpoint", "tcp://127.0.0.1:5", "--platform", "/batsim/platform/p.xml"),
        *("--workload", "/batsim/workloads/0/w.json", "--workload", "/batsim/workloads/1/w.json"),
        *("--events", "/batsim/events/e.txt", "--export", "/batsim/export/out"),
    )


def test_only_the_folder_of_the_results_can_be_written(tmp_path: Path) -> None:
    """A prefix is text, and what follows the last slash is the beginning of names."""
    for prefix, spelled in ((f"{tmp_path}/out/easy", "easy"), (f"{tmp_path}/out/", "")):
        launch = launched(LaunchFiles(platform=Path("p.xml"), workloads=(), export=prefix), "-q")
        assert [folder for folder in launch.folders if folder.writable] == [
            Folder(f"{tmp_path}/out", "/batsim/export", writable=True)
        ]
        assert launch.arguments[-3:] == ("--export", f"/batsim/export/{spelled}", "-q")
        assert launch.scratch == ("/tmp",)


def test_without_a_prefix_results_vanish_with_the_container() -> None:
    """Batsim writes them all the same: it has no option not to."""
    launch = launched(LaunchFiles(platform=Path("p.xml"), workloads=()))
    assert [folder for folder in launch.folders if folder.writable] == []
    assert launch.scratch == ("/tmp", "/batsim/export")


def test_a_link_is_looked_up_where_it_is(tmp_path: Path) -> None:
    """As Batsim would without a container: by the link's own name, in the link's own folder."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    launch = launched(LaunchFiles(platform=tmp_path / "link" / "p.xml", workloads=()))
    assert launch.folders[0] == Folder(str(tmp_path / "real"), "/batsim/platform")


def test_this_machine_has_a_name_only_where_it_needs_one() -> None:
    """On its own network it is 127.0.0.1."""
    inputs = LaunchFiles(platform=Path("p.xml"), workloads=())
    assert launched(inputs).host_name is None
    assert launched(inputs, named=True).host_name == HOST_NAME
