"""`python -m batsched_py` is the command `batsched-py`."""

from batsched_py.cli.__main__ import main

if __name__ == "__main__":
    main()
