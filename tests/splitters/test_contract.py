"""The contract test: every registered splitter passes it, and each way to break it is found by the rule it breaks."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import splitlab
from splitlab import contract
from splitlab.cli import main
from splitlab.splitters import names
from tests.helpers.own import write_module

pytestmark = pytest.mark.usefixtures("elsewhere")

VALID, TABLE, SAME, ROWS, CLASSES, SCALING, PURITY, _ = contract.RULES.values()


def broken(splitter: Any, **options: Any) -> list[str]:
    return [finding.rule for finding in contract.check(splitter, **options).broken]


def best(table: np.ndarray, impurity: str) -> np.ndarray:
    return splitlab.split(table, impurity, "hcc").left


@pytest.fixture(autouse=True)
def fewer_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "PER_SCALE", 1)


# The published program's slip of the pen goes by the order of the rows, and is here to show what that did.
ORDERED = "sliq_ext_prefix"
EVERY = [
    *(name for name in names() if name not in ("direction", ORDERED)),
    "sliq+hd",
    "splitlab.examples:above_average",
]


def test_the_slip_in_the_published_program_is_caught() -> None:
    assert "does not depend on the order of the rows" in [f.rule for f in contract.check(ORDERED).broken]


@pytest.mark.parametrize("name", EVERY)
def test_every_splitter_passes(name: str) -> None:
    findings = contract.check(name).findings
    assert [f"{f.rule}: {f.problem}" for f in findings if f.problem] == []
    assert len(findings) == 8
    assert "on average 1." in findings[-1].seen


@pytest.mark.parametrize(
    ("name", "holds", "fails"), [("hcc", 2.0, None), ("exact", 1.0, None), ("lca", 2.0, 1.0), ("sliq", 2.0, 1.001)]
)
def test_claimed_ratios(name: str, holds: float, fails: float | None) -> None:
    assert broken(name, ratio=holds) == []
    if fails:
        (finding,) = contract.check(name, ratio=fails).broken
        assert finding.rule == f"is not below the optimum of small tables, nor above {fails:g} times it"
        assert "times the optimum (table [[" in finding.problem


@pytest.mark.parametrize("ratio", [0.99, 0.0, -1.0, float("nan"), float("inf")])
def test_impossible_ratios(ratio: float) -> None:
    with pytest.raises(ValueError, match="is no ratio to the least impurity"):
        contract.check("lca", ratio=ratio)


# The six ways to break the contract


def wrong_length(table: np.ndarray, impurity: str) -> Any:
    return best(table, impurity)[1:]


def empty_side(table: np.ndarray, impurity: str) -> Any:
    return np.zeros(len(table), bool) if len(table) == 12 else best(table, impurity)


def integer_mask(table: np.ndarray, impurity: str) -> Any:
    return best(table, impurity).astype(int)


def order_dependent(table: np.ndarray, impurity: str) -> Any:
    return splitlab.split(table, impurity, "lca" if table[0].sum() < table[-1].sum() else "hcc").left


def mutates(table: np.ndarray, impurity: str) -> Any:
    left = best(table, impurity)
    table.sort(axis=0)
    return left


def made_random(every: int) -> Callable[[np.ndarray, str], Any]:
    """A splitter that is random in one of ``every`` calls."""
    rng = np.random.default_rng(0)

    def splitter(table: np.ndarray, impurity: str) -> Any:
        left = best(table, impurity)
        if rng.integers(every) == 0:
            left[rng.integers(len(left))] ^= True
        return left if left.any() and not left.all() else ~np.eye(1, len(left), dtype=bool)[0]

    return splitter


# And subtler ones


def cuts_ties_of_its_own(table: np.ndarray, impurity: str) -> Any:
    """The rounded shares tie where the shares do not; the first of equal ones is taken."""
    if table.shape[1] == 2:
        return best(table, impurity)
    shares = np.round(table[:, table.sum(axis=0).argmax()] / table.sum(axis=1), 1)
    return np.arange(len(table)) == shares.argmax()


def prefers_the_first_class(table: np.ndarray, impurity: str) -> Any:
    return splitlab.split(table, impurity, "direction", [1.0, *[0.0] * (table.shape[1] - 1)]).left


def has_an_absolute_threshold(table: np.ndarray, impurity: str) -> Any:
    return splitlab.split(table, impurity, "lca" if table.sum() < 1000 else "hcc").left


def by_size_only(table: np.ndarray, impurity: str) -> Any:
    return np.arange(len(table)) == table.sum(axis=1).argmax()


def repairs_what_it_spoils(table: np.ndarray, impurity: str) -> Any:
    before = table.copy()
    table[:] = 0
    left = best(before, impurity)
    table[:] = before
    return left


def changes_one_count(table: np.ndarray, impurity: str) -> Any:
    left = best(table, impurity)
    table[-1, -1] += len(table) == 9
    return left


def remembers(table: np.ndarray, impurity: str, seen: dict[bytes, int]) -> Any:
    """Another split every other time."""
    seen[table.tobytes()] = seen.get(table.tobytes(), 0) + 1
    return splitlab.split(table, impurity, "hcc" if seen[table.tobytes()] % 2 else "lca").left


def raises_for_one_shape(table: np.ndarray, impurity: str) -> Any:
    if table.shape == (9, 3):
        raise SystemExit("no")
    return best(table, impurity)


BROKEN: dict[str, tuple[Any, list[str]]] = {
    "a mask of wrong length": (wrong_length, [VALID]),
    "an empty side": (empty_side, [VALID]),
    "an integer mask": (integer_mask, [VALID]),
    "order-dependent": (order_dependent, [ROWS]),
    "mutating": (mutates, [TABLE]),
    "random": (made_random(1), [SAME]),
    "random in one of 20 calls": (made_random(20), [SAME]),
    "other when called again": (lambda t, i, seen={}: remembers(t, i, seen), [SAME]),
    "order-dependent in ties of its own": (cuts_ties_of_its_own, [ROWS]),
    "dependent on the first class": (prefers_the_first_class, [CLASSES]),
    "dependent on the scale": (has_an_absolute_threshold, [SCALING]),
    "impure": (by_size_only, [PURITY]),
    "changing one count": (changes_one_count, [TABLE]),
    "raising for one shape": (raises_for_one_shape, [VALID]),
    "returning nothing": (lambda table, impurity: None, [VALID]),
}
KEPT: dict[str, Any] = {
    "a list": lambda table, impurity: best(table, impurity).tolist(),
    "a table that is repaired": repairs_what_it_spoils,
    "the other side": lambda table, impurity: ~best(table, impurity),
    "an object": functools.partial(lambda name, table, impurity: splitlab.split(table, impurity, name).left, "pc"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_breach_is_found_by_the_rule_that_it_breaks(case: str) -> None:
    splitter, rules = BROKEN[case]
    assert broken(splitter) == rules


@pytest.mark.parametrize("case", KEPT)
def test_what_keeps_the_rules_passes(case: str) -> None:
    assert broken(KEPT[case]) == []


def test_findings_show_the_table() -> None:
    (finding,) = contract.check(empty_side).broken
    assert "returned an empty left side" in finding.problem
    assert finding.problem.endswith(", gini)")
    (finding,) = contract.check(mutates).broken
    assert "the table became [[" in finding.problem


def test_less_than_the_optimum_is_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself would find a wrong score or optimum."""
    true = contract.least_impurity
    monkeypatch.setattr(contract, "least_impurity", lambda table, impurity: 1.001 * true(table, impurity))
    assert broken("hcc") == ["is not below the optimum of small tables"]


