"""Whatever happens to a run, what is kept can be continued to the very bytes of an undisturbed one, or is named."""

from __future__ import annotations

import errno
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import splitlab
from splitlab import cli
from splitlab.engine.blocks import Task
from splitlab.engine.checksums import read_manifest
from splitlab.engine.folder import locked
from splitlab.files import read_bounded
from splitlab.kinds.timing.times import stored_times
from splitlab.study import load_results
from splitlab.text import ConfigError
from tests.helpers import ROOT
from tests.helpers.folders import contents, contents_of_run

BLOCKS = 40
CONFIG = f"""name: survivor
impurities: [gini, entropy]
splitters: [hcc, sliq_ext, lca]
grid:
  - {{n: [12, 25], k: 5, max_count: 7, runs: {500 * BLOCKS}}}
"""
SMALL = CONFIG.replace(f"runs: {500 * BLOCKS}", "runs: 1100").replace("[12, 25]", "6")

# Runs an experiment in forks of itself, which have everything loaded, and kills each after its delay.
KILLER = """
import os, signal, sys, time
from pathlib import Path
from splitlab import run
config, out, *delays = sys.argv[1:]
run(config, runs=1, jobs=1)
for delay in delays:
    child = os.fork()
    if not child:
        run(config, jobs=2, out=out)
        os._exit(0)
    time.sleep(float(delay))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(len(list(Path(out).glob("blocks/*/*.block"))))
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "survivor.yaml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return contents_of_run(written(tmp_path_factory.mktemp("undisturbed"), CONFIG), jobs=1)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the small experiment, to be copied."""
    folder = tmp_path_factory.mktemp("small")
    splitlab.run(written(folder, SMALL), jobs=1, out=folder / "out")
    contents(folder / "out")
    return folder / "out"


@pytest.fixture
def out(small: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small, tmp_path / "out"))


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def start(*args: object, code: str | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, *(["-m", "splitlab"] if code is None else ["-c", code]), *map(str, args)]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


# Killed


