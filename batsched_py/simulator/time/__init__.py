"""The clock, what is due, and when messages leave."""
