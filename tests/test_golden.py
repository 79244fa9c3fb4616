"""What small experiments of every kind print and write, and the public names, against the committed golden files.

``python -m tests.golden`` writes them again. `tests.golden.masks` lists what is not compared.

Golden bytes hold on one machine and in one environment. Elsewhere a sum of floats may end in another digit. So where
a csv, a manifest or a block has another text, its integers and words must be the same, and its floats the same to
1e-12; a warning then says so. The text of ``--help`` may be laid out differently by another Python.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXPECTED = ROOT / "tests" / "golden" / "expected"
FILES = sorted(path.relative_to(EXPECTED).as_posix() for path in EXPECTED.rglob("*") if path.is_file())
FLOAT = re.compile(r"-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)")
TOLERANCE = 1e-12
SHOWN = 60  # lines of a difference


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what the present code makes."""
    folder = tmp_path_factory.mktemp("golden")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "tests.golden", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", FILES)
def test_is_as_it_was(made: Path, name: str) -> None:
    assert (made / name).is_file(), f"{name} is not made any more"
    expected, found = ((folder / name).read_text(encoding="utf-8") for folder in (EXPECTED, made))
    if found == expected:
        return
    if name.startswith("printed/help"):
        alike = found.split() == expected.split()
    elif name.endswith((".csv", ".json", ".block.txt", ".sums.txt")):
        alike = same_numbers(found, expected)
    else:
        alike = False
    assert alike, difference(name, expected, found)
    warnings.warn(f"{name}: other bytes, but the same words, integers, and floats to {TOLERANCE:g}", stacklevel=1)


def test_nothing_else_is_made(made: Path) -> None:
    found = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert sorted(found - {*FILES}) == []


def test_floats_are_compared_by_value_and_everything_else_by_text() -> None:
    assert same_numbers("hcc,1.0000000000000002,3", "hcc,1.0,3")
    assert same_numbers("2e-05 -0.0", "2.0000000000000003e-05 0.0")
    assert same_numbers("sha256: 12\n0.1", "sha256: 34\n0.1")
    assert not same_numbers("hcc,1.00000000001,3", "hcc,1.0,3")
    assert not same_numbers("hcc,1.0,4", "hcc,1.0,3")
    assert not same_numbers("lca,1.0,3", "hcc,1.0,3")
    assert not same_numbers("hcc,1.0,nan", "hcc,1.0,2.0")


def same_numbers(found: str, expected: str) -> bool:
    """Whether two texts have the same words and integers, and floats that agree to 1e-12.

    The checksum of a block's numbers is left out, since it tells the last digits apart.
    """
    texts = [re.sub(r"^sha256: .*$", "", text, flags=re.MULTILINE) for text in (found, expected)]
    words = [FLOAT.sub("0.0", text) for text in texts]
    floats = [[float(number) for number in FLOAT.findall(text)] for text in texts]
    return words[0] == words[1] and all(
        math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for one, other in zip(*floats, strict=True)
    )


def difference(name: str, expected: str, found: str) -> str:
    """The file's name and its lines that differ."""
    lines = [*difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="", n=1)]
    more = [f"... and {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    renew = "If this is wanted, `python -m tests.golden` writes the golden files again."
    return "\n".join([f"{name} differs from tests/golden/expected/{name}", *lines[:SHOWN], *more, renew])
