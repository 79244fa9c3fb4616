"""The one rule for columns: what is numeric, nominal or refused, whatever the library the data come from."""

from __future__ import annotations

import datetime
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from splitlab.trees import DecisionTreeClassifier, best_split, export_text, thresholds
from splitlab.trees.attribute import AttributeSplit

DAY = datetime.date(2020, 1, 1)
TENS = [10, 20, 10, 20]
WORDS = ["u", "v", "u", "v"]


def arrow(values: list[Any], of: str) -> pd.Series[Any]:
    pa = pytest.importorskip("pyarrow")
    types = {
        "int": pa.int64(),
        "float": pa.float32(),
        "bool": pa.bool_(),
        "decimal": pa.decimal128(9, 2),
        "text": pa.string(),
        "coded numbers": pa.dictionary(pa.int32(), pa.int64()),
        "coded text": pa.dictionary(pa.int8(), pa.string()),
        "ordered": pa.dictionary(pa.int8(), pa.string(), ordered=True),
        "date": pa.date32(),
        "time": pa.time32("s"),
        "moment": pa.timestamp("s"),
        "duration": pa.duration("s"),
    }
    return pd.Series(pd.array(values, dtype=pd.ArrowDtype(types[of])), name="c")


def polars(values: list[Any], of: str) -> Any:
    pl = pytest.importorskip("polars")
    types = {
        "int": pl.Int32,
        "float": pl.Float32,
        "bool": pl.Boolean,
        "decimal": pl.Decimal(9, 2),
        "text": pl.String,
        "category": pl.Categorical,
        "enum": pl.Enum(["z", "v", "u"]),
        "date": pl.Date,
        "time": pl.Time,
        "moment": pl.Datetime,
        "duration": pl.Duration,
    }
    return pl.Series("c", values, dtype=types[of])


# Each is made when it is used, since a library may be absent.
NUMERIC: dict[str, Any] = {
    "list": lambda: TENS,
    "list of truth values": lambda: [False, True, False, True],
    "list of Decimal": lambda: [Decimal("1.5"), Decimal(2), Decimal("1.5"), Decimal(2)],
    "list of Fraction": lambda: [Fraction(1, 3), Fraction(2, 3)] * 2,
    "numbers of several types": lambda: [1, 2.5, np.float32(1), Decimal(2)],
    "numpy int8": lambda: np.array(TENS, np.int8),
    "numpy uint64": lambda: np.array(TENS, np.uint64),
    "numpy float16": lambda: np.array(TENS, np.float16),
    "numpy bool": lambda: np.array([False, True, False, True]),
    "numpy objects": lambda: np.array(TENS, object),
    "pandas": lambda: pd.Series(TENS),
    "pandas objects": lambda: pd.Series(TENS, dtype=object),
    "pandas objects, Decimal": lambda: pd.Series([Decimal(1), Decimal(2)] * 2),
    "pandas Int64": lambda: pd.Series(TENS, dtype="Int64"),
    "pandas UInt8": lambda: pd.Series(TENS, dtype="UInt8"),
    "pandas Float64": lambda: pd.Series(TENS, dtype="Float64"),
    "pandas boolean": lambda: pd.Series([False, True, False, True], dtype="boolean"),
    "pandas sparse": lambda: pd.Series(TENS, dtype=pd.SparseDtype(int, 0)),
    "Arrow int": lambda: arrow(TENS, "int"),
    "Arrow float": lambda: arrow(TENS, "float"),
    "Arrow bool": lambda: arrow([False, True, False, True], "bool"),
    "Arrow decimal": lambda: arrow([Decimal(1), Decimal(2)] * 2, "decimal"),
    "polars int": lambda: polars(TENS, "int"),
    "polars float": lambda: polars(TENS, "float"),
    "polars bool": lambda: polars([False, True, False, True], "bool"),
    "polars decimal": lambda: polars([Decimal(1), Decimal(2)] * 2, "decimal"),
}
NOMINAL: dict[str, Any] = {
    "list": lambda: WORDS,
    "list of tuples": lambda: pd.Series([(1, 2), (3, 4)] * 2),
    "numpy text": lambda: np.array(WORDS),
    "numpy bytes": lambda: np.array(WORDS, "S1"),
    "numpy StringDType": lambda: np.array(WORDS, np.dtypes.StringDType()),
    "numpy objects": lambda: np.array(WORDS, object),
    "pandas": lambda: pd.Series(WORDS),
    "pandas string": lambda: pd.Series(WORDS, dtype="string"),
    "pandas objects": lambda: pd.Series(WORDS, dtype=object),
    "pandas categories": lambda: pd.Series(WORDS, dtype="category"),
    "pandas categories of numbers": lambda: pd.Series(TENS, dtype="category"),
    "pandas intervals": lambda: pd.Series(pd.cut(pd.Series([1.0, 2.0, 1.0, 2.0]), 2).array),
    "Arrow text": lambda: arrow(WORDS, "text"),
    "Arrow dictionary of numbers": lambda: arrow(TENS, "coded numbers"),
    "Arrow dictionary of text": lambda: arrow(WORDS, "coded text"),
    "polars text": lambda: polars(WORDS, "text"),
    "polars Categorical": lambda: polars(WORDS, "category"),
    "polars Enum": lambda: polars(WORDS, "enum"),
}
REFUSED: dict[str, Any] = {
    "dates": lambda: [DAY, DAY],
    "numpy moments": lambda: np.array(["2020-01-01"] * 2, "M8[D]"),
    "numpy durations": lambda: np.array([1, 2], "m8[s]"),
    "numpy complex": lambda: np.array([1j, 2]),
    "complex objects": lambda: [1j, 2],
    "pandas moments with a zone": lambda: pd.Series(pd.to_datetime(["2020-01-01"] * 2, utc=True)),
    "pandas periods": lambda: pd.Series(pd.period_range("2020", periods=2, freq="Y")),
    "Arrow dates": lambda: arrow([DAY, DAY], "date"),
    "Arrow times": lambda: arrow([datetime.time(1)] * 2, "time"),
    "Arrow moments": lambda: arrow([1, 2], "moment"),
    "Arrow durations": lambda: arrow([1, 2], "duration"),
    "polars dates": lambda: polars([DAY, DAY], "date"),
    "polars times": lambda: polars([datetime.time(1)] * 2, "time"),
    "polars moments": lambda: polars([datetime.datetime(2020, 1, 1)] * 2, "moment"),
    "polars durations": lambda: polars([datetime.timedelta(1)] * 2, "duration"),
}


