"""Job and profile descriptions that Batsim keeps in Redis instead of its messages.

Start with `store`: a `JobStore` is what a session and a simulator need. `redis_store` is a Redis server,
`memory_store` the same within a process; `keys` has the names and forms of Batsim, shared by both.

Invariants: all descriptions of a message are read or written at once; values are bytes as Redis holds them, in the
memory, too; an error names the place and the key.
"""
