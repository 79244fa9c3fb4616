"""The figures: they show their frames' numbers, are the same bytes each time, and no text hides another."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest

import splitlab
from splitlab.kinds.optimality.figures import optimality_plots
from splitlab.kinds.splits import compare
from splitlab.kinds.splits.figures import diagonal_plot, excess_plots, figures_of, pcext_plot, win_plots
from splitlab.kinds.timing.figures import time_plots
from splitlab.report.figures import image, save
from splitlab.report.style import DOUBLE, ORDER, SINGLE, Plot, place_ticks, styles, titles
from splitlab.splitters import names
from splitlab.trees.statistics import cd_diagram
from splitlab.trees.statistics import compare as compare_methods
from tests.helpers import ROOT
from tests.helpers.figures import BOTH, PAPER, check_layout, check_texts, tick_labels, won

TEN = (*names(), "my_package.module:my_splitter", "other:cost_$x$_y$")


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def timed(n: Sequence[int], k: Sequence[int], engines: Sequence[str] = ("compiled", "python")) -> pd.DataFrame:
    parts = []
    for place, engine in enumerate(engines):
        part = won(n, k, impurities=("all", "gini")).assign(engine=engine)
        part["microseconds"] = 300.0**place * part["n"] * 1.8 ** part["k"] * (1 + part["percent"])
        parts.append(part.assign(microseconds_low=0.9 * part["microseconds"], microseconds_high=part["microseconds"]))
    return pd.concat(parts, ignore_index=True)


def bins(entries: Sequence[tuple[str, int, str, float, int]], runs: int = 100) -> pd.DataFrame:
    """Rows like those of Results.excess_histogram: (impurity, n, splitter, excess, tables), k = 3."""
    frame = pd.DataFrame(entries, columns=["impurity", "n", "splitter", "excess", "tables"])
    return frame.assign(k=3, max_count=7, runs=runs)


def lines(plot: Plot, label: str) -> dict[str, np.ndarray]:
    """By panel title, the points of the line with that label."""
    return {
        axes.get_title().replace("$", ""): line.get_xydata()
        for axes in plot.figure.axes
        for line in axes.lines
        if line.get_label() == label
    }


@pytest.fixture(scope="module")
def results() -> splitlab.Results:
    config = {
        "name": "small",
        "impurities": list(BOTH),
        "splitters": list(PAPER),
        "grid": [{"n": [12, 25], "k": [3, 5], "max_count": 7, "runs": 100}],
        "published": "paper",
    }
    return splitlab.run(config, jobs=1)


@pytest.fixture(scope="module")
def plots(results: splitlab.Results) -> list[Plot]:
    return figures_of(results)


# ---- the numbers


def test_win_lines_are_the_frame() -> None:
    frame = won((12, 25, 50), (3, 5, 7, 9), published=True).sample(frac=1.0, random_state=3)
    (plot,) = win_plots(frame)
    assert plot.name == "win_percentage"
    for splitter in PAPER:
        for suffix, column in (("", "percent"), (" published", "published")):
            drawn = lines(plot, splitter + suffix)
            assert len(drawn) == 8
            for title, points in drawn.items():
                impurity, _, k = title.partition(", k = ")
                of = (frame.splitter == splitter) & (frame.impurity == impurity.lower()) & (frame.k == int(k))
                expected = frame[of].sort_values("n")[["n", column]].astype(float)
                np.testing.assert_array_equal(points, expected)


def test_error_bars_are_the_wilson_intervals() -> None:
    frame = won((12, 25), (3,), ("hcc",), ("gini",))
    (plot,) = win_plots(frame)
    (bars,) = plot.figure.axes[0].collections
    ends = [segment[:, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(ends, frame[["wilson_low", "wilson_high"]])


def test_with_a_single_n_the_axis_is_k() -> None:
    (plot,) = win_plots(won((12,), (3, 5, 9), impurities=("gini",)))
    assert [axes.get_title() for axes in plot.figure.axes] == ["Gini, $n$ = 12"]
    np.testing.assert_array_equal(lines(plot, "lca")["Gini, n = 12"][:, 0], [3, 5, 9])
    assert "number of classes k" in plot.caption


def test_excess_is_pooled_by_tables() -> None:
    frame = bins(
        [
            ("gini", 12, "hcc", -1.0, 40), ("gini", 12, "hcc", 0.0, 50), ("gini", 12, "hcc", 2.0, 10),
            ("gini", 25, "hcc", 0.0, 60), ("gini", 25, "hcc", 0.5, 30), ("gini", 25, "hcc", 2.0, 5),
            ("gini", 12, "lca", 8.0, 100), ("gini", 25, "lca", 8.0, 100),
        ]
    )  # fmt: skip
    (plot,) = excess_plots(frame)
    least = 0.1
    np.testing.assert_allclose(lines(plot, "hcc")["Gini"], [[least, 75.0], [0.5, 90.0], [2.0, 97.5]])
    np.testing.assert_allclose(lines(plot, "lca")["Gini"], [[least, 0.0], [8.0, 100.0]])
    assert "2 configurations (n = 12, 25; k = 3)" in plot.caption
    assert "impurity 0 never count" in plot.caption  # 5 of the 200 tables of hcc are unbounded
    np.testing.assert_allclose(plot.data[plot.data.splitter == "hcc"]["share"], [75.0, 90.0, 97.5])


def test_excess_where_nobody_is_ever_worse() -> None:
    (plot,) = excess_plots(bins([("gini", 12, "hcc", 0.0, 100), ("gini", 12, "lca", 0.0, 100)]))
    assert lines(plot, "lca")["Gini"][:, 1].tolist() == [100.0]
    assert "impurity 0" not in plot.caption
    assert excess_plots(bins([])) == []


def test_diagonal_is_the_comparison(results: splitlab.Results) -> None:
    plot = diagonal_plot(results.win_percentage)
    assert plot is not None
    entries = compare.entries(results)
    assert len(plot.data) == len(entries) == 32
    expected = [np.nan if entry.z() is None else entry.z() for entry in entries]
    np.testing.assert_array_equal(plot.data["z"], expected)
    above, below = plot.figure.axes
    for axes, column in ((above, "percent"), (below, "z")):
        (line,) = [line for line in axes.lines if line.get_label() == "lca entropy"]
        own = plot.data[(plot.data.splitter == "lca") & (plot.data.impurity == "entropy")]
        np.testing.assert_array_equal(line.get_xydata(), own[["published", column]])
    p, q, row = 0.973, results.win_percentage["percent"][0] / 100, plot.data.iloc[0]
    assert row["published"] == pytest.approx(97.3)
    assert row["combined_error"] == pytest.approx(100 * np.sqrt(q * (1 - q) / 100 + p * (1 - p) / 10_000))


def test_diagonal_says_when_the_rivals_differ_and_what_has_no_variance() -> None:
    frame = won((12,), (3,), ("hcc", "pc_ext"), published=True)
    frame.loc[0, ["wins", "percent", "published"]] = 1000, 100.0, "100.0"
    plot = diagonal_plot(frame)
    assert plot is not None
    assert "other competitors than here" in plot.caption
    assert "; 1 without variance" in plot.caption
    assert diagonal_plot(won((12,), (3,))) is None


def test_pcext_needs_both() -> None:
    counts = won((12, 25), (3, 5), published=True)
    scaled = won((12, 25), (3,), ("hcc", "pc_ext", "lca"), published=True)
    assert pcext_plot(counts) is None
    assert pcext_plot(scaled) is None
    plot = pcext_plot(pd.concat([counts, scaled], ignore_index=True))
    assert plot is not None
    assert set(lines(plot, "pc_ext")) == {"Gini, k = 3", "Entropy, k = 3"}
    of = (counts.splitter == "pc_ext_counts") & (counts.impurity == "gini") & (counts.k == 3)
    for label, column in (("pc_ext_counts", "percent"), ("published", "published")):
        np.testing.assert_array_equal(lines(plot, label)["Gini, k = 3"], counts[of][["n", column]].astype(float))


def test_times_are_those_of_all_impurities() -> None:
    frame = timed((12, 25), (3, 5))
    against_k, against_n = time_plots(frame)
    assert (against_k.name, against_n.name) == ("time_against_k", "time_against_n")
    of = (frame.engine == "python") & (frame.impurity == "all") & (frame.splitter == "hcc") & (frame.n == 25)
    np.testing.assert_array_equal(lines(against_k, "hcc")["python, n = 25"], frame[of][["k", "microseconds"]])
    assert all(axes.get_xscale() == axes.get_yscale() == "log" for axes in against_n.figure.axes)
    assert [plot.name for plot in time_plots(timed((12,), (3,)))] == ["time_against_k"]


def test_several_max_counts_are_several_plots() -> None:
    frame = won((12, 25), (3,), max_count=(2, 15))
    assert [plot.name for plot in win_plots(frame)] == ["win_percentage_max2", "win_percentage_max15"]


def test_entries_that_are_there_twice_are_refused() -> None:
    frame = won((12,), (3,))
    with pytest.raises(ValueError, match="several rows for impurity gini, n 12, k 3, max_count 7, splitter hcc"):
        win_plots(pd.concat([frame, frame]))


def test_figures_of_an_experiment(plots: list[Plot]) -> None:
    assert [plot.name for plot in plots] == ["win_percentage", "relative_excess", "against_published"]
    for plot in plots:
        assert "100 tables per configuration, with entries 0 to 7" in plot.caption


# ---- the looks


GRIDS: dict[str, dict[str, Any]] = {
    "one cell": {"n": (12,), "k": (3,), "splitters": ("hcc",), "impurities": ("gini",)},
    "the paper": {"n": (12, 25, 50), "k": (3, 5, 7, 9), "published": True},
    "12 k": {"n": (12, 25, 50, 100, 1000), "k": range(2, 14), "splitters": ("lca",)},
    "5 k, 10 splitters": {"n": (12, 13, 14, 15, 50), "k": range(3, 8), "splitters": TEN, "impurities": ("gini",)},
    "10 splitters, one panel": {"n": (2, 3), "k": (3,), "splitters": TEN, "impurities": ("entropy",)},
    "many n": {"n": range(2, 60), "k": (3, 4), "splitters": ("hcc",)},
    "large n": {"n": (12, 100000, 1000000), "k": (3, 4), "splitters": ("hcc",)},
    "single n": {"n": (500,), "k": range(2, 30), "published": True},
    "other impurity": {"n": (12, 25), "k": (3,), "impurities": ("cost_$a$",)},
    "ragged": {"n": (12, 25), "k": (3, 5, 7), "impurities": BOTH, "splitters": ("lca", "sliq")},
}


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_no_text_overlaps_or_is_cut_off(grid: dict[str, Any]) -> None:
    frame = won(**grid)
    if grid is GRIDS["ragged"]:
        frame = frame[(frame.n == 12) | (frame.k == 3) & (frame.impurity == "gini")]
    (plot,) = win_plots(frame)
    check_layout(plot)
    if (diagonal := diagonal_plot(frame)) is not None:
        check_layout(diagonal)


@pytest.mark.parametrize(
    "n, k", [((12, 25, 50), (3, 5, 7, 9)), ((12,), (3,)), (range(2, 9), (3, 5)), ((2, 5000), (3,))]
)
def test_time_plots_are_laid_out_well(n: Sequence[int], k: Sequence[int]) -> None:
    for plot in time_plots(timed(n, k)):
        check_layout(plot)


def test_times_within_a_decade_have_labels() -> None:
    frame = timed((12, 25), (3,), ("compiled",))
    frame[["microseconds", "microseconds_low", "microseconds_high"]] = 25.0, 22.0, 28.0
    (plot,) = time_plots(frame)
    assert len(tick_labels(plot.figure.axes[0])) >= 4


def test_figures_of_real_results_are_laid_out_well(plots: list[Plot]) -> None:
    for plot in plots:
        check_layout(plot)


def test_too_many_panels_are_thinned_and_that_is_said() -> None:
    (plot,) = win_plots(won((12, 25), range(2, 102), ("hcc",), ("gini",)))
    assert len(plot.figure.axes) == 24
    assert "Shown are 24 of the 100 values of k" in plot.caption
    assert sorted(plot.data["k"].unique())[::23] == [2, 101]


@pytest.mark.parametrize("values", [range(2, 200), (12, 13, 14), (1, 1000), (5,), range(3, 10)])
@pytest.mark.parametrize("log", [False, True])
def test_ticks_lie_within_the_values(values: Sequence[int], log: bool) -> None:
    axes = matplotlib.figure.Figure().subplots()
    place_ticks(axes.xaxis, values, 1.0, log)
    ticks = axes.get_xticks()
    assert len(ticks) >= 1
    assert min(values) <= min(ticks) and max(ticks) <= max(values)


def test_every_method_looks_the_same_everywhere_and_different_from_all_others() -> None:
    own = [f"mine:{i}" for i in range(60)]
    everyone = styles((*ORDER, *own))
    for names_ in (ORDER, own):
        looks = [everyone[name] for name in names_]
        assert len({(look.colour, look.marker) for look in looks}) == len(looks)
        assert len({(look.colour, look.marker, str(look.line)) for look in looks}) == len(looks)
    assert not {everyone[name].colour for name in ORDER} & {everyone[name].colour for name in own}
    assert styles(["lca"])["lca"] == styles(["pc", "mine", "lca"])["lca"]
    assert set(names()) <= set(ORDER)
    assert {f"{name}+hd" for name in names() if not name.endswith("hd")} <= set(ORDER)


LONG = "a_rather_long_name_of_a_method_that_somebody_wrote"


@pytest.mark.parametrize("k", [3, 12, 20, 30, 60])
@pytest.mark.parametrize("sets", [2, 40])
def test_critical_difference_diagrams_can_be_read(k: int, sets: int) -> None:
    scores = np.random.default_rng(k).random((sets, k)) + np.linspace(0, 1, k)
    figure = cd_diagram(compare_methods(scores, [f"{LONG if i % 3 else 'M'}_{i}" for i in range(k)]))
    check_texts(figure)
    ties = cd_diagram(compare_methods(np.ones((sets, k)), [f"{LONG}_{i}" for i in range(k)]))
    check_texts(ties)


def test_names_are_never_cut() -> None:
    figure = cd_diagram(compare_methods([[0.9, 0.8, 0.7]] * 3, ["GradientBoostingClassifier" * 8, "SVC", "KNN"]))
    for dpi in (72, 100, 150, 300):
        figure.set_dpi(dpi)
        check_texts(figure)


@pytest.mark.parametrize("number", [3, 12, 20, 30, 60])
def test_figures_of_many_methods_with_long_names_can_be_read(number: int) -> None:
    splitters = [f"mine:{LONG}_{i}" for i in range(number)]
    frame = won((12, 25), (3, 5), splitters, published=True)
    diagonal = diagonal_plot(frame)
    assert diagonal is not None
    excess = bins([(i, 12, s, x, 50) for i in BOTH for s in splitters for x in (0.5, 90.0)])
    times = won((12, 25), (3, 5), splitters, impurities=("all",)).assign(engine="compiled")
    times = times.assign(microseconds=times.percent + 1, microseconds_low=1.0, microseconds_high=times.percent + 2)
    for plot in (*win_plots(frame), diagonal, *excess_plots(excess), *time_plots(times)):
        check_texts(plot.figure)


def test_optimality_of_many_methods_can_be_read() -> None:
    splitters = [f"mine:{LONG}_{i}" for i in range(60)]
    frame = won((12, 25), (3, 5), splitters, impurities=("gini",)).assign(reference="optimum")
    (plot,) = optimality_plots(frame.assign(microseconds=1.0 + 0.3 * np.arange(len(frame))))
    check_texts(plot.figure)


def test_long_names_of_impurities_are_broken_into_lines() -> None:
    impurities = ("gini", f"mine:{LONG}", "mine:cost_$a$")
    frame = won((12, 25), (3, 5, 7, 9), (*PAPER, "pc_ext"), impurities, published=True)
    excess = bins([(i, 12, s, x, 50) for i in impurities for s in PAPER for x in (0.5, 90.0)])
    plots = [*win_plots(frame), diagonal_plot(frame), pcext_plot(frame), *excess_plots(excess)]
    for plot in plots:
        assert plot is not None
        check_texts(plot.figure)
        assert plot.figure.get_size_inches()[0] <= DOUBLE


def test_titles_are_the_registrys_or_short_names() -> None:
    assert titles(["hcc", "a.b:mine"]) == {"hcc": "HcC", "a.b:mine": "mine"}
    assert titles(["a:mine", "b:mine"]) == {"a:mine": "a:mine", "b:mine": "b:mine"}


# ---- the files


def test_files_are_the_same_each_time(tmp_path: Path, results: splitlab.Results, plots: list[Plot]) -> None:
    for plot in plots:
        save(plot, tmp_path / "first")
    with matplotlib.rc_context({"font.size": 20, "axes.grid": False}):
        for plot in figures_of(results):
            save(plot, tmp_path / "second")
    files = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert len(files) == 12
    for name in files:
        content = (tmp_path / "first" / name).read_bytes()
        assert content == (tmp_path / "second" / name).read_bytes(), name
        assert b"\r" not in content or name.endswith("png")
        assert b"Matplotlib" not in content and b"dc:date" not in content
    text = (tmp_path / "first" / "win_percentage.svg").read_text()
    assert "<text" not in text  # letters are outlines


def test_another_process_writes_the_same_picture() -> None:
    code = (
        "import hashlib; from tests.helpers.figures import won;"
        "from splitlab.kinds.splits.figures import win_plots; from splitlab.report.figures import image;"
        "plot, = win_plots(won((12, 25), (3,)));"
        "print(*(hashlib.sha256(image(plot, kind)).hexdigest() for kind in ('png', 'svg')))"
    )
    code += "; import sys; print('matplotlib.py' + 'plot' in sys.modules)"
    root = ROOT
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    (plot,) = win_plots(won((12, 25), (3,)))
    here = [hashlib.sha256(image(plot, kind)).hexdigest() for kind in ("png", "svg")]
    assert done.stdout.split() == [*here, "False"]


def test_saved_data_is_what_is_plotted(tmp_path: Path, results: splitlab.Results, plots: list[Plot]) -> None:
    plot = plots[0]
    save(plot, tmp_path)
    kept = pd.read_csv(tmp_path / "win_percentage.csv", dtype={"published": str}, keep_default_na=False)
    pd.testing.assert_frame_equal(kept, results.win_percentage, check_dtype=False)
    assert (tmp_path / "win_percentage.txt").read_text() == f"{plot.caption}\n"


def test_pictures_have_print_resolution() -> None:
    (plot,) = win_plots(won((12, 25), (3,)))
    content = image(plot, "png")
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(content[16:20]) == int(300 * SINGLE)


def test_the_users_settings_stay() -> None:
    before = dict(matplotlib.rcParams)
    (plot,) = win_plots(won((12, 25), (3,)))
    image(plot, "svg")
    assert dict(matplotlib.rcParams) == before
