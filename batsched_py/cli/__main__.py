"""`python -m batsched_py.cli` is `batsched-py`."""

from batsched_py.cli.main import main

if __name__ == "__main__":
    main()
