"""Jobs in the simulator: submission, profiles, execution, end."""
