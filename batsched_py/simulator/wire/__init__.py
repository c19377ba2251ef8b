"""Messages to and from the scheduler."""