def test_the_tables_have_no_ties() -> None:
    tables = contract.tables_without_ties(0)
    small = len(contract.SHAPES) * len(contract.SCALES) * contract.PER_SCALE
    assert len(tables) == small + len(contract.LARGE_SHAPES)
    for table in tables:
        assert (table > 0).all()
        assert len(set(table.sum(axis=1).tolist())) == len(table)
        for shares in (table / table.sum(axis=1, keepdims=True)).T:
            assert len(set(shares.tolist())) == len(table)
    assert not np.array_equal(tables[0], contract.tables_without_ties(1)[0])


def test_what_cannot_be_checked() -> None:
    with pytest.raises(ValueError, match="'direction' does not serve tables"):
        contract.check("direction")
    with pytest.raises(ValueError, match="did you mean 'hcc'"):
        contract.check("hccc")
    with pytest.raises(ValueError, match="no module 'nowhere'"):
        contract.check("nowhere:f")
    with pytest.raises(KeyboardInterrupt):
        contract.check(interrupted)


def interrupted(table: np.ndarray, impurity: str) -> Any:
    raise KeyboardInterrupt


SOURCE = """import numpy as np

def good(table, impurity):
    import splitlab
    return splitlab.split(table, impurity, "lca").left

def bad(table, impurity):
    return np.ones(len(table), bool)
"""


