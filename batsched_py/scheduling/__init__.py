"""The contract between the engine and an algorithm: Scheduler, View, Plan, options, admission."""
