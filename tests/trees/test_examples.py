"""The worked examples reach the values of the source documents, and the page shows them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from splitlab.impurity import weighted_impurity
from splitlab.trees import criteria, examples


@pytest.fixture(scope="module")
def page() -> str:
    done = subprocess.run([sys.executable, "-m", "splitlab", "examples"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_entropies() -> None:
    values = {(9, 5): 0.94028595, (1, 1): 1.0, (100,): 0.0, (): 0.0}
    for counts, value in values.items():
        found = weighted_impurity(np.array(counts, np.int64), "entropy") / max(sum(counts), 1)
        assert found == pytest.approx(value, abs=1e-8)


def test_credit_gains() -> None:
    gains = {split.titles[0]: split[2:] for split in examples.credit_splits(tuple(examples.CREDIT))}
    expected = {
        "gender = male": (0, 0),
        "job = yes": (0.1887, 0.125),
        "region = A": (0, 0),
        "region = B": (0.0488, 0.0333),
        "region = C": (0.0488, 0.0333),
    }
    assert list(gains) == list(expected)
    for name, pair in expected.items():
        assert gains[name] == pytest.approx(pair, abs=5e-5)


def test_principal_component() -> None:
    matrix, direction, scores = examples.component()
    expected = [[10, -4.1667, -5.8333], [-4.1667, 14.1667, -10], [-5.8333, -10, 15.8333]]
    assert matrix == pytest.approx(np.array(expected), abs=1e-4)
    assert np.linalg.eigvalsh(matrix) == pytest.approx([0, 14.7958, 25.2042], abs=1e-4)
    assert direction == pytest.approx([-0.1144, -0.6430, 0.7573], abs=1e-4)
    assert scores == pytest.approx([-0.0572, -0.3215, -0.2334, 0.1167, 0.4953], abs=1e-4)
    table = np.array(examples.COMPONENTS)

    def gain(rows: list[int], impurity: str) -> float:
        return criteria.information_gain([table[rows].sum(0), np.delete(table, rows, 0).sum(0)], impurity)

    assert gain([4], "gini") == pytest.approx(0.0659722, abs=1e-7)
    assert gain([1, 2], "entropy") == pytest.approx(0.1427806, abs=1e-7)
    assert gain([0, 1, 2], "entropy") == pytest.approx(gain([1, 2], "entropy"), rel=1e-12)


@pytest.mark.parametrize(
    "line",
    [
        "[9, 5] split into [6, 2] and [3, 3]: information gain 0.04812703",
        "<= 10.5              0.0146",
        "root: rows a, b, c, d, e, f, g, h; good 4, bad 4; entropy 1.0000, Gini 0.5000",
        "job = yes      3, 1 | 1, 3                      0.1887     0.1250",
        "root, job = yes, region = C: rows g; good 0, bad 1",
        "two-class order by p(no): overcast < rainy < sunny",
        "overcast    4   0  0.0000                   0.2260            0.1020",
        "a2, a3, a1, a4     0.0660            0.1392",
        "Y      40, 0, 5, 5   0, 20, 5, 5   1.0879                1.0879  0.2036",
    ],
)
def test_the_page_shows_every_step(page: str, line: str) -> None:
    assert line in page


def test_every_row_of_the_credit_tree_ends_in_a_leaf_of_its_status(page: str) -> None:
    lines = page.splitlines()
    leaves = {}
    for place, line in enumerate(lines):
        if line.startswith("    leaf: "):
            rows = lines[place - 1].split("rows ")[1].split(";")[0]
            leaves.update(dict.fromkeys(rows.split(", "), line.removeprefix("    leaf: ")))
    assert leaves == {row: status for row, (_, status) in examples.CREDIT.items()}
