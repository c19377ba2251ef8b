"""A page that shows schedules: one HTML file that needs nothing else, not even a network."""
