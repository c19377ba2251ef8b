"""Managed experiments: computes, storages and networks that one document describes, deployed as a whole (BonFIRE).

* `model`: an experiment, its resources and their references; nothing behind the parsers knows in which form it came.
* `states`: of experiments, reservations and resources, as tables; `log`: what has happened.
* `orchestrator`: brings experiments through their states, by `deploying`, `progress`, `reserving` and `undoing`; the
  books of each experiment are in `managed`.
* `resource_manager`: what an orchestrator asks for resources and reservations.
* `testbed`: where resources can be: locations with their catalogues and delays, and types of instances.
* `parsing`: documents in JSON and OVF to the model; `validation`: rules between members; `faults`: all that is wrong.
* `aggregator`, `contexts`: what a document says in one word, and is expanded.
* `deployment`: the order in which the resources of an experiment are created; `forecast`: when, if all goes well.
* `lease_manager`: a resource manager on leases, with a `hosting` finder of hosts, `addresses` and
  `lease_records`.
* `playing`: timelines in the machines of experiments; `tables`: what became of all.

Nothing here does I/O. Times are seconds; those of a document count from the start of the simulation.
"""