def framed(values: Any) -> Any:
    """Examples with one column."""
    if isinstance(values, pd.Series):
        return values.to_frame("c")
    return (
        values.to_frame()
        if hasattr(values, "to_frame")
        else np.array(values, getattr(values, "dtype", object))[:, None]
    )


def split(values: Any, **options: Any) -> AttributeSplit:
    found = best_split(values, [0, 1, 0, 1], **options)
    assert isinstance(found, AttributeSplit), found
    return found


@pytest.mark.parametrize("kind", NUMERIC)
def test_numeric(kind: str) -> None:
    values = NUMERIC[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = split(values)
        tree = DecisionTreeClassifier(max_depth=1).fit(framed(values), [0, 1, 0, 1])
    assert found.threshold is not None
    assert thresholds(values, [0, 1, 0, 1])[0].threshold > 0
    assert tree.encoding_.nominal.tolist() == [False]
    assert split(values, nominal=True).branches is not None


@pytest.mark.parametrize("kind", NOMINAL)
def test_nominal(kind: str) -> None:
    values = NOMINAL[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = split(values)
        tree = DecisionTreeClassifier(max_depth=1).fit(framed(values), [0, 1, 0, 1])
    assert found.branches is not None
    assert len(found.branches) == 2
    assert tree.encoding_.nominal.tolist() == [True]
    assert tree.predict(framed(values)).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(kind: str) -> None:
    values = REFUSED[kind]()
    line = r"^column '?[a-z0-9]+'? is of type [^\n]*; make real numbers or text of it$"
    with pytest.raises(TypeError, match=line):
        best_split(values, [0, 1])
    if kind != "numpy complex":  # scikit-learn refuses it first
        with pytest.raises(TypeError, match=line):
            DecisionTreeClassifier().fit(framed(values), [0, 1])


@pytest.mark.parametrize(
    "values",
    [
        lambda: pd.Series([1.0, None, 1.0, 2.0]),
        lambda: pd.Series([1, None, 1, 2], dtype="Int64"),
        lambda: pd.Series([False, None, False, True], dtype="boolean"),
        lambda: [Decimal(1), None, Decimal(1), Decimal(2)],
        lambda: [Decimal(1), Decimal("NaN"), Decimal(1), Decimal(2)],
        lambda: np.ma.array([1, 7, 1, 2], mask=[0, 1, 0, 0]),
        lambda: arrow([1, None, 1, 2], "int"),
        lambda: arrow([1, None, 1, 2], "coded numbers"),
        lambda: arrow([Decimal(1), None, Decimal(1), Decimal(2)], "decimal"),
        lambda: arrow(["a", None, "a", "b"], "coded text"),
        lambda: arrow(["a", None, "a", "b"], "text"),
        lambda: polars([1, None, 1, 2], "int"),
        lambda: polars([1.0, None, 1.0, 2.0], "float"),
        lambda: polars([False, None, False, True], "bool"),
        lambda: polars([Decimal(1), None, Decimal(1), Decimal(2)], "decimal"),
        lambda: polars(["a", None, "a", "b"], "text"),
        lambda: polars(["u", None, "u", "v"], "enum"),
        lambda: polars(["u", None, "u", "v"], "category"),
    ],
)
def test_missing_values(values: Any) -> None:
    found = split(values())
    assert found.table[found.missing].tolist() == [2, 1]
    assert found.table[1 - found.missing].tolist() == [0, 1]
    if found.branches:
        assert [len(branch) for branch in found.branches] == [1, 1]


def test_text_without_any_value_stays_nominal() -> None:
    for empty in (pd.Series([None, None], dtype="string"), polars([None, None], "text")):
        frame = empty.to_frame()
        assert DecisionTreeClassifier().fit(frame, [0, 1]).encoding_.nominal.tolist() == [True]


def test_the_order_of_categories() -> None:
    for values in (
        pd.Series(pd.Categorical(["u", "v", "u", "v"], ["z", "v", "u"])),
        polars(["u", "v", "u", "v"], "enum"),
    ):
        tree = DecisionTreeClassifier().fit(values.to_frame(), [0, 1, 0, 1])
        assert tree.encoding_.categories[0].tolist() == ["v", "u"]  # z has no example
    assert split(pd.Series(pd.Categorical([3, 1, 3, 1], [3, 2, 1]))).branches in ([[3], [1]], [[1], [3]])


def test_categories_without_examples_are_no_reason_to_refuse() -> None:
    x = pd.DataFrame({"c": pd.Categorical([0, 1, 2, 3], range(500))})
    assert DecisionTreeClassifier(splitter="exhaustive").fit(x, [0, 1, 2, 0]).predict(x).tolist() == [0, 1, 2, 0]


BIG = 2**53
SAME_FLOAT: list[Any] = [
    lambda: [BIG, BIG + 1],
    lambda: np.array([BIG, BIG + 1]),
    lambda: np.array([-BIG, -BIG - 1]),
    lambda: pd.Series([BIG, BIG + 1, None], dtype="Int64"),
    lambda: pd.Series([BIG, BIG + 1], dtype=object),
    lambda: [Decimal(1), Decimal(1) + Decimal("1e-25")],
    lambda: [Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30)],
    lambda: pytest.importorskip("polars").Series("c", [BIG, BIG + 1, None]),
    lambda: arrow([BIG, BIG + 1], "int"),
]


@pytest.mark.parametrize("made", SAME_FLOAT)
def test_different_numbers_that_are_the_same_float(made: Any) -> None:
    values = made()
    labels = [0, 1, 1][: len(values)]
    line = r"^column '?\w+'?: [^\n]* and [^\n]* are the same 64-bit float; subtract a constant from all, or [^\n]*$"
    for call in (
        lambda: best_split(values, labels),
        lambda: thresholds(values, labels),
        lambda: DecisionTreeClassifier().fit(framed(values), labels),
    ):
        with pytest.raises(ValueError, match=line):
            call()
    assert best_split(values, labels, nominal=True)


def test_large_numbers_that_differ_as_floats() -> None:
    assert best_split([BIG, BIG + 2, BIG + 4], [0, 1, 1])
    assert best_split([1_700_000_000_000_000_001, 1_700_000_001_000_000_001], [0, 1])
    with pytest.raises(ValueError, match="an integer of 1329 bits could not be converted to a float"):
        best_split([10**400, 1], [0, 1])


def test_polars_and_pyarrow_frames() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"c": list("abcabc"), "i": [1, 2, 3, 4, None, 6], "y": list("uvvuvv")})
    x, y = frame.drop("y"), frame["y"]
    plain = DecisionTreeClassifier().fit(pd.DataFrame({"c": list("abcabc"), "i": [1, 2, 3, 4, None, 6]}), y.to_list())
    tree = DecisionTreeClassifier().fit(x, y)
    assert tree.feature_names_in_.tolist() == ["c", "i"]
    assert tree.classes_.tolist() == ["u", "v"]
    assert tree.predict(x).tolist() == y.to_list()
    assert export_text(tree) == export_text(plain)
    with pytest.raises(ValueError, match="feature names"):
        tree.predict(x.rename({"c": "d"}))
    with pytest.raises(TypeError, match=r"^a polars LazyFrame holds no data yet; call its collect\(\)$"):
        tree.fit(x.lazy(), y)
    pytest.importorskip("pyarrow")
    table = x.to_arrow()
    assert tree.predict(table).tolist() == y.to_list()
    assert export_text(DecisionTreeClassifier().fit(table, y.to_arrow())) == export_text(plain)


