"""Images of the state of a site, from which it starts without repeating its whole journal.

A site starts by the repetition of its journal (ADR 30), and an image only shortens it: the state at one moment, with
the numbers and hashes of what led to it. If anything about an image is not as expected, the whole journal is repeated.

* `kinds` lists the classes that an image may hold, and is the only place that makes objects by their names;
* `graph` walks from the roots of the state to all that it consists of;
* `writing` and `reading` turn a graph into columns of JSON values, and back;
* `files` writes the file whole or not at all, and checks it;
* `keeper` decides when an image is written, and writes it in a process of its own.
"""