def test_the_command(elsewhere: Any, capsys: pytest.CaptureFixture[str]) -> None:
    module = write_module(elsewhere, SOURCE)
    assert main(["check", f"{module}:good", "--ratio", "2"]) == 0
    done = capsys.readouterr()
    assert done.err == f"importing {module}:good from {elsewhere / module}.py\n"
    assert done.out.splitlines()[-1] == f"{module}:good: every rule holds"
    assert main(["check", f"{module}:bad"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"broken  {VALID}"
    assert "returned an empty right side" in lines[1]
    assert lines[-1] == f"{module}:bad: 1 of 1 rules broken"
    assert main(["check", f"{module}:missing"]) == 2
    assert "has no function 'missing'" in capsys.readouterr().err


def test_an_order_that_matters_in_large_tables_only_is_caught() -> None:
    def halves(table: np.ndarray, impurity: str) -> np.ndarray:
        if len(table) > 20:
            return np.arange(len(table)) < len(table) // 2
        return splitlab.split(table, impurity, "exact").left

    broken = [finding.rule for finding in contract.check(halves).broken]
    assert "does not depend on the order of the rows" in broken


# Randomised splitters, waived rules


def at_random(table: np.ndarray, impurity: str, rng: np.random.Generator) -> Any:
    left = rng.random(len(table)) < 0.5
    left[:2] = True, False
    return left


def restarts(table: np.ndarray, impurity: str, *, rng: np.random.Generator) -> Any:
    """The best of random prefixes, which depends on the order of rows and classes."""
    masks = [rng.random(len(table)) < 0.5 for _ in range(20)]
    masks = [mask for mask in masks if mask.any() and not mask.all()] or [np.arange(len(table)) == 0]
    return min(masks, key=lambda mask: splitlab.impurity(table, mask, impurity))


def test_a_randomised_splitter_gives_the_same_for_the_same_table() -> None:
    report = contract.check(at_random, waive=["rows", "classes", "scale", "pure"])
    assert report.passed
    assert report.waived == ("rows", "classes", "scale", "pure")
    assert [finding.outcome for finding in report.findings] == ["holds"] * 3 + ["waived"] * 4 + ["holds"]
    assert "waived  does not depend on the order of the rows\n" in str(report)
    assert report.conclusion.endswith("at_random: every rule holds that was tried; waived: rows, classes, scale, pure")
    assert {ROWS, CLASSES} <= set(broken(restarts))


def test_a_randomised_splitter_does_not_depend_on_workers_or_blocks(tmp_path: Any) -> None:
    grid = [{"n": 6, "k": 3, "max_count": 7, "runs": 1500}]
    config = {"name": "t", "impurities": ["gini"], "splitters": ["lca", at_random], "grid": grid}
    one, two = (splitlab.run(config, jobs=jobs).impurities(6, 3, 7, "gini") for jobs in (1, 2))
    assert (one == two).all()
    fewer = splitlab.run(config, runs=700).impurities(6, 3, 7, "gini")
    assert (fewer == one[:700]).all()
    assert len(np.unique(one[:, 1] - one[:, 0])) > 1000  # other random numbers for other tables


def test_a_default_of_ones_own_is_kept() -> None:
    own = np.random.default_rng(3)
    assert SAME in broken(functools.partial(at_random, rng=own))


@pytest.mark.parametrize(
    ("waive", "ratio", "says"),
    [
        ("row", None, "'row' is no rule; did you mean 'rows'"),
        (["rows", "xyz"], None, "'xyz' is no rule; the rules are untouched, repeatable, rows"),
        ("valid", None, "'valid' cannot be waived"),
        ("optimum", 2.0, "'optimum' does not go with a ratio"),
    ],
)
def test_rules_that_cannot_be_waived(waive: Any, ratio: float | None, says: str) -> None:
    with pytest.raises(ValueError, match=f"waive: {says}"):
        contract.check("lca", ratio, waive=waive)


def test_a_waived_rule_is_not_tried() -> None:
    assert broken(by_size_only, waive="pure") == []
    assert SAME not in broken(made_random(1), waive="repeatable")


def test_the_command_waives(elsewhere: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"{write_module(elsewhere, SOURCE)}:good"
    assert main(["check", name, "--waive", "rows", "--waive", "scale"]) == 0
    assert capsys.readouterr().out.endswith(f"{name}: every rule holds that was tried; waived: rows, scale\n")
    assert main(["check", name, "--waive", "order"]) == 2
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(rule in shown for rule in contract.RULES if rule != "valid")


def test_a_long_check_says_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(table: np.ndarray, impurity: str) -> Any:
        time.sleep(0.02)
        return best(table, impurity)

    monkeypatch.setattr(contract, "SHAPES", contract.SHAPES[:3])
    assert contract.check(slow).passed
    said = capsys.readouterr().err
    assert "slow: " in said
    assert "left] " in said
    contract.check(slow, progress=False)
    assert capsys.readouterr().err == ""
    contract.check("lca")
    assert capsys.readouterr().err == ""
