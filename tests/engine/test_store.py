"""Block files: what goes in comes out, and nothing damaged or foreign ever does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from splitlab.engine.blocks import EMPTY, Block, BlockData
from splitlab.engine.store import FolderStore, MemoryStore, framed, unframed
from splitlab.files import write_atomically
from splitlab.kinds.random_tables.config import Cell
from splitlab.kinds.splits.summary import IncompleteError, cut, summarise
from splitlab.study import load_experiment

ORIGIN = {"seed": 2018, "draws": "independent"}
PRINTS = {"hcc": "h1", "lca": "l1"}
BLOCK = Block(Cell(4, 3, 7), 2, 5)
HCC, LCA, ENTROPY = ("gini", "hcc"), ("gini", "lca"), ("entropy", "hcc")


def data(*columns: tuple[str, str], runs: int = 5, base: float = 1.0, drawn: int = 9) -> BlockData:
    values = {c: base / 3 + np.arange(runs) * (1.0 + i) for i, c in enumerate(columns)}
    return BlockData(np.arange(runs) + 40.0, np.full(runs, float(drawn)), values)


class Warned(list[str]):
    """Collects warnings."""

    def __call__(self, text: str) -> None:
        self.append(text)


def open_folder(folder: Path, warned: Any = None, **changes: Any) -> FolderStore:
    prints = {(i, s): mark for s, mark in changes.get("prints", PRINTS).items() for i in ("gini", "entropy")}
    return FolderStore(folder, changes.get("origin", ORIGIN), prints, Warned() if warned is None else warned)


def same(a: BlockData, b: BlockData) -> bool:
    return (
        np.array_equal(a.totals, b.totals)
        and np.array_equal(a.drawn, b.drawn)
        and set(a.columns) == set(b.columns)
        and all(np.array_equal(a.columns[c], b.columns[c]) for c in a.columns)
    )


def counts_as_missing(folder: Path, block: Block = BLOCK, **changes: Any) -> str:
    """That a block is missing and its file was named; the warning."""
    warned = Warned()
    store = open_folder(folder, warned, **changes)
    assert store.load(block) is EMPTY
    assert len(warned) == 1
    assert str(store.path(block)) in warned[0]
    return warned[0]


# Round trip


@pytest.mark.parametrize("columns", [(HCC,), (HCC, LCA), (LCA, HCC, ENTROPY), ()])
def test_round_trip(columns: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    kept, warned = data(*columns), Warned()
    open_folder(tmp_path, warned).save(BLOCK, kept)
    assert same(open_folder(tmp_path, warned).load(BLOCK), kept)
    assert warned == []


def test_every_float_comes_back_exactly(tmp_path: Path) -> None:
    odd = np.array([0.1 + 0.2, 5e-324, -0.0, 1.7976931348623157e308, 1e15 + 0.125])
    kept = BlockData(odd, odd[::-1].copy(), {HCC: odd[::-1].copy()})
    store = open_folder(tmp_path)
    store.save(BLOCK, kept)
    back = store.load(BLOCK)
    assert back.totals.tobytes() == odd.tobytes()
    assert back.columns[HCC].tobytes() == odd[::-1].tobytes()
    assert back.totals.dtype == np.float64


def test_a_block_that_was_never_written_is_empty_without_a_warning(tmp_path: Path) -> None:
    warned = Warned()
    assert open_folder(tmp_path, warned).load(BLOCK) is EMPTY
    assert warned == []
    assert MemoryStore().load(BLOCK) is EMPTY


def test_blocks_and_cells_have_files_of_their_own(tmp_path: Path) -> None:
    store = open_folder(tmp_path)
    places = [BLOCK, replace(BLOCK, number=3), replace(BLOCK, group=Cell(3, 4, 7)), replace(BLOCK, group=Cell(4, 3, 2))]
    for i, block in enumerate(places):
        store.save(block, data(HCC, base=float(i)))
    for i, block in enumerate(places):
        assert same(store.load(block), data(HCC, base=float(i)))
    assert store.path(BLOCK) == tmp_path / "blocks" / "n4_k3_m7" / "000002.block"


def test_memory_round_trip() -> None:
    store = MemoryStore()
    store.save(BLOCK, data(HCC))
    assert same(store.load(BLOCK), data(HCC))
    assert store.load(replace(BLOCK, number=1)) is EMPTY


# Columns


def test_missing_columns() -> None:
    wanted = (HCC, LCA)
    assert data(HCC, LCA).missing(BLOCK, wanted) == ()
    assert data(LCA, ENTROPY).missing(BLOCK, wanted) == (HCC,)
    assert data(HCC, LCA, runs=4).missing(BLOCK, wanted) == wanted  # too short
    assert data(HCC, LCA, runs=6).missing(BLOCK, wanted) == ()
    assert EMPTY.missing(BLOCK, wanted) == wanted


def test_merged_columns(tmp_path: Path) -> None:
    old, new = data(HCC, LCA, base=1.0), data(HCC, ENTROPY, base=7.0)
    both = old.merged_with(new)
    assert set(both.columns) == {HCC, LCA, ENTROPY}
    assert np.array_equal(both.columns[HCC], new.columns[HCC])  # the newer one replaces
    assert np.array_equal(both.columns[LCA], old.columns[LCA])
    assert set(old.columns) == {HCC, LCA}  # left as they were
    store = open_folder(tmp_path)
    store.save(BLOCK, both)
    assert same(store.load(BLOCK), both)


def test_merged_columns_of_different_lengths(tmp_path: Path) -> None:
    short, long = data(HCC, LCA, runs=3, drawn=4), data(HCC, runs=5, drawn=9)
    for merged in (
        short.merged_with(long),
        replace(long, columns={HCC: long.columns[HCC]}).merged_with(data(LCA, runs=3, drawn=4)),
    ):
        assert merged.totals.size == 5
        assert merged.drawn.tolist() == [9] * 5  # belongs to the totals
        assert merged.columns[HCC].size == 5
        assert merged.columns[LCA].size == 3
        store = open_folder(tmp_path)
        store.save(BLOCK, merged)
        back = store.load(BLOCK)
        assert same(back, merged)
        assert back.missing(BLOCK, (HCC, LCA)) == (LCA,)


def test_cut_takes_the_first_runs_of_the_wanted_columns() -> None:
    kept = data(HCC, LCA, ENTROPY)
    totals, columns = cut(kept, replace(BLOCK, size=3), (ENTROPY, HCC))
    assert totals.tolist() == [40.0, 41.0, 42.0]
    assert np.array_equal(columns, np.stack([kept.columns[ENTROPY][:3], kept.columns[HCC][:3]], axis=1))


def test_columns_of_other_code_count_as_missing(tmp_path: Path) -> None:
    open_folder(tmp_path).save(BLOCK, data(HCC, LCA))
    warned = Warned()
    back = open_folder(tmp_path, warned, prints={"hcc": "h2", "lca": "l1"}).load(BLOCK)
    assert set(back.columns) == {LCA}
    assert np.array_equal(back.columns[LCA], data(HCC, LCA).columns[LCA])
    assert back.missing(BLOCK, (HCC, LCA)) == (HCC,)
    assert warned == []
    # Only columns behind the dropped one show whether it was skipped by its length.
    assert set(open_folder(tmp_path, prints={"hcc": "h1", "lca": "l2"}).load(BLOCK).columns) == {HCC}


def test_columns_of_splitters_that_are_not_in_the_experiment_survive_a_save(tmp_path: Path) -> None:
    own = ("gini", "my.module:mine")
    first = open_folder(tmp_path, prints={**PRINTS, own[1]: "m1"})
    first.save(BLOCK, data(HCC, own))
    second = open_folder(tmp_path)  # knows nothing of it
    second.save(BLOCK, second.load(BLOCK).merged_with(data(LCA)))
    third = open_folder(tmp_path, prints={**PRINTS, own[1]: "m1"}).load(BLOCK)
    assert set(third.columns) == {HCC, own, LCA}
    assert np.array_equal(third.columns[own], data(HCC, own).columns[own])
    # and they have kept the mark of the code that made them
    assert set(open_folder(tmp_path, prints={**PRINTS, own[1]: "m2"}).load(BLOCK).columns) == {HCC, LCA}


def test_blocks_of_another_sampler_are_not_mixed_in(tmp_path: Path) -> None:
    """After an edit in the sampler, totals and ``drawn`` belong to other tables than the new columns."""
    open_folder(tmp_path, origin={**ORIGIN, "sampler": "s1"}).save(BLOCK, data(HCC, LCA))
    edited = open_folder(tmp_path, origin={**ORIGIN, "sampler": "s2"})
    fresh = data(HCC, LCA, runs=3, drawn=4)
    edited.save(BLOCK, edited.load(BLOCK).merged_with(fresh))
    totals, _ = cut(edited.load(BLOCK), replace(BLOCK, size=3), (HCC,))
    assert totals.tolist() == fresh.totals.tolist()
    assert edited.load(BLOCK).drawn.tolist() == fresh.drawn.tolist()


# Damage


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    store = open_folder(tmp_path)
    store.save(BLOCK, data(HCC, LCA))
    return store.path(BLOCK)


def test_a_truncated_file_counts_as_missing(stored: Path, tmp_path: Path) -> None:
    whole = stored.read_bytes()
    for length in {0, 1, 10, whole.index(b"\n"), whole.index(b"\n") + 1, len(whole) - 8, len(whole) - 1}:
        stored.write_bytes(whole[:length])
        counts_as_missing(tmp_path)
    stored.write_bytes(whole + b"\0" * 8)
    counts_as_missing(tmp_path)
    stored.write_bytes(whole)
    assert same(open_folder(tmp_path).load(BLOCK), data(HCC, LCA))


def test_any_flipped_bit_is_noticed(stored: Path, tmp_path: Path) -> None:
    whole = stored.read_bytes()
    header = whole.index(b"\n") + 1
    places = {*range(header), *range(header, len(whole), 3)}
    for at in places:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << (at % 8)
        stored.write_bytes(damaged)
        counts_as_missing(tmp_path)


def test_two_exchanged_numbers_are_noticed(stored: Path, tmp_path: Path) -> None:
    whole = stored.read_bytes()
    assert whole[-16:-8] != whole[-8:]
    stored.write_bytes(whole[:-16] + whole[-8:] + whole[-16:-8])
    counts_as_missing(tmp_path)


@pytest.mark.parametrize(
    "text", [b"", b"hello\n", b"{}\n", b"[]\n1234", b"n,k\n1,2\n", b"\xff\xfe\n\n", b"\n", b" \n", b"null \n"]
)
def test_a_foreign_text_counts_as_missing(text: bytes, stored: Path, tmp_path: Path) -> None:
    stored.write_bytes(text)
    counts_as_missing(tmp_path)


def test_the_file_of_another_cell_or_block_counts_as_missing(tmp_path: Path) -> None:
    store = open_folder(tmp_path)
    for other in (replace(BLOCK, group=Cell(4, 3, 8)), replace(BLOCK, group=Cell(3, 4, 7)), replace(BLOCK, number=1)):
        store.save(other, data(HCC, LCA))
        store.path(BLOCK).parent.mkdir(parents=True, exist_ok=True)
        store.path(other).rename(store.path(BLOCK))
        text = counts_as_missing(tmp_path)
        assert ("block 1" if other.number == 1 else str(other.group.max_count)) in text


def test_the_file_of_another_seed_or_stream_counts_as_missing(tmp_path: Path) -> None:
    for key, value in (("seed", 2019), ("draws", "authors")):
        open_folder(tmp_path, origin={**ORIGIN, key: value}).save(BLOCK, data(HCC, LCA))
        text = counts_as_missing(tmp_path)
        assert f"{key} {value}" in text
        assert str(ORIGIN[key]) in text


def test_the_file_of_another_format_counts_as_missing(stored: Path, tmp_path: Path) -> None:
    header, body = unframed(stored.read_bytes())
    stored.write_bytes(framed({**header, "format": header["format"] + 1}, body))
    assert "format" in counts_as_missing(tmp_path)


def test_a_damaged_block_is_never_averaged_in(tmp_path: Path) -> None:
    config = {"name": "d", "impurities": "gini", "splitters": ["hcc", "lca"]}
    experiment = load_experiment({**config, "grid": [{"n": 4, "k": 3, "max_count": 7, "runs": 1005}]})
    store = open_folder(tmp_path)
    cell = Cell(4, 3, 7)
    store.save(Block(cell, 0, 1000), data(HCC, LCA, runs=1000))
    last = Block(cell, 1, 5)
    store.save(last, data(HCC, LCA))
    assert summarise(experiment, store).win_percentage["runs"].tolist() == [1005, 1005]
    content = bytearray(store.path(last).read_bytes())
    content[-1] ^= 1
    store.path(last).write_bytes(content)
    with pytest.raises(IncompleteError, match="n4_k3_m7 lacks runs 1000 to 1004"):
        summarise(experiment, store)


# Atomic writing


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stored.read_bytes()

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "no more")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="no more"):
            open_folder(tmp_path).save(BLOCK, data(LCA, base=5.0))
        with pytest.raises(OSError, match="no more"):
            write_atomically(tmp_path / "new.txt", "text")
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["000002.block"]
    assert stored.read_bytes() == before


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a" / "new.txt", "text")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_written_files_can_be_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "file.txt"
    write_atomically(path, "ä\n")
    assert path.read_bytes() == "ä\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644
    write_atomically(path, b"again")
    assert path.read_bytes() == b"again"
    assert [p.name for p in path.parent.iterdir()] == ["file.txt"]
