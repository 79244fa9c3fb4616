"""Make the golden files: run small experiments through the public doors, and write what they print and leave.

Only doors that stay are used: ``splitlab.run``, the names of the public modules, and ``python -m splitlab``. The last
is run within this process, since a new process for each of the many commands would take minutes.
"""

from __future__ import annotations

import inspect
import io
import os
import runpy
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.golden.masks import ADDRESS, masked, masked_csv, masked_text

HERE = Path(__file__).parent
INPUTS = HERE / "inputs"
EXPECTED = HERE / "expected"

EXPERIMENTS = (
    "splits",
    "two_blocks",
    "sums",
    "authors",
    "failures",
    "optimality",
    "timing",
    "trees",
    "tolerant",
)  # each is inputs/NAME.yaml

# Further commands, after every experiment has been run and reported. What they print is in printed/NAME.txt.
COMMANDS = {
    "run-again": "run splits.yaml --jobs 1",
    "run-longer": "run two_blocks.yaml --jobs 1 --runs 1020",
    "run-more": "run sums.yaml --jobs 1 --runs 1100 --out results/more --set 'impurities=[gini]'",
    "run-wrong": "run wrong.yaml",
    "compare-splits": "compare results/splits",
    "compare-two_blocks": "compare results/two_blocks",
    "compare-authors": "compare results/authors",
    "compare-tolerant": "compare results/tolerant",
    "verify-splits": "verify results/splits --seed 1 --jobs 1",
    "verify-two_blocks": "verify results/two_blocks --seed 1 --jobs 1 --sample 1",
    "verify-sums": "verify results/sums --seed 1 --jobs 1",
    "verify-authors": "verify results/authors --seed 1 --jobs 1",
    "verify-failures": "verify results/failures --seed 1 --jobs 1",
    "verify-optimality": "verify results/optimality --seed 1 --jobs 1",
    "verify-timing": "verify results/timing --seed 1 --jobs 1",
    "verify-trees": "verify results/trees --seed 1 --jobs 1",
    "plan-splits": "plan splits.yaml --half-width 1 --jobs 1",
    "plan-sums": "plan sums.yaml --half-width 5 --pilot 100 --jobs 1",
    "plan-trees": "plan trees.yaml --jobs 1",
    "replay-splits": "replay results/splits --n 5 --k 3 --run 7",
    "replay-sums": "replay results/sums --n 3 --k 3 --run 1005",
    "replay-authors": "replay results/authors --n 12 --k 3 --run 19",
    "replay-failures": "replay results/failures --n 5 --k 3 --run 3",
    "replay-optimality": "replay results/optimality --n 26 --k 5 --run 2",
    "replay-timing": "replay results/timing --n 12 --k 3 --run 0",
    "replay-outside": "replay results/splits --n 5 --k 3 --run 15",
    "replay-tree": "replay-tree results/trees --dataset made_up --impurity gini --splitter hcc --trial 1",
    "replay-tree-fold": "replay-tree results/trees --dataset made_up --impurity gini --splitter lca --trial 2 --fold 3",
    "split": "split table.csv",
    "split-entropy": "split table.csv --splitter exact --impurity entropy",
    "split-direction": "split table.csv --splitter direction --direction=-1,0,2",
    "split-own": "split table.csv --splitter mine:sometimes --impurity mine:cubic",
    "list": "list",
    "list-impurity": "list --impurity mine:cubic",
    "check": "check mine:sometimes",
    "data-list": "data list --catalogue datasets.yaml",
    "data-check": "data check --catalogue datasets.yaml",
    "adversary": "adversary --splitter lca --impurity gini --n 3 --k 3 --steps 200 --out worst",
    "examples": "examples",
    "version": "--version",
    "unknown": "rnu",
}
HELPED = (
    "run", "report", "compare", "replay", "verify", "plan", "split", "adversary", "list", "check", "examples", "data",
    "data list", "data check", "data describe", "data fetch", "replay-tree",
)  # fmt: skip

TEXTS = (".yaml", ".json", ".csv", ".md", ".tex", ".txt")
BLOCKS = (".block", ".sums")
WITH_FIGURES = ("splits", "optimality", "timing", "trees")  # where the data and captions of figures are kept, too
SHORT = 300  # letters; shorter texts are written even where they are repeated

# The public names of modules that have no list of them.
# (What else is in ``splitlab.bounds`` are kernels.)
NAMES = {
    "splitlab.bounds": ("Bound", "chain_bound", "class_bound", "collapsed_bound", "lower_bound", "rows_bound"),
    "splitlab.examples": ("above_average", "cubic", "square_root"),
}
MODULES = ("splitlab", "splitlab.trees", "splitlab.splitters", "splitlab.adversary", *NAMES)

# Classes that a user gets and never makes: how they are made is nobody's concern.
RETURNED = ("splitlab.Results", "splitlab.splitters.Splitter")

IN_MEMORY: dict[str, Any] = {
    "name": "memory",
    "impurities": ["gini", "entropy"],
    "splitters": ["hcc", "lca"],
    "grid": [{"n": 5, "k": 3, "max_count": 7, "runs": 20}],
}


