"""In which state each host is, and for how long."""

from batsched_py.simulator.machines.machines import COMPUTING, IDLE, SLEEPING, UNAVAILABLE, Machines, members


def test_time_is_counted_up_to_the_last_change_of_each_host() -> None:
    """As Batsim counts: a host that never changed has spent no time in any state."""
    machines = Machines(4)
    machines.occupy(0b0011, 5.0)
    machines.release(0b0011, 15.0)
    machines.occupy(0b0001, 25.0)
    machines.release(0b0001, 26.0)
    seconds = machines.seconds()
    assert (seconds[COMPUTING], seconds[IDLE]) == (21.0, 20.0)


def test_unavailability_covers_what_goes_on_underneath() -> None:
    """A job that ends there is not seen to; the host is idle when it is available again."""
    machines = Machines(2)
    machines.occupy(0b01, 0.0)
    machines.withdraw(0b01, 10.0)
    machines.release(0b01, 12.0)
    assert machines.free == 0b10
    machines.restore(0b01, 20.0)
    assert machines.free == 0b11
    seconds = machines.seconds()
    assert (seconds[COMPUTING], seconds[UNAVAILABLE], seconds[IDLE]) == (10.0, 10.0, 0.0)


def test_shared_hosts_are_released_with_their_last_job() -> None:
    """Jobs are counted on hosts that have more than one."""
    machines = Machines(3)
    machines.occupy(0b011, 0.0)
    machines.occupy(0b110, 0.0)
    machines.release(0b011, 1.0)
    assert machines.hosts_in[COMPUTING] == 0b110
    machines.release(0b110, 2.0)
    assert machines.free == machines.all


def test_states_are_told_in_words() -> None:
    """For messages."""
    machines = Machines(4)
    machines.move(0b0001, IDLE, SLEEPING, 0.0)
    machines.withdraw(0b0010, 0.0)
    assert machines.states(0b0111) == "1 unavailable, 2 idle, 0 sleeping"


def test_many_changes_are_kept_short() -> None:
    """Only the latest change of each host matters; the sums stay right."""
    machines = Machines(1)
    for second in range(3000):
        machines.occupy(1, second + 0.5)
        machines.release(1, second + 1.0)
    assert machines.seconds()[COMPUTING] == 1500.0


def test_members_are_the_host_numbers() -> None:
    """In ascending order."""
    assert members(0b101101) == [0, 2, 3, 5]
