"""A live site: the decision process as a service that accepts requests while time passes.

A paced simulation runs in its own thread and calls a session. Start with site.py, which connects the parts. Then

* pacing.py: simulated time derived from a wall clock: paced, paused, or as fast as possible;
* journal.py: the accepted requests, in SQLite, written before they are acknowledged;
* batches.py: the requests that take effect in one message;
* inbox.py: the queue of requests between callers and the simulation, with the instant at which each takes effect;
* recording.py: the transcript, continued after a restart;
* audit.py: who did what, and what was refused, in a log of its own;
* folder.py, same_file.py, backups.py: the folder of these files, locked by the process that decides, and its backups;
* recent_warnings.py: warnings of the run, as long as they do not come too fast;
* image: images of the state, which shorten starts;
* simulated.py, served.py: a site on a simulated platform, and a site that serves a Batsim;
* board.py, snapshot.py: snapshots of the current state, for readers in other threads.

Invariants:

* A request is on disk, with its instant, before it is acknowledged and before it takes effect. The simulation is
  deterministic: after any crash, replaying the same requests at the same instants restores the site.
* Only the simulation's thread decides; other threads read the board and put requests into the inbox.
"""
