"""The live view of `simulate` and `serve`, on a real terminal and over real sockets."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.builders import begins_data, completed_data, message, submitted_data
from tests.integration.programs import ROOT, algorithm, ask, batsim, run, serving, types
from tests.integration.terminal import HIDE_CURSOR, SHOW_CURSOR, Terminal, on_terminal

FILES = ("-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json"))
BEGINS = message(0.0, ("SIMULATION_BEGINS", begins_data()))
ENDS = message(6.0, ("SIMULATION_ENDS", {}))


def listening(terminal: Terminal) -> str:
    """Wait for the address at which a `serve` listens, and return it."""
    return terminal.read_until(r"listens on (tcp://\S+)\n")[1]


def test_a_simulation_is_shown_until_its_end(tmp_path: Path) -> None:
    """The last picture stays, with all jobs; what the command prints is not touched by it."""
    with on_terminal(tmp_path, "simulate", *FILES, "-s", "easy", "--live") as terminal:
        code, out = terminal.end()
    assert code == 0
    assert "8 of 8 ended, 0 in" in terminal.text
    assert "0%: 0 of 4 hosts" in terminal.text
    assert "17 decisions; deciding" in terminal.text
    assert HIDE_CURSOR in terminal.written
    assert terminal.clean
    assert "makespan" in out
    assert "\x1b" not in out


def test_a_decision_that_takes_long_is_shown_while_it_is_made(tmp_path: Path) -> None:
    """Waiting jobs and reasons are shown; the file that the algorithm waits for is made when all of it was seen."""
    name = algorithm(
        tmp_path,
        "for job in view.queue: plan.hold(job, 'the moon is not full')\n"
        "while view.now >= 15 and not os.path.exists('full'): pass\n"
        "for job in view.queue if view.now >= 15 else ():\n"
        "    hosts = plan.free.first(job.size)\n"
        "    if hosts is not None: plan.start(job, hosts)",
    )
    with on_terminal(tmp_path, "simulate", *FILES, "-s", name, "--live", "--quiet") as terminal:
        terminal.read_until(r"0 of 8 ended, 3 in")
        terminal.read_until(r"3 waiting, 0 running")
        terminal.read_until(r"next w0!A \(3 hosts\): the moon is not full")
        terminal.read_until(r"elapsed +deciding, for \d s")
        (tmp_path / "full").touch()
        assert terminal.end() == (0, "")
    assert "8 of 8 ended, 0 in" in terminal.text
    assert terminal.clean


def test_what_another_program_decides_is_shown_too(tmp_path: Path) -> None:
    """As the simulator's books say; why jobs wait is the other program's secret."""
    with serving(tmp_path, "-s", "easy") as served:
        arguments = ("simulate", *FILES, "--socket", served.address, "--live", "--quiet")
        with on_terminal(tmp_path, *arguments) as terminal:
            assert terminal.end() == (0, "")
        assert served.end()[0] == 0
    assert f"asking the decision process on {served.address}\n" in terminal.text
    assert "8 of 8 ended, 0 in" in terminal.text
    assert terminal.clean


def test_a_served_batsim_is_shown_after_each_message(tmp_path: Path) -> None:
    """However long it computes before the next: what waits and why, what runs, what has ended."""
    with on_terminal(tmp_path, "serve", "-s", "easy", "-b", "tcp://127.0.0.1:*", "--live") as terminal:
        address = listening(terminal)
        terminal.read_until("waiting for Batsim")
        with batsim(address) as client:
            ask(client, BEGINS)
            both = (("JOB_SUBMITTED", submitted_data(name, size)) for name, size in (("1", 3), ("2", 4)))
            assert types(ask(client, message(1.0, *both))) == ["EXECUTE_JOB"]
            terminal.read_until(r"75%: 3 of 4 hosts")
            terminal.read_until(r"0 ended, 2 in")
            terminal.read_until(r"1 waiting, 1 running")
            terminal.read_until(r"next w0!2 \(4 hosts\): needs 4 hosts, 1 is free")
            terminal.read_until(r"promised for 00:00:11, in 00:00:10")
            assert types(ask(client, message(6.0, ("JOB_COMPLETED", completed_data("1", "0-2"))))) == ["EXECUTE_JOB"]
            terminal.read_until(r"100%: 4 of 4 hosts")
            terminal.read_until(r"0 waiting, 1 running")
            ask(client, message(9.0, ("JOB_COMPLETED", completed_data("2", "0-3"))))
            ask(client, message(9.0, ("SIMULATION_ENDS", {})))
        assert terminal.end() == (0, "")
    assert "2 ended, 0 in" in terminal.text
    assert terminal.text.endswith("the simulation ended at t=9 after 5 messages\n")
    assert terminal.clean


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_leaves_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """The cursor is back, the last picture stays, one line says what happened."""
    arguments = ("serve", "-s", "fcfs", "-b", "tcp://127.0.0.1:*", "--live")
    with on_terminal(tmp_path, *arguments) as terminal, batsim(listening(terminal)) as client:
        ask(client, BEGINS)
        ask(client, message(1.0, ("JOB_SUBMITTED", submitted_data("1", 2))))
        terminal.read_until(r"0 ended, 1 in")
        terminal.process.send_signal(number)
        assert terminal.end() == (code, "")
    assert terminal.text.splitlines()[-1].startswith("batsched-py: ")
    assert terminal.clean


def test_an_error_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    """The line stands below the picture of how far it came."""
    name = algorithm(tmp_path, "if view.now >= 20: raise KeyError('E')")
    with on_terminal(tmp_path, "simulate", *FILES, "-s", name, "--live", "--quiet") as terminal:
        assert terminal.end() == (3, "")
    assert "0 of 8 ended, 5 in" in terminal.text
    assert terminal.text.splitlines()[-1].startswith("batsched-py: error: t=20: mine failed on JobSubmitted w0!E")
    assert terminal.clean


def test_warnings_stand_above_the_picture(tmp_path: Path) -> None:
    """On lines of their own."""
    with on_terminal(tmp_path, "serve", "-s", "fcfs", "-b", "tcp://127.0.0.1:*", "--live") as terminal:
        with batsim(listening(terminal)) as client:
            ask(client, BEGINS)
            ask(client, message(1.0, ("ALIENS_LANDED", {"count": 3})))
            ask(client, ENDS)
        assert terminal.end() == (0, "")
    assert any("ALIENS_LANDED" in line and "messages" not in line for line in terminal.text.splitlines())
    assert terminal.clean


def test_without_a_terminal_one_line_says_so_and_all_else_is_as_ever(tmp_path: Path) -> None:
    """For both commands."""
    line = "batsched-py: warning: --live: stderr is not a terminal; nothing is shown\n"
    shown = run(tmp_path, "simulate", *FILES, "-s", "easy", "--live", "--gantt", "--quiet")
    plain = run(tmp_path, "simulate", *FILES, "-s", "easy", "--gantt", "--quiet")
    assert (shown.returncode, shown.stderr, shown.stdout) == (0, line, plain.stdout)
    with serving(tmp_path, "-s", "fcfs", "--live") as served, batsim(served.address) as client:
        ask(client, BEGINS)
        ask(client, ENDS)
        assert served.end() == (0, [line.strip(), "the simulation ended at t=6 after 2 messages"])


def test_a_terminal_that_cannot_move_its_cursor_is_none(tmp_path: Path) -> None:
    """An editor's, say."""
    with on_terminal(tmp_path, "simulate", *FILES, "-s", "easy", "--live", "--quiet", term="dumb") as terminal:
        assert terminal.end() == (0, "")
    assert terminal.text == "batsched-py: warning: --live: stderr is not a terminal; nothing is shown\n"
    assert SHOW_CURSOR not in terminal.written
