"""The messages of Batsim 5: FlatBuffers in their JSON form, under other names, for the same events and commands.

* envelope.py: one JSON object and a NUL; events are `event_type` and `event`;
* greeting.py: the messages before SIMULATION_BEGINS, which request features of the simulation;
* event_forms.py and command_forms.py: a reader and a writer for each class, and the tables; placements.py,
  triggers.py, jobs.py, profiles.py, begins.py, progress.py: parts of them.

Typed values use Batsim 4's names for profiles and members of jobs, so that an algorithm sees the same on both. Anything
that real Batsim 5 cannot read is refused by the readers and never written: an unknown member or name, a missing
required member. Facts and the names of members come from messages of a real Batsim 5.0.0-rc2.
"""
