"""Computing stored blocks again: every changed bit is found, and nothing else is."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import splitlab
from splitlab import cli
from splitlab.engine.blocks import Block, BlockData
from splitlab.engine.session import Session
from splitlab.engine.store import framed, unframed
from splitlab.engine.verify import Verified, verify
from splitlab.kinds.random_tables.config import Cell
from splitlab.study import opened, run

GRID = [{"n": [4, 5], "k": 3, "max_count": 7, "runs": 2100}]
CONFIG: dict[str, Any] = {"name": "v", "impurities": ["gini", "entropy"], "splitters": ["hcc", "lca"], "grid": GRID}
BLOCKS = 6


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify") / "out"
    splitlab.run(CONFIG, out=folder)
    return folder


@pytest.fixture
def out(stored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stored, tmp_path / "out"))


def verified(out: Path, sample: int = BLOCKS, seed: int = 0) -> Verified:
    return verify(opened(out), out, sample, seed, Session(jobs=1))


def tampered(out: Path, block: Block, change: Any) -> None:
    """Change the content of a block and give it a fresh checksum, as a lie would."""
    store = opened(out).store(out, print)
    data = store.load(block)
    parts = {"totals": data.totals, "drawn": data.drawn, **data.columns}
    parts = {name: values.copy() for name, values in parts.items()}
    change(parts)
    totals, drawn = parts.pop("totals"), parts.pop("drawn")
    store.save(block, BlockData(totals, drawn, parts))  # type: ignore[arg-type]


@pytest.mark.parametrize("sample", [1, 4, BLOCKS, 1000])
def test_what_was_stored_is_computed_again(sample: int, out: Path) -> None:
    before = {path: path.read_bytes() for path in out.rglob("*.*")}
    assert verified(out, sample) == Verified(BLOCKS, min(sample, BLOCKS))
    assert {path: path.read_bytes() for path in out.rglob("*.*")} == before


@pytest.mark.parametrize("part", ["totals", "drawn", ("gini", "lca"), ("entropy", "hcc")])
def test_one_wrong_bit_is_found_and_named(part: Any, out: Path) -> None:
    def change(parts: dict[Any, Any]) -> None:
        parts[part][37] = np.nextafter(parts[part][37], np.inf)

    tampered(out, Block(Cell(5, 3, 7), 1, 1000), change)
    (line,) = verified(out).differing
    name = {"totals": "number of examples", "drawn": "tables drawn"}.get(part) or " ".join(part)
    for word in ("n5_k3_m7, block 1", "run 1037", "1 of 1000", name):
        assert word in line


def test_a_sample_is_chosen_by_its_seed(out: Path) -> None:
    tampered(out, Block(Cell(4, 3, 7), 2, 100), lambda parts: parts["drawn"].__iadd__(1.0))
    found = [bool(verified(out, 1, seed).differing) for seed in range(40)]
    assert 1 <= sum(found) <= 15  # one block in six; beyond 15 of 40 once in 10,000 choices
    assert found == [bool(verified(out, 1, seed).differing) for seed in range(40)]
    assert len(verified(out, BLOCKS).differing) == 1


def test_damaged_blocks_differ_and_absent_ones_are_absent(out: Path) -> None:
    place = out / "blocks" / "n4_k3_m7"
    content = (place / "000000.block").read_bytes()
    (place / "000000.block").write_bytes(content[:-1])
    (place / "000001.block").unlink()
    found = verified(out)
    assert (found.compared, found.absent) == (BLOCKS - 2, ["n4_k3_m7, block 1"])
    (line,) = found.damaged
    assert str(place / "000000.block") in line
    assert found.differing == []


def test_a_damaged_block_is_named_whether_it_is_chosen_or_not(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = out / "blocks" / "n4_k3_m7" / "000001.block"
    path.write_bytes(path.read_bytes()[:-1])
    for seed in range(4):
        assert cli.main(["verify", str(out), "--sample", "1", "--seed", str(seed)]) == 1
        said = capsys.readouterr()
        assert f"damaged: {path}: not usable (its numbers do not match" in said.out
        assert said.out.endswith(f", but 1 file of blocks is damaged ({path})\n")
        assert "Traceback" not in said.err


def test_what_no_group_has_is_named_in_one_line(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("n9_k3_m7", "mine"):
        (out / "blocks" / name).mkdir()
    (out / "notes.txt").write_text("mine")
    assert cli.main(["verify", str(out), "--seed", "1"]) == 0
    (line,) = (line for line in capsys.readouterr().err.splitlines() if "of no block" in line)
    assert (
        line == f"{out / 'blocks' / 'mine'}, {out / 'blocks' / 'n9_k3_m7'}: of no block of this run, and not looked at"
    )
    assert verified(out).others == ["notes.txt"]


def test_what_is_not_there_is_no_success(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = out / "blocks" / "n4_k3_m7"
    for number in (0, 2):
        (place / f"00000{number}.block").unlink()
    (place / "000001.block").rename(place / "000009.block")
    for sample in ("1", "50"):
        assert cli.main(["verify", str(out), "--sample", sample, "--seed", "4"]) == 1
        said = capsys.readouterr()
        assert "every bit is the same, but 3 blocks are not there\n" in said.out
        assert said.out.count("not there: n4_k3_m7, block ") == 3
        assert f"{place / '000009.block'}: of no block of this run" in said.err


def test_the_columns_that_are_there_are_compared(out: Path) -> None:
    block = Block(Cell(5, 3, 7), 1, 1000)
    tampered(out, block, lambda parts: parts.pop(("gini", "lca")))
    absent = ["n5_k3_m7, block 1: gini lca"]
    assert verified(out) == Verified(BLOCKS, BLOCKS, absent)
    tampered(out, block, lambda parts: parts["gini", "hcc"].__iadd__(1.0))
    found = verified(out)
    assert (found.compared, found.absent, len(found.differing)) == (BLOCKS, absent, 1)


def forged(path: Path, change: Any, body: Any = lambda body: body) -> None:
    """Change a file's header and numbers and give them fresh checksums."""
    header, numbers = unframed(path.read_bytes())
    path.write_bytes(framed(change(header), body(numbers)))