@pytest.mark.parametrize("of", ["int", "bool", "text", "category", "enum"])
def test_polars_labels(of: str) -> None:
    values = {"int": [7, 3, 7], "bool": [True, False, True]}.get(of, ["u", "v", "u"])
    tree = DecisionTreeClassifier().fit([[1], [2], [3]], polars(values, of))
    assert tree.predict([[1], [2], [3]]).tolist() == values
    with pytest.raises(ValueError, match="example 1 has no label"):
        DecisionTreeClassifier().fit([[1], [2], [3]], polars([values[0], None, values[0]], of))


@pytest.mark.parametrize("transform", ["pandas", "polars"])
def test_set_output_of_a_step_before(transform: str) -> None:
    pytest.importorskip("polars")
    x = pd.DataFrame({"c": list("abcd"), "z": [1.0, 5.0, 2.0, 9.0]})
    steps = make_column_transformer((StandardScaler(), ["z"]), remainder="passthrough", verbose_feature_names_out=False)
    steps.set_output(transform=transform)
    line = make_pipeline(steps, DecisionTreeClassifier()).fit(x, [0, 1, 0, 1])
    assert line[-1].feature_names_in_.tolist() == ["z", "c"]
    assert line.predict(x).tolist() == [0, 1, 0, 1]


def test_inputs_are_not_modified() -> None:
    x = pd.DataFrame({"c": pd.Series(["a", 1, None], dtype=object), "o": pd.Categorical(list("xyz"), ordered=True)})
    kept = x.copy(deep=True)
    weight = np.array([0.5, 0.0, 2.0])
    with pytest.warns(UserWarning, match="nominal"):
        DecisionTreeClassifier().fit(x, [0, 1, 1], weight)
    pd.testing.assert_frame_equal(x, kept)
    assert weight.tolist() == [0.5, 0.0, 2.0]


