"""Job and profile data that Batsim keeps in Redis instead of sending it."""