@pytest.mark.parametrize("kills", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_kills_at_random_moments_change_nothing(kills: int, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    rng = random.Random(kills)
    delays = [rng.uniform(0.02, 2.5 / kills) for _ in range(kills)]
    config, out = written(tmp_path, CONFIG), tmp_path / "out"
    stored = [int(line) for line in start(config, out, *delays, code=KILLER).communicate(timeout=300)[0].split()]
    assert len(stored) == kills
    assert stored == sorted(stored)
    assert stored[0] < BLOCKS  # otherwise nothing was disturbed
    splitlab.run(config, jobs=2, out=out)
    assert contents(out) == undisturbed


@pytest.mark.slow
def test_kills_change_no_sums_either(tmp_path: Path) -> None:
    rng = random.Random(7)
    config, out = written(tmp_path, f"{CONFIG}keep_runs: false\n"), tmp_path / "out"
    splitlab.run(config, out=tmp_path / "undisturbed")
    start(config, out, *(rng.uniform(0.02, 0.1) for _ in range(25)), code=KILLER).communicate(timeout=300)
    assert 0 < len(list(out.glob("blocks/*/*.sums"))) <= 2
    splitlab.run(config, out=out)
    assert contents(out) == contents(tmp_path / "undisturbed")


@pytest.mark.slow
def test_kills_of_the_command_change_nothing(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    rng = random.Random(5)
    config, out = written(tmp_path, CONFIG), tmp_path / "out"
    for _ in range(12):
        process = start("run", config, "--out", out)
        time.sleep(rng.uniform(0.0, 6.0))
        process.kill()
        process.communicate()
    splitlab.run(config, out=out)
    assert contents(out) == undisturbed


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_an_interrupted_run_says_how_to_continue(
    number: int, code: int, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    config, out = written(tmp_path, CONFIG), tmp_path / "out"
    process = start("run", config, "--out", out)
    while process.poll() is None and not list(out.glob("blocks/*/*.block")):
        time.sleep(0.01)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == code, stderr
    assert "finished blocks are kept, and the same command continues" in stderr
    assert "Traceback" not in stderr
    assert stdout == ""
    assert 0 < len(list(out.glob("blocks/*/*.block"))) < BLOCKS
    splitlab.run(config, out=out)
    assert contents(out) == undisturbed


@pytest.mark.parametrize(
    ("module", "number"),
    [*((m, signal.SIGINT) for m in ("enum", "splitlab.cli", "pydantic", "numpy", "pandas")), ("numba", 15)],
)
def test_an_interrupt_while_it_loads_shows_no_traceback(module: str, number: int, tmp_path: Path) -> None:
    code = f"""
import os, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {int(number)})
sys.meta_path.insert(0, Finder())
from splitlab.__main__ import enter
sys.exit(enter())
"""
    process = start("run", written(tmp_path, SMALL), "--out", tmp_path / "out", code=code)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert stderr == "splitlab: interrupted\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_an_impatient_second_interrupt(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    config = written(tmp_path, CONFIG)
    for attempt in range(5):  # a run may end before it is interrupted
        out = tmp_path / f"out{attempt}"
        process = start("run", config, "--out", out)
        while process.poll() is None and not list(out.glob("blocks/*/*.block")):
            time.sleep(0.01)
        for _ in range(4):
            process.send_signal(signal.SIGINT)
            time.sleep(0.01)
        _, stderr = process.communicate(timeout=60)
        if process.returncode:
            break
    assert process.returncode == 130
    assert "Traceback" not in stderr
    splitlab.run(config, out=out)
    assert contents(out) == undisturbed


def test_an_ignored_interrupt_stays_ignored() -> None:
    """Shells start what runs in the background so that Ctrl-C does not reach it."""
    code = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
from splitlab.__main__ import enter
os.kill(os.getpid(), signal.SIGINT)
sys.exit(enter())
"""
    process = start("list", code=code)
    process.communicate(timeout=60)
    assert process.returncode == 0


# Starved


def run_command(folder: Path, out: Path, capsys: pytest.CaptureFixture[str], text: str = SMALL) -> tuple[int, str]:
    """Exit code and standard error of ``splitlab run``, in this process."""
    code = cli.main(["run", str(written(folder, text)), "--out", str(out)])
    return code, capsys.readouterr().err


def refused(code: int, said: str, *words: object) -> None:
    """Exit code 2 and one line with all these words."""
    lines = [line for line in said.splitlines() if "tables/s" not in line]
    assert code == 2, said
    assert len(lines) == 1, said
    for word in words:
        assert str(word) in lines[0], said


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.filterwarnings("error::UserWarning")
def test_a_full_disk(
    number: int,
    after: int,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    original, left = os.fdopen, [after]

    def opened(handle: int, mode: str) -> Any:
        file = original(handle, mode)
        if not left[0]:
            file.write(b"the beginning")
            file.flush()
            file.close()
            raise OSError(number, os.strerror(number))
        left[0] -= 1
        return file

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", opened)
        code, said = run_command(tmp_path, tmp_path / "out", capsys)
    refused(code, said, tmp_path / "out", os.strerror(number), "config.yaml" if after == 0 else ".block")
    assert len([path for path in (tmp_path / "out").rglob("*") if path.is_file() and path.name != ".lock"]) == after
    assert run_command(tmp_path, tmp_path / "out", capsys)[0] == 0
    assert contents(tmp_path / "out") == contents(small)


def test_a_read_only_folder(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The superuser may write anywhere, so the system's refusal is made up."""
    before = contents(out)
    original = os.open

    def denied(path: Any, flags: int, *mode: int, **options: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and str(path).startswith(str(out)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return original(path, flags, *mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", denied)
        code, said = run_command(tmp_path, out, capsys)
        refused(code, said, out, "Permission denied")
        assert cli.main(["compare", str(out)]) == 0
        assert cli.main(["replay", str(out), "--n", "6", "--k", "5", "--run", "3"]) == 0
    assert contents(out) == before


def test_what_a_killed_run_was_writing_is_removed(out: Path, tmp_path: Path) -> None:
    before = contents(out)
    for path in (out / "blocks" / "n6_k5_m7" / ".000001.block.x1y2.part", out / ".manifest.json.z3.part"):
        path.write_text("the beginning")
    splitlab.run(written(tmp_path, SMALL), out=out)
    assert contents(out) == before


class Failing(io.StringIO):
    """A file on a disk that is full."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_progress_that_cannot_be_shown_ends_no_run(out: Path, tmp_path: Path) -> None:
    splitlab.run(written(tmp_path, SMALL), out=tmp_path / "again", say=Failing())
    assert contents(tmp_path / "again") == contents(out)


def test_a_full_standard_error_ends_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Failing())
    assert cli.main(["run", str(written(tmp_path, SMALL)), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "win_percentage.csv").exists()


# Two at a time


def test_a_second_run_at_the_same_time_is_refused(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(out):
        code, said = run_command(tmp_path, out, capsys)
    refused(code, said, out, "another run is writing here")


def test_a_lock_goes_with_the_process_that_held_it(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys, time; from pathlib import Path; from splitlab.engine.folder import locked\n"
    holder = start(out, code=f"{code}with locked(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(99)")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    code_, said = run_command(tmp_path, out, capsys)
    refused(code_, said, "another run is writing here")
    holder.kill()
    holder.communicate()
    assert (out / ".lock").exists()
    assert run_command(tmp_path, out, capsys)[0] == 0


# Damaged


def flips(content: bytes, step: int = 1) -> Iterator[bytes]:
    """The content with a bit changed, here and there, and cut off, here and there."""
    for at in range(0, len(content), step):
        damaged = bytearray(content)
        damaged[at] ^= 1 << (at % 8)
        yield bytes(damaged)
    for length in range(0, len(content), 7 * step):
        yield content[:length]


@pytest.mark.parametrize("name", ["config.yaml", "manifest.json"])
def test_a_damaged_file_is_named_and_never_used(name: str, out: Path) -> None:
    whole = (out / name).read_bytes()
    tried = 0
    for damaged in flips(whole, 3 if name == "config.yaml" else 31):
        (out / name).write_bytes(damaged)
        with pytest.raises(ValueError, match=name) as caught:
            show(out)
        assert "damaged" in str(caught.value)
        tried += 1
    assert tried > 25
    (out / name).write_bytes(whole)
    show(out)


def show(folder: Path) -> None:
    """What ``splitlab report`` reads."""
    from splitlab.engine.checksums import read_manifest

    load_results(folder)
    read_manifest(folder)


@pytest.mark.parametrize("name", ["config.yaml", "manifest.json", "win_percentage.csv", "relative_excess.tex"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "removed"])
def test_a_run_renews_damaged_files_and_keeps_the_blocks(
    name: str, damage: str, out: Path, tmp_path: Path, computed: list[Task]
) -> None:
    before, config = contents(out), (out / "config.yaml").read_bytes()
    whole = bytearray((out / name).read_bytes())
    whole[len(whole) // 2] ^= 1
    forms = {"flipped": bytes(whole), "cut": bytes(whole[: len(whole) // 2]), "emptied": b""}
    (out / name).unlink()
    if damage in forms:
        (out / name).write_bytes(forms[damage])
    said = io.StringIO()
    splitlab.run(written(tmp_path, SMALL), out=out, say=said)
    assert computed == []
    assert (name in said.getvalue()) == (name == "config.yaml" or (name == "manifest.json" and damage != "removed"))
    assert contents(out) == before
    assert (out / "config.yaml").read_bytes() == config
    show(out)


def test_without_its_config_a_folder_is_continued_only_by_what_its_blocks_fit(out: Path, tmp_path: Path) -> None:
    (out / "config.yaml").write_bytes(b"")
    for change, word in (({"seed": 7}, "seed: 2018"), ({"draws": "authors", "seed": 19880531}, "draws|seed")):
        grid = [{"n": 12, "k": 5, "max_count": 7, "runs": 10}]
        config = {"name": "x", "impurities": "gini", "splitters": ["lca"], "grid": grid, **change}
        with pytest.raises(ValueError, match=word):
            splitlab.run(config, out=out)
    assert (out / "config.yaml").read_bytes() == b""


def test_damaged_published_numbers_are_named(out: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_text("table,impurity,n,k,max_count,splitter,value\nt,gini,6,5,7,hcc,50\n")
    config = written(tmp_path, f"{SMALL}published: mine.csv\n")
    splitlab.run(config, out=out)
    (out / "published.csv").write_text(mine.read_text().replace("50", "58"))
    with pytest.raises(ValueError, match=r"published\.csv: is damaged"):
        load_results(out)
    splitlab.run(config, out=out)
    assert set(load_results(out).win_percentage["published"]) == {"50", ""}


def test_damaged_times_are_named(tmp_path: Path) -> None:
    grid = [{"n": 5, "k": 3, "max_count": 7, "runs": 20}]
    config = {"name": "t", "kind": "timing", "engines": ["compiled"], "impurities": "gini", "splitters": ["lca"]}
    splitlab.run({**config, "grid": grid, "repeats": 2, "baseline": "lca"}, out=tmp_path / "out")
    times = tmp_path / "out" / "timing.csv"
    assert load_results(tmp_path / "out").timing is not None
    whole = times.read_text()
    times.write_text(whole.replace(".", ".1", 1))
    with pytest.raises(ValueError, match=r"timing\.csv: is damaged"):
        load_results(tmp_path / "out")
    times.write_text(whole)
    (tmp_path / "out" / "config.yaml").write_bytes(b"")
    with pytest.raises(ValueError, match=r"config\.yaml: is lost or damaged.*--fresh"):
        splitlab.run({**config, "grid": grid, "repeats": 2, "baseline": "lca"}, out=tmp_path / "out")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


def make_link_to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a sparse file


@pytest.mark.parametrize("make", [make_pipe, make_link_to_nothing, make_link_to_zeros, make_huge])
def test_something_else_in_the_place_of_a_block(make: Callable[[Path], None], out: Path, tmp_path: Path) -> None:
    before = contents(out)
    place = out / "blocks" / "n6_k5_m7" / "000000.block"
    place.unlink()
    make(place)
    with pytest.raises(ValueError, match="lacks runs 0 to 999"):
        load_results(out)
    said = io.StringIO()
    splitlab.run(written(tmp_path, SMALL), out=out, say=said)
    assert str(place) in said.getvalue() or make is make_link_to_nothing
    assert contents(out) == before


FILES = ("config.yaml", "manifest.json", "win_percentage.csv", "verdict.txt", "report.html", ".lock")


@pytest.mark.parametrize("change", ["moved", "removed"])
@pytest.mark.parametrize("keep_runs", [True, False])
def test_a_folder_that_goes_away_stops_the_run_at_the_next_block(
    keep_runs: bool, change: str, tmp_path: Path, computed: list[Task]
) -> None:
    out, seen = tmp_path / "out", []

    def meddles(table: Any, impurity: str) -> list[bool]:
        seen.append(table)
        if len(seen) == 1500:  # in the second block; before the first, a call or two are timed
            out.rename(tmp_path / "elsewhere") if change == "moved" else shutil.rmtree(out)
        return [True, *[False] * (len(table) - 1)]

    grid = [{"n": 6, "k": 5, "max_count": 7, "runs": 4000}]
    config = {"name": "x", "impurities": ["gini"], "splitters": [meddles], "grid": grid, "keep_runs": keep_runs}
    with pytest.raises(ConfigError, match=f"^{out}: was moved or removed while .*; finished blocks are kept$"):
        splitlab.run(config, jobs=1, out=out)
    assert [task.block.number for task in computed] == [0, 1]
    assert not out.exists()
    assert len(list(tmp_path.glob("elsewhere/blocks/*/*.*"))) == (change == "moved")


@pytest.mark.parametrize("place", ["blocks", "blocks/n6_k5_m7"])
def test_blocks_that_go_away_are_lacking_at_the_end(place: str, tmp_path: Path, computed: list[Task]) -> None:
    out, seen = tmp_path / "out", []

    def meddles(table: Any, impurity: str) -> list[bool]:
        seen.append(table)
        if len(seen) == 1500:
            shutil.rmtree(out / place)
        return [True, *[False] * (len(table) - 1)]

    grid = [{"n": 6, "k": 5, "max_count": 7, "runs": 4000}]
    config = {"name": "x", "impurities": ["gini"], "splitters": [meddles], "grid": grid}
    with pytest.raises(ConfigError, match="n6_k5_m7 lacks runs 0 to 999"):
        splitlab.run(config, jobs=1, out=out)
    assert splitlab.run(config, jobs=1, out=out).win_percentage["wins"].tolist() == [4000]
    assert [task.block.number for task in computed] == [0, 1, 2, 3, 0]


@pytest.mark.parametrize("linked", ["out", "out/blocks"])
def test_the_folder_of_results_and_that_of_runs_may_be_links(linked: str, out: Path, tmp_path: Path) -> None:
    before = contents(out)
    place = tmp_path / linked
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    (out / "blocks" / "n6_k5_m7" / "000001.block").unlink()
    splitlab.run(written(tmp_path, SMALL), out=out)
    assert contents(out) == before


@pytest.mark.parametrize("name", ["manifest.json", "timing.csv"])
def test_a_pipe_in_the_place_of_a_text_file_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    (tmp_path / "zero").symlink_to("/dev/zero")
    for path in (tmp_path / name, tmp_path / "zero"):
        with pytest.raises(ValueError, match="it is no regular file"):
            read_bounded(path)
    with pytest.raises(ConfigError, match="it is no regular file"):
        read_manifest(tmp_path) if name == "manifest.json" else stored_times(tmp_path)
