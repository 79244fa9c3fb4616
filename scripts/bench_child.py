"""What `make bench` measures in processes of their own: ``python -m scripts.bench_child CONFIG JOBS OUT``.

Runs an experiment as a user would and says in one line of JSON how long each part took, what memory it needed and
what came out. CONFIG is a config as JSON; OUT a folder for the results.
"""

from __future__ import annotations

import json
import resource
import sys
from hashlib import sha256
from pathlib import Path
from time import perf_counter, process_time
from typing import Any


def main(config: dict[str, Any], jobs: int, out: Path) -> dict[str, Any]:
    """Load the program, compile or load its kernels, run, write the tables."""
    marks = [perf_counter()]

    # Here, because loading is a part of what is measured.
    from splitlab.study import run, write_tables

    marks.append(perf_counter())
    run(config, runs=1, jobs=1)  # the kernels: compiled, or read from the cache
    marks.append(perf_counter())
    results = run(config, jobs=jobs, out=out)
    marks.append(perf_counter())
    write_tables(results, out)
    marks.append(perf_counter())
    parts = ("load_seconds", "kernel_seconds", "run_seconds", "write_seconds")
    seconds = {part: round(marks[i + 1] - marks[i], 4) for i, part in enumerate(parts)}
    wins = results.win_percentage.to_csv(index=False).encode()
    used = {"processor_seconds": round(process_time(), 4)}  # far less than the wall time: others had the machine
    return {**seconds, **used, "peak_megabytes": round(peak_megabytes(), 1), "result": sha256(wins).hexdigest()[:16]}


def peak_megabytes() -> float:
    """Largest resident memory of this process, in 10^6 bytes.

    Linux counts in ``ru_maxrss`` what the parent held when it started this process, so its own high-water mark, which
    begins anew, is read where there is one.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))
