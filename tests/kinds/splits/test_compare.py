"""Held against the published numbers: rounding, exact tests, Holm, the verdict; and how tables are rendered."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import comb, sqrt
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

import splitlab
from splitlab.kinds.splits.compare import Entry, entries, judge
from splitlab.kinds.splits.results import Results
from splitlab.published import PAPER_COMPETITORS, load
from splitlab.report.layout import Entry as Text
from splitlab.report.layout import Table, round_half_up

RIVALS = ["hcc", "pc_ext_counts", "sliq_ext", "lca"]
# Wins of the authors' 10,000 tables, gini then entropy.
REPLAY = {
    3: [9729, 9120, 8987, 4278, 9827, 8017, 8746, 3346],
    5: [9916, 8795, 8192, 1907, 9943, 7416, 7818, 1358],
    7: [9994, 8657, 7826, 1148, 9998, 7323, 7518, 829],
    9: [10000, 8497, 7554, 846, 9999, 7235, 7281, 675],
}


def entry(printed: str, wins: int = 50, runs: int = 120, published_runs: int = 10_000) -> Entry:
    return Entry("gini", 12, 3, 7, "hcc", wins, runs, printed, published_runs)


def half_up(count: int, of: int, decimals: int) -> Decimal:
    """The percentage as it would be printed; exact as long as ``of`` divides a power of ten."""
    return (Decimal(100 * count) / of).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


# Rounding


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(9725, 100), "97.3"),
        (97.25, "97.3"),  # exact in binary
        (Fraction(972499, 10_000), "97.2"),
        (Fraction(1, 20), "0.1"),
        (Fraction(49, 1000), "0.0"),
        (Fraction(9995, 100), "100.0"),
        (Fraction(99949, 1000), "99.9"),
        (100, "100.0"),
        (0, "0.0"),
        (Fraction(-1, 20), "-0.1"),
        (Fraction(-9725, 100), "-97.3"),
        (Fraction(200, 3), "66.7"),
        (Fraction(5 * 10**20 - 1, 10**22), "0.0"),  # just below a half: it must not be rounded twice
    ],
)
def test_round_half_up(value: Fraction | float, text: str) -> None:
    assert round_half_up(value) == text


def test_round_half_up_to_other_decimals() -> None:
    assert round_half_up(Fraction(27, 2), 0) == "14"
    assert round_half_up(Fraction(25, 2), 0) == "13"  # not to even
    assert round_half_up(Fraction(1, 800), 4) == "0.0013"
    assert [round_half_up(Fraction(i, 8), 2) for i in range(1, 8, 2)] == ["0.13", "0.38", "0.63", "0.88"]


@pytest.mark.parametrize(
    ("printed", "first", "last"), [("97.3", 9725, 9734), ("100.0", 9995, 10_000), ("0.0", 0, 4), ("14", 1350, 1449)]
)
def test_possible_counts_of_the_paper(printed: str, first: int, last: int) -> None:
    assert entry(printed).possible_counts() == range(first, last + 1)


@pytest.mark.parametrize("printed", ["0.0", "0.1", "50.0", "99.9", "100.0", "100", "0", "3", "12.34", "12.30"])
@pytest.mark.parametrize("runs", [10_000, 20_000, 1000, 5])
def test_possible_counts_are_those_that_are_printed_so(printed: str, runs: int) -> None:
    decimals = len(printed.partition(".")[2])
    expected = [c for c in range(runs + 1) if half_up(c, runs, decimals) == Decimal(printed)]
    counts = entry(printed, published_runs=runs).possible_counts()
    if expected:
        assert list(counts) == expected
    else:  # no count is printed so: the next one above stands in, so that there is something to test
        assert len(counts) <= 1


@pytest.mark.parametrize("wins", [0, 4, 5, 14, 15, 9724, 9725, 9734, 9735, 9994, 9995, 10_000])
def test_rounds_alike(wins: int) -> None:
    ours = half_up(wins, 10_000, 1)
    for printed in ("0.0", "0.1", "0.2", "97.2", "97.3", "97.4", "99.9", "100.0"):
        assert entry(printed, wins, 10_000).rounds_alike() == (ours == Decimal(printed))
    assert entry("100", wins, 10_000).rounds_alike() == (wins >= 9950)


# Tests of significance


def fisher(a: int, m: int, b: int, n: int) -> float:
    """Two-sided Fisher test of a wins of m against b of n, by adding up the hypergeometric distribution."""
    won, total = a + b, m + n
    weights = {x: comb(m, x) * comb(n, won - x) for x in range(max(0, won - n), min(m, won) + 1)}
    assert sum(weights.values()) == comb(total, won)
    return float(Fraction(sum(w for w in weights.values() if w <= weights[a]), comb(total, won)))


CASES = [("40.5", 50, 120, 200), ("10", 30, 50, 100), ("0.0", 3, 40, 1000), ("100.0", 35, 40, 1000), ("33", 0, 9, 200)]


@pytest.mark.parametrize(("printed", "wins", "runs", "published_runs"), CASES)
def test_p_value_is_the_largest_over_the_possible_counts(
    printed: str, wins: int, runs: int, published_runs: int
) -> None:
    decimals = len(printed.partition(".")[2])
    counts = [c for c in range(published_runs + 1) if half_up(c, published_runs, decimals) == Decimal(printed)]
    expected = max(fisher(wins, runs, c, published_runs) for c in counts)
    assert entry(printed, wins, runs, published_runs).p_value() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("wins", [960, 973, 985, 1000])
def test_p_value_by_brute_force_with_scipy(wins: int) -> None:
    tables = [[[wins, 1000 - wins], [c, 10_000 - c]] for c in range(9725, 9735)]
    expected = max(stats.fisher_exact(table).pvalue for table in tables)
    assert entry("97.3", wins, 1000).p_value() == pytest.approx(expected, rel=1e-12)


def test_p_value_without_any_variance() -> None:
    assert entry("100.0", 300, 300).p_value() == 1.0
    assert entry("0.0", 0, 300).p_value() == 1.0
    assert entry("100.0", 0, 300).p_value() < 1e-300


@pytest.mark.parametrize(
    ("printed", "unit"), [("97.3", 0.1), ("14", 1.0), ("12.34", 0.01), ("100.0", 0.1), ("40.0", 0.1)]
)
def test_z(printed: str, unit: float) -> None:
    wins, runs, theirs = 830, 900, float(printed) / 100
    pooled = (830 + theirs * 10_000) / 10_900
    error = sqrt(pooled * (1 - pooled) / 900 + pooled * (1 - pooled) / 10_000 + (unit / 100) ** 2 / 12)
    assert entry(printed, wins, runs).z() == pytest.approx((830 / 900 - theirs) / error, rel=1e-12)


def test_z_without_any_variance() -> None:
    assert entry("100.0", 300, 300).z() is None
    assert entry("0.0", 0, 300).z() is None
    assert entry("100.0", 299, 300).z() is not None


# The verdict


def config(**changes: Any) -> dict[str, Any]:
    grid = [{"n": 12, "k": [3, 5], "max_count": 7, "runs": 1000}]
    base = {"name": "c", "impurities": ["gini", "entropy"], "splitters": RIVALS, "grid": grid, "published": "paper"}
    return {**base, **changes}


@pytest.fixture(scope="module")
def ours() -> Results:
    return splitlab.run(config())


def with_frame(results: Results, frame: Any, **changes: Any) -> Results:
    """The same results with another table of wins and another experiment."""
    made = Results.__new__(Results)
    made.__dict__.update(results.__dict__)
    made.win_percentage = frame
    made.experiment = results.experiment.changed(**changes)
    return made


def exchanged(results: Results, field: str, a: str, b: str) -> Results:
    """The results with the wins of ``a`` and ``b``, two values of ``field``, exchanged."""
    frame = results.win_percentage.copy()
    places = [column for column in ("impurity", "n", "k", "max_count", "splitter") if column in frame]
    wins = {tuple(row[c] for c in places): row["wins"] for row in frame.to_dict(orient="records")}
    other = {a: b, b: a}
    turned = [
        wins[tuple(other.get(row[c], row[c]) if c == field else row[c] for c in places)]
        for row in frame.to_dict(orient="records")
    ]
    assert turned != frame["wins"].tolist()
    frame["wins"] = turned
    return with_frame(results, frame)


def test_our_numbers_agree_with_the_paper(ours: Results) -> None:
    verdict = judge(ours)
    assert (verdict.judged, verdict.agrees, verdict.differing) == (True, True, ())
    assert verdict.text.startswith("16 of 16 entries agree with the published ones within Monte Carlo error")
    deviations = [e.z() for e in entries(ours)]
    assert len(deviations) == 16
    rms = sqrt(sum(z * z for z in deviations if z is not None) / 16)
    assert f"rms z = {rms:.2f} over 16 entries" in verdict.text
    assert rms < 2.0


def test_the_order_of_the_rivals_does_not_matter() -> None:
    verdict = judge(splitlab.run(config(splitters=RIVALS[::-1]), runs=300))
    assert verdict.judged
    assert verdict.text.startswith("16 of 16")


@pytest.mark.parametrize("pair", [("hcc", "lca"), ("hcc", "pc_ext_counts"), ("pc_ext_counts", "sliq_ext")])
def test_a_swapped_pair_differs(pair: tuple[str, str], ours: Results) -> None:
    a, b = pair
    verdict = judge(exchanged(ours, "splitter", a, b))
    assert verdict.judged
    assert not verdict.agrees
    assert {e.splitter for e in verdict.differing} <= {a, b}
    assert len(verdict.differing) >= 2
    assert verdict.text.startswith(f"{16 - len(verdict.differing)} of 16 entries agree")


def test_swapped_impurities_differ(ours: Results) -> None:
    assert judge(exchanged(ours, "impurity", "gini", "entropy")).differing


@pytest.mark.parametrize(
    "splitters", [RIVALS[:3], [*RIVALS, "pc"], ["hcc", "pc_ext", "sliq_ext", "lca"], ["hcc"], ["lca", "sliq"]]
)
def test_other_rivals_are_not_judged(splitters: list[str]) -> None:
    verdict = judge(splitlab.run(config(splitters=splitters), runs=2))
    assert not verdict.judged
    assert verdict.agrees
    assert verdict.differing == ()
    for name in PAPER_COMPETITORS:
        assert name in verdict.text


def test_without_published_numbers_nothing_is_judged() -> None:
    verdict = judge(splitlab.run(config(published=None), runs=2))
    assert (verdict.judged, verdict.agrees) == (False, True)
    assert "names no published numbers" in verdict.text
    elsewhere = config(grid=[{"n": 13, "k": 3, "max_count": 7, "runs": 2}])
    verdict = judge(splitlab.run(elsewhere))
    assert (verdict.judged, verdict.agrees) == (False, True)


@pytest.fixture(scope="module")
def replayed() -> Results:
    """What a replay gives, from the counts of the reference; only its first runs are computed."""
    grid = [{"n": 12, "k": list(REPLAY), "max_count": 7, "runs": 2}]
    results = splitlab.run(config(draws="authors", grid=grid))
    frame = results.win_percentage.copy()
    frame["runs"] = 10_000
    places = zip(frame["impurity"], frame["k"], frame["splitter"], strict=True)
    frame["wins"] = [REPLAY[k][4 * (impurity == "entropy") + RIVALS.index(s)] for impurity, k, s in places]
    return with_frame(results, frame)


def test_a_replay_is_held_against_the_digits(replayed: Results) -> None:
    verdict = judge(replayed)
    assert verdict.text == "32 of 32 entries equal, digit for digit"
    assert verdict.agrees
    frame = replayed.win_percentage.copy()
    place = (frame["impurity"] == "gini") & (frame["k"] == 3) & (frame["splitter"] == "hcc")
    for wins, equal in ((9725, True), (9734, True), (9724, False), (9735, False)):
        frame.loc[place, "wins"] = wins
        verdict = judge(with_frame(replayed, frame))
        assert verdict.judged
        assert verdict.agrees == equal
        assert verdict.text == f"{31 + equal} of 32 entries equal, digit for digit"
        assert [(e.splitter, e.k, e.wins) for e in verdict.differing] == ([] if equal else [("hcc", 3, wins)])


def test_a_part_of_the_replay_is_not_judged(replayed: Results) -> None:
    frame = replayed.win_percentage.copy()
    frame.loc[5, "runs"] = 9000
    verdict = judge(with_frame(replayed, frame))
    assert (verdict.judged, verdict.agrees) == (False, True)
    assert "10,000" in verdict.text


# Layout


@pytest.fixture
def table() -> Table:
    rows = [
        [Text("5"), Text("a|b", True), Text("1 ± 2")],
        [Text("12"), Text("x_y & 50 % <b>"), Text("–", True)],
    ]
    return Table("Percent_of 1|2 & 3 %", ["n", "one|two_three", "p%"], rows, 1, ["note * one", "n_2 & 100 %"])


def test_text(table: Table) -> None:
    lines = table.as_text().splitlines()
    assert lines[0] == "Percent_of 1|2 & 3 %"
    assert lines[2:6] == [
        " n  one|two_three   p%",
        "-" * len(" 5  a|b*            1 ± 2"),
        " 5  a|b*            1 ± 2",
        "12  x_y & 50 % <b>  –*",
    ]
    assert lines[-2:] == ["note * one", "n_2 & 100 %"]
    assert all(line == line.rstrip() for line in lines)


def test_markdown(table: Table) -> None:
    lines = table.as_markdown().splitlines()
    assert lines[0] == r"Percent\_of 1\|2 & 3 %"
    assert lines[2] == r"| n | one\|two\_three | p% |"
    assert lines[3] == "| ---: | --- | ---: |"
    assert lines[4] == r"| 5 | **a\|b** | 1 ± 2 |"
    assert lines[5] == r"| 12 | x\_y & 50 % \<b\> | **–** |"
    assert lines[7:] == [r"note \* one", "", r"n\_2 & 100 %"]
    for line in lines[2:6]:
        assert line.replace(r"\|", "").count("|") == 4


def test_latex(table: Table) -> None:
    lines = table.as_latex().splitlines()
    assert r"\caption{Percent\_of 1\textbar{}2 \& 3 \%}" in lines
    assert r"\begin{tabular}{rlr} \toprule" in lines
    assert r"n & one\textbar{}two\_three & p\% \\ \midrule" in lines
    assert r"5 & \textbf{a\textbar{}b} & 1 $\pm$ 2 \\" in lines
    assert r"12 & x\_y \& 50 \% \textless{}b\textgreater{} & \textbf{--} \\" in lines
    assert r"\par\small n\_2 \& 100 \%" in lines
    begun = [line for line in lines if line.startswith(r"\begin")]
    assert len(begun) == len([line for line in lines if r"\end{" in line]) == 2


def test_latex_escapes_a_backslash_once() -> None:
    text = Table(r"a\b~c^d#e$f{g}", ["h"], [[Text("1")]], 1).as_latex()
    assert r"\caption{a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d\#e\$f\{g\}}" in text


# Published numbers


HEADER = "table,impurity,n,k,max_count,splitter,value\n"


@pytest.mark.parametrize(("name", "impurities"), [("table1", {"gini"}), ("table2", {"entropy"})])
def test_the_tables_of_the_paper(name: str, impurities: set[str]) -> None:
    values = load(name).values
    assert {key[0] for key in values} == impurities
    assert len(values) == 48
    assert {key[4] for key in values} == PAPER_COMPETITORS
    assert {key[1:4] for key in values} == {(n, k, 7) for n in (12, 25, 50) for k in (3, 5, 7, 9)}
    assert load("paper").values.items() >= values.items()


def test_printed_values() -> None:
    paper = load("paper")
    assert len(paper.values) == 96
    assert paper.get("gini", 12, 3, 7, "hcc") == "97.3"
    assert paper.get("entropy", 50, 3, 7, "pc_ext_counts") == "29.5"
    assert paper.get("entropy", 50, 3, 7, "pc_ext") == "29.5"  # headed PCext in the paper
    assert paper.get("entropy", 50, 3, 7, "pc") is None
    assert paper.get("gini", 12, 3, 2, "hcc") is None
    assert load("table1").get("entropy", 12, 3, 7, "hcc") is None


@pytest.mark.parametrize("name", ["table3", "", "Paper", "excess", "tables/x.txt"])
def test_an_unknown_name(name: str) -> None:
    with pytest.raises(ValueError, match="table1") as caught:
        load(name)
    assert repr(Path(name).name) in str(caught.value)


def test_a_csv_of_the_same_form(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"{HEADER}mine,gini,12,3,7,hcc, 88.25 \nmine,gini,12,3,7,lca,0\nmine,entropy,5,2,1,lca,100.0\n")
    mine = load(str(path))
    assert mine.get("gini", 12, 3, 7, "hcc") == "88.25"
    assert mine.get("gini", 12, 3, 7, "lca") == "0"
    assert mine.get("entropy", 5, 2, 1, "lca") == "100.0"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))  # as a spreadsheet writes it
    assert load(str(path)).values == mine.values
    path.write_text("note,value,splitter,max_count,k,n,impurity,table\nx,50.0,hcc,7,3,12,gini,t\n")  # other order
    assert load(str(path)).values == {("gini", 12, 3, 7, "hcc"): "50.0"}


BAD_FILES = {
    "missing column": ("table,impurity,n,k,max_count,value\nt,gini,12,3,7,50\n", [":1:", "splitter"]),
    "empty": ("", [":1:", "table"]),
    "text value": (f"{HEADER}t,gini,12,3,7,hcc,50\nt,gini,12,3,7,lca,many\n", [":3:", "many"]),
    "120 %": (f"{HEADER}t,gini,12,3,7,hcc,120\n", [":2:", "between 0 and 100"]),
    "negative": (f"{HEADER}t,gini,12,3,7,hcc,-1\n", [":2:", "between 0 and 100"]),
    "nan": (f"{HEADER}t,gini,12,3,7,hcc,nan\n", [":2:"]),
    "no value": (f"{HEADER}t,gini,12,3,7,hcc\n", [":2:"]),
    "empty value": (f"{HEADER}t,gini,12,3,7,hcc,\n", [":2:"]),
    "fractional n": (f"{HEADER}t,gini,12.5,3,7,hcc,50\n", [":2:", "12.5"]),
    "text n": (f"{HEADER}t,gini,twelve,3,7,hcc,50\n", [":2:", "twelve"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_csv_is_named_with_its_line(case: str, tmp_path: Path) -> None:
    text, words = BAD_FILES[case]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match="published: ") as caught:
        load(str(path))
    for word in (str(path), *words):
        assert word in str(caught.value)


def test_a_blank_line_counts_as_a_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"{HEADER}t,gini,12,3,7,hcc,50\n\n\nt,gini,12,3,7,lca,120\n")
    with pytest.raises(ValueError, match=r"bad\.csv:5: "):
        load(str(path))


def test_an_entry_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Which of two contradicting numbers is meant cannot be known."""
    path = tmp_path / "twice.csv"
    path.write_text(f"{HEADER}t,gini,12,3,7,hcc,50\nt,gini,12,3,7,hcc,60\n")
    with pytest.raises(ValueError, match=r"twice\.csv:3: "):
        load(str(path))


def test_a_csv_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"/none\.csv: cannot be read \(No such file or directory\)$"):
        load(str(tmp_path / "none.csv"))
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"binary\.csv: cannot be read"):
        load(str(tmp_path / "binary.csv"))


def test_a_csv_is_compared_like_the_paper(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"{HEADER}t,gini,12,3,7,hcc,97.3\nt,gini,12,3,7,lca,97.3\nt,gini,99,3,7,lca,1.0\n")
    results = splitlab.run(config(published=str(path)), runs=500)
    frame = results.win_percentage.set_index(["impurity", "k", "splitter"])["published"]
    assert frame["gini", 3, "hcc"] == "97.3"
    assert frame["gini", 5, "hcc"] == ""
    verdict = judge(results)
    assert verdict.text.startswith("1 of 2 entries agree")
    assert [e.splitter for e in verdict.differing] == ["lca"]


def test_a_bad_csv_is_refused_before_anything_is_computed(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(f"{HEADER}t,gini,12,3,7,hcc,120\n")
    for published in (str(tmp_path / "bad.csv"), "table9"):
        with pytest.raises(ValueError, match=Path(published).name):
            splitlab.run(config(published=published), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
