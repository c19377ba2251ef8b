"""Starts of the algorithm's kernel beside those that a real Slurm decided, for recorded cases.

`python -m tests.acceptance.slurm PATH`, where PATH is a folder with `cases`, or with cases: folders with `case.json`
and `result.json`. Prints CSV: a start is within if it differs from the best repetition by at most 2 s or 5 %.
Names after PATH select cases that begin with them. With `--passes`, the first pass that differs from that of the
repetition that agrees longest is printed instead: what was tested, started and planned (`passes.json` of the case).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.slurm_cases import play, score
from tests.slurm_passes import first_difference, play_passes, recorded


def cases(path: Path) -> list[Path]:
    """The folders of cases below a path, in the order of their names."""
    folder = path / "cases" if (path / "cases").is_dir() else path
    return sorted(one.parent for one in folder.glob("*/case.json"))


def passes_text(folder: Path, case: dict[str, Any], repetitions: Sequence[dict[str, Any]]) -> str:
    """The first pass of a case that differs, on both sides; of the repetition of which it is the latest."""
    recordings = json.loads((folder / "passes.json").read_text())["repetitions"]
    differences = []
    for real, repetition in zip(recordings, repetitions, strict=True):
        ours = play_passes(case, repetition["clock_at_zero_mod_3600"], repetition["controller_started_at"])
        found = first_difference(recorded(real["passes"]), ours)
        if found is None:
            return f"{case['id']}: all passes agree\n"
        differences.append(found)
    found = max(differences, key=lambda pair: min(one.at for one in pair if one is not None))
    return f"{case['id']}:\n- {found[0] or 'no pass'}\n+ {found[1] or 'no pass'}\n"


def main() -> int:
    """Play each case, and print how near its starts are."""
    path, wanted = Path(sys.argv[1]), [word for word in sys.argv[2:] if word != "--passes"]
    is_by_pass = "--passes" in sys.argv[2:]
    if not is_by_pass:
        sys.stdout.write("case,jobs,within,same_nodes,mean_wait_error\n")
    for folder in cases(path):
        if wanted and not any(folder.name.startswith(one) for one in wanted):
            continue
        case: dict[str, Any] = json.loads((folder / "case.json").read_text())
        result: dict[str, Any] = json.loads((folder / "result.json").read_text())
        repetition = result["repetitions"][0]
        if is_by_pass:
            sys.stdout.write(passes_text(folder, case, result["repetitions"]))
            continue
        played = play(case, repetition["clock_at_zero_mod_3600"], repetition["controller_started_at"])
        found = score(result["repetitions"], played.starts)
        row = (case["id"], found.jobs, found.within, found.same_nodes, f"{found.mean_wait_error:.2f}")
        sys.stdout.write(",".join(map(str, row)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
