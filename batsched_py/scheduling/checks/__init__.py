"""Rules that the verbs of the Plan check before anything is booked or sent."""
