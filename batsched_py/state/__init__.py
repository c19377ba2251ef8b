"""What is happening now: one state of jobs and hosts, changed only by `State.apply`."""
