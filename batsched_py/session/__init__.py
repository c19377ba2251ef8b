"""The decision process: a request's bytes in, the reply's bytes out, and the loop around that.

Start with session.py: `Session.answer` is the way of one message, from bytes to events to the state, through the
algorithm, to commands and bytes. Then

* serve.py: the loop for ZeroMQ: receive, answer, record, send;
* making.py: the algorithm, from its options;
* clock.py: the simulated time that a decision takes, none by default;
* queries.py: Batsim's questions, as how long a job would wait;
* requests.py: jobs that external events ask for, or take back;
* recurring.py: periodic calls and the energy, asked for again and again where Batsim has no commands for them;
* stored_jobs.py: jobs and answers that Batsim keeps in Redis instead of its messages;
* unheeded.py: hints that an algorithm does not heed what jobs ask for;
* story.py: the line that says when, in answer to which events, and where in the user's code an algorithm failed.

Invariants:

* session.py does no I/O and reads no clock but the one it is given: the same requests give the same replies.
* Whatever is raised, the caller can send `Session.refusal`, which makes Batsim stop instead of waiting for ever.
* A reply is recorded before it leaves, so that Batsim never acts on a decision that nobody can look up.
"""