def test_columns_of_other_code_are_absent(out: Path) -> None:
    for path in out.glob("blocks/*/*.block"):
        forged(path, lambda h: {**h, "columns": [[*column[:-1], "another"] for column in h["columns"]]})
    found = verified(out)
    assert (found.compared, len(found.absent), found.differing) == (0, BLOCKS, [])
    assert found.outdated == "entropy hcc, lca; gini hcc, lca"


@pytest.mark.parametrize("keep_runs", [True, False])
def test_a_run_says_once_what_is_computed_again_since_code_changed(keep_runs: bool, tmp_path: Path) -> None:
    def changed(header: Any) -> Any:
        columns = [[*c[:-1], "another" if c[:2] == ["gini", "lca"] else c[-1]] for c in header["columns"]]
        return {**header, "columns": columns}

    config = {**CONFIG, "keep_runs": keep_runs}
    splitlab.run(config, out=tmp_path / "out")
    for path in (tmp_path / "out" / "blocks").glob("*/*"):
        forged(path, changed)
    before, said = stored_numbers(tmp_path / "out"), io.StringIO()
    run(config, out=tmp_path / "out", say=said)
    line = "computed again, since their code has changed since they were stored: gini lca\n"
    assert said.getvalue().count(line) == said.getvalue().count("again") == 1
    assert stored_numbers(tmp_path / "out") == before
    run(config, out=tmp_path / "out", say=(later := io.StringIO()))
    assert "again" not in later.getvalue()


def stored_numbers(folder: Path) -> dict[Path, bytes]:
    """The numbers in the files of blocks, without their headers."""
    return {path: unframed(path.read_bytes())[1] for path in sorted((folder / "blocks").glob("*/*"))}


def test_the_authors_draws_can_be_verified(tmp_path: Path) -> None:
    grid = [{"n": 12, "k": [3, 5], "max_count": 7, "runs": 1500}]
    splitlab.run({**CONFIG, "draws": "authors", "grid": grid}, out=tmp_path / "out")
    assert verified(tmp_path / "out", 3) == Verified(4, 3)


def test_other_kinds_and_recorded_failures(tmp_path: Path) -> None:
    def sometimes(table: Any, impurity: str) -> Any:
        if table[0, 0] == 0:
            raise ValueError("no")
        return np.arange(len(table)) == 0

    grid = [{"n": 4, "k": 3, "max_count": 7, "runs": 1500}]
    kinds: dict[str, dict[str, Any]] = {
        "failing": {"splitters": ["lca", sometimes], "on_error": "record"},
        "optimality": {"kind": "optimality"},
    }
    for name, changes in kinds.items():
        results = splitlab.run({**CONFIG, "grid": grid, **changes}, out=tmp_path / name)
        if name == "failing":
            assert results.win_percentage["failures"].sum() > 0
        assert verified(tmp_path / name) == Verified(2, 2)


def test_the_command(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", str(out), "--sample", "3", "--seed", "5"]) == 0
    assert capsys.readouterr().out == "3 of 6 blocks computed again (--seed 5): every bit is the same\n"
    tampered(out, Block(Cell(4, 3, 7), 0, 1000), lambda parts: parts["totals"].__iadd__(1.0))
    assert cli.main(["verify", str(out)]) == 1
    assert "differs: n4_k3_m7, block 0: number of examples: 1000 of 1000 runs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "word"),
    [(["--sample", "0"], "--sample: 0"), (["--seed", "-1"], "--seed: -1"), (["--jobs", "0"], "jobs: 0")],
)
def test_wrong_options(options: list[str], word: str, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", str(out), *options]) == 2
    assert word in capsys.readouterr().err


def test_a_timing_cannot_be_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = [{"n": 5, "k": 3, "max_count": 7, "runs": 20}]
    config = {"name": "t", "kind": "timing", "engines": ["compiled"], "impurities": "gini", "splitters": ["lca"]}
    splitlab.run({**config, "grid": grid, "repeats": 2, "baseline": "lca"}, out=tmp_path)
    assert cli.main(["verify", str(tmp_path)]) == 2
    assert "kind timing, and measured times do not repeat" in capsys.readouterr().err
