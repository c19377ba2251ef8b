"""The decision process, from the bytes of a request to those of the reply, and the loop around it.

Start with session.py: `Session.answer` processes one message, from bytes to events to the state, through the algorithm,
to commands and bytes. Then

* serve.py: the loop for ZeroMQ: receive, answer, record, send;
* scheduler_factory.py: creates the algorithm from its options;
* clock.py: the simulated time that a decision takes, none by default;
* questions.py: answers to Batsim's queries, such as how long a job would wait;
* requests.py: jobs that external events submit or cancel;
* periodic_emulation.py: periodic calls and energy queries, emulated by single ones for versions without commands;
* stored_jobs.py: jobs and answers that Batsim keeps in Redis instead of its messages;
* ignored_constraints.py: warnings about requirements of jobs that an algorithm ignores;
* error_context.py: the error line with the time, the events and the line of user code at which an algorithm failed.

Invariants:

* session.py does no I/O and reads no clock except the given one: the same requests give the same replies.
* After any exception, the caller can send `Session.refusal`, which makes Batsim stop instead of waiting forever.
* A reply is recorded before it is sent, so that Batsim never acts on an unrecorded decision.
"""