SURPRISES: list[tuple[Any, str]] = [
    (lambda: pd.Series(pd.Categorical(["lo", "mid", "hi"], ["lo", "mid", "hi"], ordered=True)), "the order of its"),
    (lambda: arrow(["lo", "mid", "hi"], "ordered"), "the order of its categories is not used"),
    (lambda: pd.Series([1, 2, "?"], dtype=object), r"it has text \('\?'\) among numbers; clean it, or ask for nominal"),
    (lambda: [39, "-", 50], r"it has text \('-'\) among numbers"),
    (
        lambda: np.array(["1.5", "2", "3"]),
        r"its numbers are text \('1.5', '2', '3'\); convert them, or ask for nominal",
    ),
    (lambda: pd.Series(["1.5", None, "-.3e7"], dtype="string"), "its numbers are text"),
    (lambda: polars(["1.5", "2", None], "text"), "its numbers are text"),
]


@pytest.mark.parametrize(("made", "words"), SURPRISES)
def test_a_word_where_it_is_surprising(made: Any, words: str) -> None:
    values = made()
    for call in (
        lambda: DecisionTreeClassifier().fit(framed(values), [0, 1, 1]),
        lambda: best_split(values, [0, 1, 1]),
    ):
        with pytest.warns(UserWarning, match=rf"^column '?\w+'?: is nominal, [^\n]*{words}[^\n]*$") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionTreeClassifier(nominal=[0]).fit(framed(values), [0, 1, 1])
        best_split(values, [0, 1, 1], nominal=True)


