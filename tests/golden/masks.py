"""What differs from run to run, machine to machine or version to version, and is replaced before it is compared.

The lists below are all that is masked. Everything else is compared.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

MASK = "#"

# Keys of manifest.json. Their values are replaced.
MANIFEST_KEYS = ("splitlab", "git", "python", "packages", "machine", "wall_seconds", "code", "finished")
# Further keys in the manifest of an experiment of kind timing.
TIMING_KEYS = ("compile_seconds", "processor_seconds")
# Keys in the header of a block whose values hash source files, names included.
HEADER_KEYS = ("sampler",)
# The last entry of each of the header's "columns" is such a hash, too.

# Columns of csv files that hold measured times, or follow from them.
TIME_COLUMNS = (
    "microseconds",
    "microseconds_low",
    "microseconds_high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "spread",
    "trustworthy",
    "front",
    "mean_seconds",
    "standard_error",  # of times only: see `masked_csv`
)
# With the first line in which one of these stands, a text begins to be about times. They come last in every text.
TIMES_BEGIN = re.compile(r"Time relative to|Microseconds per table|Milliseconds to grow")
# Lines there that come and go with the times.
REMARKS = re.compile(r"(\\par\\small )?(Warning|Note): .*")
NUMBER = re.compile(r"\d+(,\d{3})*(\.\d+)?(e[+-]?\d+)?")
MACHINE = re.compile(r"this machine \(.*\)")
# Where an object lies in memory, in a signature.
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
# Of blocks with more numbers than this, only the checksum is kept.
LONG_BLOCK = 2000
# A duration in any text.
DURATION = re.compile(r"\b\d[\d.,]*(e[+-]?\d+)? (s|ms|minutes|hours|days|years)\b")


def masked(path: Path, work: Path) -> str:
    """The text of a results file as it is compared; a block is decoded into text.

    Parameters
    ----------
    path : Path
        The file.
    work : Path
        The folder in which everything was run. Where its path stands in a text, it is replaced.
    """
    if path.suffix in (".block", ".sums"):
        return masked_block(path.read_bytes())
    text = path.read_text(encoding="utf-8")
    if path.name == "manifest.json":
        return masked_manifest(json.loads(text), path.parent).replace(str(work), "WORK")
    if path.suffix == ".csv":
        return masked_csv(text)
    return masked_text(text, work)


def masked_block(content: bytes) -> str:
    """The header of a block without its hashes, the checksum of its numbers, and the numbers, eight to a line.

    Every eight bytes are a float64. In files of sums some are an int64. They are small, and as floats they would be
    below all that is ever stored. So they are told apart by their bits, and written without a point.
    """
    line, _, body = content.partition(b"\n")
    head, _, checksum = line.rpartition(b" ")
    header = json.loads(head)
    for key in {*HEADER_KEYS} & {*header}:
        header[key] = MASK
    header["columns"] = [[*column[:-1], MASK] for column in header["columns"]]
    header["sha256"] = _checked(header["sha256"], body)
    words, floats = np.frombuffer(body, "<i8").tolist(), np.frombuffer(body, "<f8").tolist()
    numbers = [str(w) if 0 < w < 1 << 50 else repr(f) for w, f in zip(words, floats, strict=True)]
    rows = [" ".join(numbers[at : at + 8]) for at in range(0, len(numbers), 8) if len(numbers) <= LONG_BLOCK]
    summed = hashlib.sha256(body).hexdigest()
    top = [json.dumps(header), f"checksum of the header: {_checked(checksum.decode(), head)}", f"sha256: {summed}"]
    return "\n".join([*top, *rows]) + "\n"


def masked_manifest(content: dict[str, Any], folder: Path) -> str:
    """A manifest without times, versions and machine. Checksums are replaced by whether they are right."""
    content = dict(content)
    seal = content.pop("sha256")
    right = _checked(seal, json.dumps(content).encode())
    for described in content.get("function_sources", {}).values():
        described["packages"] = dict.fromkeys(described["packages"], "#")
    for key in {*MANIFEST_KEYS, *TIMING_KEYS} & {*content}:
        content[key] = MASK
    content["files"] = {name: _checked(seal, (folder / name).read_bytes()) for name, seal in content["files"].items()}
    return json.dumps({**content, "sha256": right}, indent=2) + "\n"


def _checked(checksum: str, content: bytes) -> str:
    return "right" if checksum == hashlib.sha256(content).hexdigest() else "wrong"


def masked_csv(text: str) -> str:
    """A csv without measured times. A standard error is one of times where there is a column of mean seconds."""
    head, *rows = [line.split(",") for line in text.splitlines()]
    about_times = {"trustworthy", "mean_seconds"} & {*head}
    hidden = {name for name in TIME_COLUMNS if about_times or name in ("microseconds", "front")}
    shown = [[MASK if name in hidden else field for name, field in zip(head, row, strict=True)] for row in rows]
    return "".join(",".join(row) + "\n" for row in [head, *shown])


def masked_text(text: str, work: Path) -> str:
    """A text without durations, measured times and the path of the folder in which it was made."""
    text, lines, timed = text.replace(str(work), "WORK"), [], False
    for line in text.splitlines():
        timed = timed or TIMES_BEGIN.search(line) is not None
        if timed and (not line or REMARKS.fullmatch(line)):  # an empty line goes, since it may be that of a remark
            continue
        without = DURATION.sub(MASK, MACHINE.sub("this machine", line))
        if timed:
            without = re.sub(r"\\dag\{\}|†", "", NUMBER.sub(MASK, without))
        changed = timed or without != line
        # The widths of columns follow from what is masked.
        lines.append(re.sub(r"--+", "--", re.sub(r"  +", "  ", without)) if changed else line)
    return "".join(f"{line}\n" for line in lines)
