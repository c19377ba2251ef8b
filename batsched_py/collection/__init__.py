"""Collection: what is known of hosts, and queries for them, as in Legion.

* `mil`: the language of queries.
* `collection`: records that join, leave and are updated; collections that poll others and are out of date. `columns`:
  the values of all records, by attributes. `records`: what a query finds. `hosts`: records of a platform's hosts.
* `alternatives`: schedules in order of preference, perhaps as differences. `placers`: propose them, made by `proposals`
  of what a query finds in some order (`arrangements`).
* `enactor`: reserves one of them, all or nothing. `resources`: hosts and vaults that decide for themselves, by their
  `policies`; `tokens`: what they grant; `codes`: what they answer; `attempts`: what that took.
* `demands`: what jobs ask of hosts and vaults; `classes`: what all jobs of a kind ask for. `waiting`: jobs that wait;
  `rests`: when those are tried again that hosts do not want.

Nothing here does I/O. Times are seconds.
"""
