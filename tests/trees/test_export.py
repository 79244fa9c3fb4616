"""A tree as text, which is exact, and as a picture, which says what it leaves out."""

from __future__ import annotations

import ast
import re
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from splitlab.trees import DecisionTreeClassifier, export_text, plot

STRANGE = ["plain", "two words", "a, b", "{x}", "it's", 'say "x"', "back\\slash", "line\nbreak", "", " ", "1.5", "..."]
STRANGE += ["no (2 of 2)", "class: no", "... 3 more", "no (1 of 1) ... 2 nodes below", "(", "a: b", "a:b"]


def unquoted(word: str) -> str:
    return str(ast.literal_eval(word)) if word[0] in "'\"" else word


def members(text: str) -> list[str]:
    """What stands in braces."""
    return [unquoted(w) for w in re.findall(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]+)(?:, |$)""", text)]


def follow(lines: list[str], row: dict[str, Any]) -> str:
    """The class that the text gives a row."""
    place, depth = 0, 0
    while True:
        line = lines[place][2 * depth :]
        if line.startswith("class: "):
            return unquoted(re.fullmatch(r"class: (.*) \(\d+ of \d+\)", line).group(1))  # type: ignore[union-attr]
        name, sign, right = re.fullmatch(r"(.*) (<=|>|in) (.*)", line).groups()  # type: ignore[union-attr]
        value = row[unquoted(name)]
        holds = value in members(right[1:-1]) if sign == "in" else (value <= float(right)) == (sign == "<=")
        if holds:
            depth += 1
            place += 1
        else:
            place = next(i for i in range(place + 1, len(lines)) if not lines[i].startswith("  " * (depth + 1)))


def test_the_text_says_what_the_tree_does() -> None:
    rng = np.random.default_rng(0)
    near = 1 + rng.integers(0, 40, 400) * 2.0**-50
    x = pd.DataFrame({"near": near, "nick\nname": rng.choice(STRANGE, 400)})
    x[["a <= 1", "class: a"]] = rng.normal(size=(400, 2))
    y = np.array(STRANGE)[rng.integers(0, len(STRANGE), 400)]
    tree = DecisionTreeClassifier(splitter="lca").fit(x, y)
    lines = export_text(tree, max_values=None).split("\n")
    assert len(lines) == tree.tree_.node_count + tree.get_n_leaves() - 1
    assert [follow(lines, row) for row in x.to_dict("records")] == tree.predict(x).tolist()


def test_neighbouring_thresholds_can_be_told_apart() -> None:
    x = np.array([[0.1], [0.1 + 1e-9], [0.1 + 2e-9], [0.1 + 3e-9], [5.0]])
    lines = export_text(DecisionTreeClassifier().fit(x, [0, 1, 0, 1, 1])).splitlines()
    cuts = [float(line.split()[-1]) for line in lines if "<=" in line]
    assert len(set(cuts)) == len(cuts) == 3
    assert all(min(abs(x[:, 0] - cut)) > 0 for cut in cuts)


def test_numbers_and_text_that_look_alike() -> None:
    x = pd.DataFrame({"thing": pd.Series([1, "1", 2.5, "one"], dtype=object)})
    text = export_text(DecisionTreeClassifier(splitter="multiway").fit(x, list("abcd")))
    assert [line for line in text.splitlines() if line.startswith("thing")] == [
        "thing in {2.5}", "thing in {1}", "thing in {'1'}", "thing in {'one'}",
    ]  # fmt: skip


def test_things_that_are_no_text_stand_without_quotes() -> None:
    things = [(1, 2), b"a", pd.Interval(0, 1), frozenset([1]), True]
    values = np.empty(10, object)
    values[:] = [*things, *map(str, things)]
    x = pd.DataFrame({"thing": values})
    text = export_text(DecisionTreeClassifier(splitter="multiway").fit(x, np.arange(10)))
    found = {line.removeprefix("thing in ") for line in text.splitlines() if line.startswith("thing")}
    shown = ["(1, 2)", "b'a'", "(0, 1]", "frozenset({1})", "True"]
    assert found == {f"{{{word}}}" for word in shown} | {f"{{{word!r}}}" for word in shown}


def test_text() -> None:
    x = pd.DataFrame({"size": [1, 2, 3, 4, 5, 6], "colour": list("rgbrgb")})
    tree = DecisionTreeClassifier().fit(x, ["no", "no", "yes", "no", "yes", "yes"])
    assert export_text(tree).splitlines() == [
        "size <= 2.5",
        "  class: no (2 of 2)",
        "size > 2.5",
        "  colour in {b, g}",
        "    class: yes (3 of 3)",
        "  colour in {r}",
        "    class: no (1 of 1)",
    ]
    assert "in {b, ... 1 more}" in export_text(tree, max_values=1)
    assert export_text(tree, max_depth=1).splitlines()[-1] == "  class: yes (3 of 4) ... 2 nodes below"
    assert export_text(tree, max_depth=0) == "class: no (3 of 6) ... 4 nodes below"
    assert export_text(DecisionTreeClassifier().fit([[1], [1]], [0, 1])) == "class: 0 (1 of 2)"


def test_wrong_calls() -> None:
    tree = DecisionTreeClassifier().fit([[1], [2]], [0, 1])
    for call in (export_text, plot):
        with pytest.raises(NotFittedError):
            call(DecisionTreeClassifier())
        with pytest.raises(TypeError, match=r"'classifier' parameter of .* Got 5 instead"):
            call(5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"'max_depth' parameter of .* Got -1 instead"):
            call(tree, max_depth=-1)
        with pytest.raises(ValueError, match=r"'max_values' parameter of .* Got 0 instead"):
            call(tree, max_values=0)


def texts_of(figure: Any) -> list[str]:
    file = BytesIO()
    figure.savefig(file, format="png")
    assert file.getvalue()[:4] == b"\x89PNG"
    return [text.get_text() for text in figure.axes[0].texts]


def test_picture() -> None:
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"$size$": rng.normal(size=200), "colour": rng.choice(list("rgb"), 200)})
    y = np.where(x["$size$"] + (x["colour"] == "r") + rng.normal(size=200) > 0, "a\nb", "c")
    tree = DecisionTreeClassifier(max_depth=6).fit(x, y)
    figure = plot(tree, max_depth=3)
    texts = texts_of(figure)
    assert any("colour" in text for text in texts)
    assert any("'a\\nb'" in text for text in texts)
    assert len(figure.axes[0].lines) == len([t for t in texts if t.startswith(("<= ", "> ", "in "))])
    hidden = [int(found) for text in texts for found in re.findall(r"\.\.\. (\d+) nodes$", text)]
    drawn = len(figure.axes[0].lines) + 1
    assert sum(hidden) + drawn == tree.tree_.node_count
    assert hidden
    assert not any("nodes" in text for text in texts_of(plot(tree, max_depth=None)))


def test_pictures_of_long_groups_and_many_leaves() -> None:
    long = [f"a very long category, number {i}" for i in range(100)]
    tree = DecisionTreeClassifier(splitter="lca").fit(pd.DataFrame({"n" * 80: long}), np.arange(100) % 2)
    texts = texts_of(plot(tree))
    assert max(len(line) for text in texts for line in text.splitlines()) <= 18
    assert sum("46\N{NO-BREAK SPACE}more}" in text for text in texts) == 2
    values = np.arange(1200) // 2
    figure = plot(DecisionTreeClassifier(splitter="multiway", nominal=0).fit(values[:, None], values))
    assert len(figure.axes[0].texts) == 2 * 600 + 1
    assert max(figure.get_size_inches()) * figure.dpi < 1 << 16  # the most that matplotlib draws
