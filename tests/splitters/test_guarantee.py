"""Guarantees as data: the words they are told in, and the ratios they give."""

from __future__ import annotations

import pytest

from splitlab.splitters import get
from splitlab.splitters.guarantee import Guarantee

LCA = "2 (Gini), 3 (entropy), 3 + sqrt 3 (class C)"


@pytest.mark.parametrize(
    ("splitter", "words"),
    [
        ("lca", LCA),
        ("hcc", "2 (class C)"),
        ("balanced", "2 (entropy)"),
        ("pc", "optimal for k = 2"),
        ("pc_ext", "optimal for k = 2; never worse than PC"),
        ("pc_ext+hd", "optimal for k = 2; never worse than PC; never worse than PCext"),
        ("flip_flop", f"{LCA}; never worse than LCA; optimal for k = 2"),
        ("sliq", "none"),
        ("sliq_ext", "none; never worse than SLIQ"),
        ("two_class", "optimal; k = 2 only"),
        ("exact", "optimal"),
        ("module:function", "none known"),
        ("module:function+hd", "none known; never worse than function"),
    ],
)
def test_in_words(splitter: str, words: str) -> None:
    assert get(splitter).guarantee == words


def test_ratios() -> None:
    lca, pc = get("lca").proven, get("pc").proven
    assert [lca.ratio(impurity) for impurity in ("gini", "entropy", "module:f")] == ["2", "3", ""]
    assert [pc.ratio("gini", k) for k in (None, 2, 3)] == ["", "1", ""]
    assert Guarantee(class_c="4", entropy="3").ratio("gini") == "4"
    assert Guarantee(optimal=True).ratio("module:f") == "1"
