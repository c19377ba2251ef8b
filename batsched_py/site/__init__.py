"""A live site: the decision process as something people stand in front of.

A paced simulation runs in a thread of its own, and asks a session; requests come in while time passes. Start with
site.py, which ties the parts together. Then

* pacing.py: the simulated time of a wall clock: paced, paused, or as fast as it can;
* journal.py: what was accepted, in SQLite: written before anybody is told so;
* inbox.py: the requests between those who ask and the simulation, and the instant at which each of them happens;
* recording.py: the transcript, which goes on where it was left;
* folder.py, backups.py: the folder of both, locked by the process that decides; copies of it;
* simulated.py, served.py: a site on a simulated platform, and one beside a Batsim that connects;
* board.py: what the site looks like now, for all who read.

Invariants:

* A request is on disk, with its instant, before it is answered, and before it happens. The simulation is deterministic,
  so that the same requests at the same instants make the same site again, after whatever ended it.
* One thread decides, the simulation's; others only read what the board holds, and leave requests in the inbox.
"""