def test_no_word_about_what_is_meant() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (["1", "2", "10"], ["1.5", "2", "n/a"], ["a", None, "b"], ["1.5 kg", "2", "3"]):
            best_split(values, [0, 1, 1])


def test_whole_numbers_name_places() -> None:
    x = pd.DataFrame([[1, 5], [2, 6]], columns=[1, 2])
    line = r"^nominal: column 2 is at place 1, and another column has that name; give a mask of bools$"
    with pytest.raises(ValueError, match=line):
        DecisionTreeClassifier(nominal=[1]).fit(x, [0, 1])
    assert DecisionTreeClassifier(nominal=[0]).fit(x, [0, 1]).encoding_.nominal.tolist() == [True, False]
    assert DecisionTreeClassifier(nominal=[2]).fit(x, [0, 1]).encoding_.nominal.tolist() == [False, True]
    assert DecisionTreeClassifier(nominal=[False, True]).fit(x, [0, 1]).encoding_.nominal.tolist() == [False, True]
    years = x.set_axis([2010, 2011], axis=1)
    assert DecisionTreeClassifier(nominal=2011).fit(years, [0, 1]).encoding_.nominal.tolist() == [False, True]
    plain = x.set_axis([0, 1], axis=1)
    assert DecisionTreeClassifier(nominal=[1]).fit(plain, [0, 1]).encoding_.nominal.tolist() == [False, True]
    with pytest.raises(ValueError, match="column 2011 is numeric; 'x' could"):
        DecisionTreeClassifier().fit(years, [0, 1]).predict(years.astype(object).replace(6, "x"))


def test_values_that_training_has_not_seen() -> None:
    x = pd.DataFrame({"c": pd.Categorical([1, 2, 3, 3]), "n": [1.0, 2.0, 3.0, 4.0]})
    tree = DecisionTreeClassifier().fit(x, [0, 1, 0, 1])
    text = x.assign(c=["1", "2", "3", None])
    line = r"^column 'c': '1', '2', '3' \(str, not int\); training has seen 1, 2, 3; no value [^\n]*$"
    for method in ("predict", "predict_proba", "predict_log_proba", "apply", "decision_path"):
        with pytest.warns(UserWarning, match=line) as caught:
            getattr(tree, method)(text)
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.predict(x.assign(c=[1, 2, 3, 77]))  # some are known
        tree.predict(x.assign(c=[None] * 4))
        tree.predict(x.assign(c=[1.0, 2.0, 3.0, None]))
    tree.set_params(unseen="error")
    assert tree.predict(x.assign(c=[1, 2, 3, None])).tolist()[:3] == [0, 1, 0]
    some = (
        r"^column 'c': 77; training has seen 1, 2, 3; leave such examples out, or choose another unseen than 'error'$"
    )
    with pytest.raises(ValueError, match=some):
        tree.predict(x.assign(c=[1, 2, 3, 77]))
    with pytest.raises(ValueError, match=r"'x', 'y', 'z', \.\.\.; training has seen 'a', 'b'; leave"):
        DecisionTreeClassifier(unseen="error").fit([["a"], ["b"]], [0, 1]).predict([["x"], ["y"], ["z"], ["w"]])


def test_unseen_means_without_an_example_not_without_a_category() -> None:
    x = pd.DataFrame({"c": pd.Categorical(["a", "b"], ["a", "b", "c"])})
    tree = DecisionTreeClassifier(unseen="error").fit(x, [0, 1])
    with pytest.raises(ValueError, match="column 'c': 'c'; training has seen 'a', 'b'"):
        tree.predict(pd.DataFrame({"c": pd.Categorical(["c"], ["a", "b", "c"])}))
