"""What every test runs under."""

import os

from hypothesis import settings

#: In CI the same commit tries the same examples; at a desk each run tries new ones and remembers what failed.
settings.register_profile("ci", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")
