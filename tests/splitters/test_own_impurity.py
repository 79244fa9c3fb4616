"""An impurity of one's own: every kernel serves it, its properties are examined, and what is none is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import splitlab
from splitlab import plugins
from splitlab.cli import main
from splitlab.custom_impurity import examine, guarantees
from splitlab.impurity import (
    NAMES,
    code,
    impurity,
    impurity_gradient,
    name_of,
    score,
    sides_impurity,
    weighted_impurity,
)
from splitlab.splitters import get, names, reference, serving, split_batch
from splitlab.study import load_experiment
from tests.helpers.own import write_config, write_module
from tests.helpers.tables import optimum, random_tables

pytestmark = pytest.mark.usefixtures("elsewhere")

CUBIC, ROOT = "splitlab.examples:cubic", "splitlab.examples:square_root"


def own_gini(p: float) -> float:
    return p * (1.0 - p)


def own_entropy(p: float) -> float:
    return -p * math.log2(p) if p > 0.0 else 0.0


GINI, ENTROPY = f"{__name__}:own_gini", f"{__name__}:own_entropy"
PAIRS = [pytest.param(own, built_in, id=built_in) for own, built_in in zip((GINI, ENTROPY), NAMES, strict=True)]


# The kernels


@pytest.mark.parametrize("name", [CUBIC, ROOT])
@pytest.mark.parametrize("splitter", [n for n in serving(6, 3) if n in reference.SPLITTERS])
def test_kernels_select_the_split_of_the_plain_definition(splitter: str, name: str) -> None:
    n = 6 if splitter in ("exhaustive", "hyperplanes") else 12
    tables = random_tables(21, n, 3, 30, count=8)
    for table, mask in zip(tables, split_batch(get(splitter), tables, code(name)), strict=True):
        expected = np.array(reference.SPLITTERS[splitter](table.tolist(), name))
        if splitter in ("exhaustive", "hyperplanes"):  # which try the splits in orders of their own
            both = score(np.stack([table, table]), np.stack([mask, expected]), code(name))
            assert both[0] == pytest.approx(both[1], rel=1e-12)
        else:
            assert (mask == expected).all() or (mask == ~expected).all(), table.tolist()


@pytest.mark.parametrize(("own", "built_in"), PAIRS)
@pytest.mark.parametrize("splitter", [n for n in names() if n != "direction"])
def test_gini_and_entropy_as_ones_own_are_the_built_in_ones(splitter: str, own: str, built_in: str) -> None:
    tables = random_tables(22, 8, 2 if splitter == "two_class" else 4, 10**6, count=25)
    masks, expected = (split_batch(get(splitter), tables, code(name)) for name in (own, built_in))
    assert ((masks == expected).all(axis=1) | (masks == ~expected).all(axis=1)).all()
    assert score(tables, masks, code(own)) == pytest.approx(score(tables, masks, code(built_in)), rel=1e-9)


@pytest.mark.parametrize("name", [CUBIC, ROOT, GINI, ENTROPY])
def test_the_impurity_is_that_of_its_definition(name: str) -> None:
    f, rng = plugins.load(name), np.random.default_rng(0)
    for scale in (3, 1000, 10**14):
        left, right = rng.integers(0, scale, (2, 5)) + np.eye(2, 5, dtype=np.int64)
        totals = left + right
        expected = [int(u.sum()) * math.fsum(f(int(c) / int(u.sum())) for c in u if c) for u in (left, right)]
        assert impurity(left, code(name)) == pytest.approx(expected[0], rel=1e-12)
        assert reference.impurity(left.tolist(), name) == pytest.approx(expected[0], rel=1e-12)
        sides = sides_impurity(left, totals, left.sum(), totals.sum(), code(name), np.empty(0))
        assert sides == pytest.approx(sum(expected), rel=1e-12)
    assert impurity(np.zeros(3, np.int64), code(name)) == 0.0
    assert weighted_impurity(np.array([0, 7, 0]), name) == 0.0


SLOPES = {
    CUBIC: lambda p: 1.0 - 3.0 * p * p,
    GINI: lambda p: 1.0 - 2.0 * p,
    ROOT: lambda p: 0.5 / math.sqrt(p) - 1.0,
    ENTROPY: lambda p: -math.log2(p) - 1.0 / math.log(2.0),
}


@pytest.mark.parametrize("name", SLOPES)
def test_the_gradient_is_that_of_the_analytic_slope(name: str) -> None:
    f, slope, rng = plugins.load(name), SLOPES[name], np.random.default_rng(1)
    for _ in range(50):
        counts = rng.integers(1, 100, 4)
        shares = counts / counts.sum()
        rest = sum(f(p) - p * slope(p) for p in shares)
        gradient = np.empty(4)
        impurity_gradient(counts, code(name), gradient)
        assert gradient == pytest.approx([slope(p) + rest for p in shares], abs=1e-6, rel=1e-6)


def test_the_gradient_is_finite_where_a_class_is_absent_or_alone() -> None:
    for name in SLOPES:
        for counts in ([0, 3, 1], [0, 3, 0], [5, 0, 0]):
            gradient = np.empty(3)
            impurity_gradient(np.array(counts), code(name), gradient)
            assert np.isfinite(gradient).all(), (name, counts)


def test_the_guarantees_hold_for_the_cubic_impurity() -> None:
    tables = random_tables(23, 7, 3, 9, 60)
    best = np.array([optimum(table, code(CUBIC)) for table in tables])
    slack = 1e-9 * tables.sum(axis=(1, 2))
    found = {s: score(tables, split_batch(get(s), tables, code(CUBIC)), code(CUBIC)) for s in serving(7, 3)}
    for values in found.values():
        assert (values >= best - slack).all()
    for splitter, ratio in (
        ("hcc", 2.0),
        ("lca", 3 + 3**0.5),
        ("exhaustive", 1.0),
        ("hyperplanes", 1.0),
        ("exact", 1.0),
    ):
        assert (found[splitter] <= ratio * best + slack).all(), splitter
    assert (found["lca+hd"] <= found["lca"] + slack).all()


@pytest.mark.parametrize("name", [CUBIC, ROOT])
def test_two_classes_are_solved_for_every_concave_impurity(name: str) -> None:
    tables = random_tables(24, 7, 2, 9, 40)
    best = np.array([optimum(table, code(name)) for table in tables])
    for splitter in ("lca", "hcc", "ova", "pc", "pc_ext", "two_class", "twoing", "hyperplanes", "exact"):
        found = score(tables, split_batch(get(splitter), tables, code(name)), code(name))
        assert found == pytest.approx(best, rel=1e-9), splitter


# What is true of it


def with_one_at_one(p: float) -> float:
    return p * (1.0 - p) + 0.1 * p


def flat_in_the_middle(p: float) -> float:
    return min(p * (1.0 - p), 0.2)


def with_a_straight_piece(p: float) -> float:
    return p * (1.0 - p) if p < 0.5 or p > 0.6 else 0.25 - 0.1 * (p - 0.5)


def hat(p: float) -> float:
    return min(p, 1.0 - p)


def convex(p: float) -> float:
    return p * p


def wavy(p: float) -> float:
    return p * (1.0 - p) * (1.1 + math.sin(40.0 * p))


def flat_at_zero(p: float) -> float:
    return p * p * (1.0 - p)


def tiny(p: float) -> float:
    return 1e-20 * p * (1.0 - p)


EXAMINED = [
    ("splitlab.examples:cubic", ""),
    (GINI, ""),
    (ENTROPY, ""),
    (f"{__name__}:tiny", ""),
    ("splitlab.examples:square_root", "p3"),
    (f"{__name__}:with_one_at_one", "p1"),
    (f"{__name__}:flat_in_the_middle", "p2"),
    (f"{__name__}:with_a_straight_piece", "p2"),
    (f"{__name__}:hat", "p2 p3"),
    (f"{__name__}:convex", "p1 p2"),
    (f"{__name__}:wavy", "p2 p3"),
    (f"{__name__}:flat_at_zero", "p2"),
]


@pytest.mark.parametrize(("name", "failing"), EXAMINED)
def test_failures_of_the_properties_are_found(name: str, failing: str) -> None:
    found = examine(name)
    assert [p for p in ("p1", "p2", "p3") if getattr(found, p)] == failing.split()
    assert found.in_class_c == (not failing)


def test_a_failure_shows_shares_that_prove_it() -> None:
    f = plugins.load(ROOT)
    p, q = (float(part.split(" = ")[1]) for part in examine(ROOT).p3.split(" at ")[1].split(", "))
    assert f(p) > p / q * f(q) + q * f(p / q) + 1e-3
    assert examine(f"{__name__}:with_one_at_one").p1 == "f(1) = 0.1"
    p, q = (float(word) for word in examine(f"{__name__}:convex").p2.split("from ")[1].split(" to "))
    assert convex((p + q) / 2) < (convex(p) + convex(q)) / 2


@pytest.mark.parametrize(
    ("name", "says", "says_not"),
    [
        (CUBIC, ["hcc: 2", "lca, ova, flip_flop: 3 + sqrt 3", "exhaustive is optimal"], ["no ratio"]),
        (ROOT, ["no ratio is proven", "hyperplanes and exact too"], ["hcc: 2"]),
        (f"{__name__}:convex", ["exhaustive is optimal", "no other guarantee holds"], ["hcc: 2", "hyperplanes"]),
    ],
)
def test_the_guarantees_that_hold_are_listed(
    name: str, says: list[str], says_not: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "--impurity", name]) == 0
    shown = capsys.readouterr().out
    assert all(line in shown for line in guarantees(name))
    assert all(text in shown for text in says)
    assert not any(text in shown for text in says_not)
    assert "(P3) f(p) <= (p / q) f(q) + q f(p / q): " in shown


def test_another_function_of_the_same_name_is_examined_anew() -> None:
    def made(c: float) -> Any:
        def f(p: float) -> float:
            return c * p * (1.0 - p)

        return f

    counts = np.array([3, 1])
    for c in (1.0, 2.0):
        assert weighted_impurity(counts, plugins.hand_over(made(c))) == pytest.approx(1.5 * c)
    assert examine(plugins.hand_over(made(1.0))).in_class_c
    assert examine(plugins.hand_over(hat)).p2


# What is no impurity


def nan_at_zero(p: float) -> float:
    return -p * math.log2(p)


def infinite(p: float) -> float:
    return 1.0 / p


def negative(p: float) -> float:
    return p * (p - 1.0)


def of_two(p: float, q: float) -> float:
    return p * q


def of_lists(p: float) -> float:
    return sorted(str(p), key=repr)[0]  # type: ignore[return-value]


def undefined(p: float) -> float:
    return nothing_of_that_name(p)  # type: ignore[name-defined,no-any-return]  # noqa: F821


NONE = {
    "nan_at_zero": r"f\(0\) = nan is not finite; no impurity",
    "infinite": r"f\(0\) = inf is not finite; no impurity",
    "negative": r"f\(0.001\) = -0.000999 is negative; no impurity",
    "of_two": "Numba cannot compile it as a function of one share: ",
    "of_lists": "Numba cannot compile it as a function of one share: ",
    "undefined": "Numba cannot compile it as a function of one share: .*nothing_of_that_name",
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_impurity_is_refused_in_a_line(name: str) -> None:
    with pytest.raises(ValueError, match=f"impurity {__name__}:{name}: {NONE[name]}") as caught:
        code(f"{__name__}:{name}")
    assert "\n" not in str(caught.value)
    assert "Failed in" not in str(caught.value)


def test_a_config_says_where_it_is_written(elsewhere: Path) -> None:
    module = write_module(elsewhere, "def f(p):\n    return -p\n")
    with pytest.raises(ValueError, match=rf"t\.yaml:2: impurities\[0\]: .*{module}:f' cannot be used: .* is negative"):
        load_experiment(write_config(elsewhere, "lca", impurities=f"'{module}:f'"))


def test_compiled_functions_are_accepted() -> None:
    import numba

    name = plugins.hand_over(numba.njit(own_gini))
    assert weighted_impurity(np.array([1, 1]), name) == pytest.approx(1.0)
    assert name_of(code(name)) == name


# In experiments


def test_the_same_experiment_with_ones_own_gini() -> None:
    grid = [{"n": 6, "k": 3, "max_count": 50, "runs": 300}]
    splitters = ["hcc", "pc_ext", "sliq_ext", "lca", "hd"]
    results = splitlab.run({"name": "t", "impurities": ["gini", own_gini], "splitters": splitters, "grid": grid})
    ours, theirs = (results.impurities(6, 3, 50, impurity) for impurity in (GINI, "gini"))
    assert ours == pytest.approx(theirs, rel=1e-9)
    wins = results.win_percentage.pivot(index="splitter", columns="impurity", values="wins")
    assert wins[GINI].equals(wins["gini"].rename(GINI))


def test_names_are_shown_as_they_are_and_escaped(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_config(elsewhere, "lca", "hcc", impurities=f"gini, '{ROOT}', '{CUBIC}'")
    assert main(["run", str(config), "--out", "out"]) == 0
    assert f"Percentage of tables won, {ROOT}" in capsys.readouterr().out
    assert main(["report", "out"]) == 0
    out = elsewhere / "out"
    assert r"splitlab.examples:square\_root" in (out / "win_percentage.tex").read_text()
    assert r"splitlab.examples:square\_root" in (out / "win_percentage.md").read_text()
    assert f"\n{ROOT},4,3,7,lca," in (out / "win_percentage.csv").read_text()
    page = (out / "report.html").read_text()
    assert f"Percentage of tables won, {ROOT}" in page
    assert f"impurities: [gini, &quot;{ROOT}&quot;, &quot;{CUBIC}&quot;]" in page
    assert all(":" not in path.name for path in out.rglob("*"))


def test_split_on_the_command_line(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = write_module(elsewhere, "def f(p):\n    return p * (1.0 - p)\n")
    (elsewhere / "table.csv").write_text("1,2,3\n3,1,0\n0,4,4\n")
    assert main(["split", "table.csv", "--no-header", "--no-labels", "--impurity", f"{module}:f"]) == 0
    done = capsys.readouterr()
    assert done.err == f"importing {module}:f from {elsewhere / module}.py\n"
    assert main(["split", "table.csv", "--no-header", "--no-labels"]) == 0
    assert capsys.readouterr().out == done.out.replace(f"{module}:f", "gini")


def test_a_function_that_can_raise_is_refused() -> None:
    """Compiled code has nobody to raise to: a share between those tried would give some number, silently."""

    def seldom(p: float) -> float:
        if 0.42001 < p < 0.42002:
            raise ValueError("no")
        return p * (1.0 - p)

    with pytest.raises(ValueError, match="can raise an error"):
        splitlab.split([[1, 2], [3, 1], [0, 2]], impurity=seldom)


def test_shares_of_small_rows_are_tried() -> None:
    def third(p: float) -> float:
        return -0.5 if 0.33329 < p < 0.33334 else p * (1.0 - p)

    with pytest.raises(ValueError, match=r"f\(0\.333333\) = -0\.5 is negative"):
        splitlab.split([[1, 2], [3, 1], [0, 2]], impurity=third)
