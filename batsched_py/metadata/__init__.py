"""Job and profile descriptions that Batsim keeps in Redis instead of its messages.

Start with `store`: `JobStore` is the interface for a session and a simulator. `redis_store` uses a Redis server,
`memory_store` the memory of the process; `keys` has Batsim's keys and formats, shared by both.

Invariants: all descriptions of a message are read or written at once; values are bytes as in Redis, also in memory; an
error names the place and the key.
"""
