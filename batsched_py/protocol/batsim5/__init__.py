"""The messages of Batsim 5: FlatBuffers in their JSON form, under other names, for the same events and commands.

* envelope.py: one JSON object and a NUL; events are `event_type` and `event`;
* greeting.py: what is said before SIMULATION_BEGINS, and which features of the simulation are asked for;
* event_forms.py and command_forms.py: a reader and a writer for each class, and the tables; placements.py,
  triggers.py, jobs.py, profiles.py, begins.py, progress.py: parts of them.

Profiles and members of jobs have the names of Batsim 4 in our values, so that an algorithm sees the same on both. What
real Batsim 5 cannot read at all is refused when it is read here, too, and never written: a member or a name that is
unknown, a required one that is missing. Facts and the names of members come from messages of a real Batsim 5.0.0-rc2.
"""
