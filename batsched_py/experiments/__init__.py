"""Managed experiments: computes, storages and networks described in one document and deployed as a whole (BonFIRE).

* `model`: an experiment, its resources and their references, independent of the format of the document.
* `states`: tables of the states of experiments, reservations and resources; `log`: messages about progress.
* `orchestrator`: moves experiments through their states, with `deployment`, `progress`, `reservation_requests` and
  `rollback`; `managed` contains the data of each experiment.
* `resource_manager`: the interface through which an orchestrator requests resources and reservations.
* `testbed`: locations with their catalogues and delays, and types of instances.
* `parsing`: documents in JSON and OVF to the model; `validation`: rules between members;
  `descriptor_errors`: all faults of a document.
* `aggregator`, `contexts`: expansion of abbreviations in documents.
* `deployment_order`: the order in which the resources of an experiment are created; `forecast`: the earliest times.
* `lease_manager`: a resource manager on leases, with a finder of hosts (`host_finder`), `addresses` and
  `lease_records`; `user_reservations`: reservations that users request on their own, on that manager.
* `views`, `reservation_views`: snapshots of experiments and reservations for other threads.
* `timeline_playback`: timelines in the machines of experiments; `tables`: tables of results.
* `api`: what others import.

Nothing here does I/O. Times are seconds; those in documents are relative to the start of the simulation.
"""
