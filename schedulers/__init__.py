"""The algorithms that come with batsched-py, one module each."""