def make(target: Path) -> None:
    """Write all golden files into the folder ``target``."""
    kept = Kept(target)
    with tempfile.TemporaryDirectory() as temporary, _surroundings(Path(temporary).resolve() / "work") as work:
        for name in EXPERIMENTS:
            kept.printed(work, f"run-{name}", f"run {name}.yaml --jobs 1")
            kept.printed(work, f"report-{name}", f"report results/{name}")
        for name in EXPERIMENTS:
            kept.folder(work, name)
        for name, command in COMMANDS.items():
            kept.printed(work, name, command)
        kept.printed(work, "help", "--help")
        for command in HELPED:
            kept.printed(work, f"help-{command.replace(' ', '-')}", f"{command} --help")
        kept.python()
    kept.write("names.txt", "".join(f"{line}\n" for name in MODULES for line in _names(name)))
    kept.write("splitters.txt", _splitters())


@contextmanager
def _surroundings(work: Path) -> Iterator[Path]:
    """A folder with the inputs as the current one; nothing from outside that changes a text."""
    shutil.copytree(INPUTS, work, ignore=shutil.ignore_patterns("__pycache__"))
    before = Path.cwd()
    variables = {"SPLITLAB_DATA": ".", "COLUMNS": "80", "NO_COLOR": "1"}
    with patch.dict(os.environ, variables):
        os.environ.pop("FORCE_COLOR", None)
        os.environ.pop("SPLITLAB_DEBUG", None)
        os.chdir(work)
        try:
            yield work
        finally:
            os.chdir(before)


class Kept:
    """The golden files in a folder. A text that another file has already is replaced by that file's name."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.known: dict[str, str] = {}

    def write(self, name: str, text: str, above: str = "") -> None:
        """Write a file: what is ``above``, and the text."""
        path = self.target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        first = self.known.setdefault(text, name) if len(text) > SHORT else name
        path.write_text(above + (text if first == name else f"the same as {first}\n"), encoding="utf-8")

    def printed(self, work: Path, name: str, command: str) -> None:
        """Keep what a command prints, and its exit code. Stderr is kept only where it says what is wrong."""
        out, err, code = io.StringIO(), io.StringIO(), 0
        with patch.object(sys, "argv", ["splitlab", *shlex.split(command)]), redirect_stdout(out), redirect_stderr(err):
            try:
                runpy.run_module("splitlab", run_name="__main__", alter_sys=True)
            except SystemExit as left:
                code = left.code if isinstance(left.code, int) else int(left.code is not None)
        text = masked_text(out.getvalue(), work)
        if code not in (0, 1):
            text += f"--- stderr\n{masked_text(err.getvalue(), work)}"
        self.write(f"printed/{name}.txt", text, f"$ splitlab {command}\n--- exit code {code}\n")

    def folder(self, work: Path, experiment: str) -> None:
        """Keep the texts and blocks of a results folder, and the names of all its files."""
        results = work / "results" / experiment
        files = sorted(path for path in results.rglob("*") if path.is_file())
        for path in sorted(files, key=lambda path: len(path.parts)):  # a table before the data of its figure
            of_figure = path.parent.name == "figures" and experiment not in WITH_FIGURES
            if path.suffix in TEXTS + BLOCKS and not of_figure:
                name = f"{experiment}/{path.relative_to(results)}"
                self.write(f"{name}.txt" if path.suffix in BLOCKS else name, masked(path, work))
        self.write(f"{experiment}/FILES", "".join(f"{path.relative_to(results)}\n" for path in files))

    def python(self) -> None:
        """Keep what ``splitlab.run`` returns where nothing is written."""
        import splitlab

        def write(name: str, frame: Any) -> None:
            self.write(f"memory/{name}.csv", masked_csv(frame.to_csv(index=False, lineterminator="\n")))

        results = splitlab.run(IN_MEMORY, jobs=1)
        for name in ("win_percentage", "relative_excess", "paired_differences", "draws"):
            write(name, getattr(results, name))
        rows = [row for impurity in IN_MEMORY["impurities"] for row in results.impurities(5, 3, 7, impurity).tolist()]
        self.write("memory/impurities.csv", "".join(f"{','.join(map(repr, row))}\n" for row in rows))
        for kind in ("optimality", "timing", "trees"):  # the name of the config, of the kind, and of the data frame
            write(kind, getattr(splitlab.run(f"{kind}.yaml", jobs=1), kind))


def _names(module_name: str) -> Iterator[str]:
    """The public names of a module with their signatures, and the public members of classes."""
    module = import_module(module_name)
    for name in sorted(NAMES.get(module_name) or module.__all__):
        found, whole = getattr(module, name), f"{module_name}.{name}"
        yield whole if whole in RETURNED else f"{whole}{_signature(found)}"
        for member in _members(found) if inspect.isclass(found) else ():
            yield f"{whole}.{member}{_signature(getattr(found, member))}"


def _members(found: type) -> list[str]:
    """The public members of a class that this package wrote. What a splitter has is in splitters.txt."""
    ours = [vars(base) for base in found.__mro__ if base.__module__.startswith("splitlab")]
    names = {name for members in ours for name in members if not name.startswith("_")}
    made_by_sklearn = {name for name in names if name.endswith("_request")}
    return [] if found.__name__ == "Splitter" else sorted(names - made_by_sklearn)


def _signature(found: object) -> str:
    if inspect.ismodule(found) or not callable(found):
        return ""
    try:
        return ADDRESS.sub("", str(inspect.signature(found)))
    except ValueError:  # of something that Python does not tell
        return "(...)"


def _splitters() -> str:
    listed: Any = import_module("splitlab").splitters
    keys = ("name", "title", "guarantee", "cost", "source")
    entries = ["".join(f"{key}: {getattr(entry, key)}\n" for key in keys) for entry in listed()]
    return "\n".join(entries)
