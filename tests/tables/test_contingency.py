"""Tests of the door for contingency tables: what is accepted, what is refused and how that is said."""

import datetime
import decimal
import fractions
import re
from math import gcd
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splitlab.tables.contingency import MAX_TOTAL, as_counts, merge_proportional, proportional_groups, reduce_table
from tests.helpers.tables import check_counts, table_strategy

UNTIMED = settings(deadline=None)  # a busy machine is no error

GOOD = [[3, 0], [1, 2], [0, 0]]


# --- as_counts: accepted


def read_only() -> np.ndarray:
    array = np.array(GOOD)
    array.setflags(write=False)
    return array


def unaligned() -> np.ndarray:
    array = np.frombuffer(b"\0" + np.array(GOOD, dtype=np.int64).tobytes(), dtype=np.int64, offset=1)
    return array.reshape(3, 2)


ACCEPTED = {
    "lists": GOOD,
    "tuples": tuple(tuple(row) for row in GOOD),
    "tuple in list": [(3, 0), [1, 2], (0, 0)],
    "ranges": [range(3, -1, -3), range(1, 3), [0, 0]],
    "arrays in a list": [np.array(row) for row in GOOD],
    "arrays of different types": [np.array([3, 0], np.uint8), np.array([1.0, 2.0]), np.array([0, 0])],
    "numpy scalars": [[np.int8(3), np.float32(0)], [np.uint64(1), 2.0], [np.float16(0), np.longdouble(0)]],
    "integral floats": [[3.0, -0.0], [1.0, 2.0], [0.0, 0.0]],
    "read-only": read_only(),
    "unaligned": unaligned(),
    "Fortran order": np.array(GOOD, order="F"),
    "transposed": np.array(GOOD).T.copy().T,
    "strided": np.repeat(np.repeat(np.array(GOOD), 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": np.array(GOOD)[::-1, ::-1].copy()[::-1, ::-1],
    "other byte order": np.array(GOOD, dtype=np.dtype(np.int32).newbyteorder()),
    "masked array without masked entries": np.ma.array(GOOD, mask=False),
    "subclass": np.array(GOOD).view(np.recarray),
    "DataFrame": pd.DataFrame(GOOD),
    "DataFrame with labels": pd.DataFrame(GOOD, index=["x", "y", "y"], columns=["c", "c"]),
    "DataFrame of floats": pd.DataFrame(GOOD, dtype=float),
    "DataFrame, mixed": pd.DataFrame({"a": np.array([3, 1, 0], np.uint8), "b": [0.0, 2.0, 0.0]}),
    "DataFrame, nullable": pd.DataFrame(GOOD).astype("Int64"),
    "DataFrame, nullable and not": pd.DataFrame(GOOD).astype({0: "Int64", 1: "Float64"}),
    "DataFrame, UInt8": pd.DataFrame(GOOD).astype("UInt8"),
    "DataFrame, sparse": pd.DataFrame(GOOD).astype(pd.SparseDtype("int")),
    "crosstab": pd.crosstab(pd.Series([0, 0, 0, 1, 1, 1]), pd.Series([0, 0, 0, 0, 1, 1])).reindex(
        [0, 1, 2], fill_value=0
    ),
}


@pytest.mark.parametrize("table", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(table: object) -> None:
    check_counts(as_counts(table), GOOD)


@pytest.mark.parametrize("dtype", [*np.typecodes["AllInteger"], *np.typecodes["Float"]])
def test_every_integer_and_float_type(dtype: str) -> None:
    check_counts(as_counts(np.array(GOOD, dtype=dtype)), GOOD)


def test_dataframe_subclass() -> None:
    class Frame(pd.DataFrame):
        pass

    check_counts(as_counts(Frame(GOOD)), GOOD)


@pytest.mark.parametrize("table", [np.array(GOOD), np.array(GOOD, dtype=float), pd.DataFrame(GOOD)])
def test_input_is_copied_and_never_modified(table: np.ndarray | pd.DataFrame) -> None:
    counts = as_counts(table)
    counts += 1
    np.testing.assert_array_equal(np.asarray(table), GOOD)


def test_lists_are_not_modified() -> None:
    table: list[list[object]] = [[3.0, 0], [1, np.int8(2)]]
    as_counts(table)[0, 0] = 7
    assert table == [[3.0, 0], [1, 2]]
    assert [type(c) for row in table for c in row] == [float, int, int, np.int8]


@pytest.mark.parametrize("table", [[[4], [0], [1]], np.array([[4], [0], [1]]), pd.DataFrame({"a": [4, 0, 1]})])
def test_one_class_is_accepted(table: object) -> None:
    check_counts(as_counts(table), [[4], [0], [1]])


@pytest.mark.parametrize(
    "table",
    [
        [[0, 0], [0, 1]],
        [[0, 1], [0, 0]],
        np.array([[5, 0, 0], [2, 0, 0]]),
        [[1, 2], [2, 4]],
        np.diag([5, 5, 5]),
    ],
)
def test_zero_rows_zero_columns_and_proportional_rows_are_accepted(table: object) -> None:
    check_counts(as_counts(table), table)


def test_no_overflow_with_int32() -> None:
    counts = as_counts(np.array([[50000, 50000], [50000, 40000]], dtype=np.int32))
    assert (counts[:, 0] * counts[:, 1]).tolist() == [2_500_000_000, 2_000_000_000]


@pytest.mark.parametrize("n", [21, 63, 64, 65, 92, 131, 1000])
def test_many_values(n: int) -> None:
    table = np.arange(3 * n).reshape(n, 3)
    check_counts(as_counts(table), table)
    check_counts(as_counts(table.tolist()), table)


def test_close_ratios_stay_exact() -> None:
    table = [[20000001, 20000000], [20000000, 20000001]]
    check_counts(as_counts(np.array(table, dtype=float)), table)
    table = [[10**14 + 1, 10**14], [10**14, 10**14 + 1]]
    for given_table in (table, np.array(table), np.array(table, dtype=float), pd.DataFrame(table)):
        check_counts(as_counts(given_table), table)


@UNTIMED
@given(table_strategy(max_count=10**13), st.sampled_from(["i8", "u8", "f8", ">i8", "g"]), st.booleans())
def test_lists_arrays_and_frames_agree(table: np.ndarray, dtype: str, fortran: bool) -> None:
    check_counts(as_counts(table.tolist()), table)
    check_counts(as_counts(np.array(table, dtype=dtype, order="F" if fortran else "C")), table)
    check_counts(as_counts(pd.DataFrame(table)), table)


# --- as_counts: the limit


LIMIT_TYPES = [
    lambda t: t,
    np.array,
    lambda t: np.array(t, dtype=np.uint64),
    lambda t: np.array(t, dtype=float),
    lambda t: np.array(t, dtype=np.longdouble),
    pd.DataFrame,
    lambda t: pd.DataFrame(t).astype("Int64"),
]


@pytest.mark.parametrize("make", LIMIT_TYPES)
def test_limit_is_sharp(make: type) -> None:
    check_counts(as_counts(make([[MAX_TOTAL, 0], [0, 0]])), [[MAX_TOTAL, 0], [0, 0]])
    check_counts(as_counts(make([[MAX_TOTAL - 1, 0], [0, 1]])), [[MAX_TOTAL - 1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"row 0, column 1 is 1000000000000001(\.0)?; .*at most 10\*\*15"):
        as_counts(make([[1, MAX_TOTAL + 1], [0, 0]]))
    with pytest.raises(ValueError, match=r"add up to 1000000000000001; .* row 1, column 1, 1, goes .*10\*\*15"):
        as_counts(make([[MAX_TOTAL - 1, 0], [1, 1]]))


def test_float32_does_not_blur_the_limit() -> None:
    table = np.array([[1e15, 0], [0, 0]], dtype=np.float32)  # rounds to 999999986991104
    check_counts(as_counts(table), [[999999986991104, 0], [0, 0]])
    with pytest.raises(ValueError, match=r"row 0, column 0 is 1\.00000005e\+15; .*at most"):
        as_counts(np.nextafter(table, np.float32(np.inf)) * np.array([[1, 0], [0, 0]], dtype=np.float32))


def test_totals_beyond_int64_are_seen() -> None:
    # 2**64 / 10**15 entries of 10**15: an int64 sum wraps around to a small or negative number
    table = np.full((18447, 1), 10**15)
    assert table.sum() < 10**15
    with pytest.raises(ValueError, match="add up to 18447000000000000000; the entry at row 1, column 0"):
        as_counts(table)


# --- as_counts: refused


def entry(value: str, row: int = 1, column: int = 0) -> str:
    return f"table: entry at row {row}, column {column} is {value}"


WHOLE = "; counts must be whole numbers >= 0"
LARGE = "; counts may be at most 10**15, also in total"
NAN, INF = float("nan"), float("inf")

BAD_VALUES = [
    ([[1, 2], [-3, -4]], "-3" + WHOLE),
    ([[1, 2], [-1.0, 4]], "-1.0" + WHOLE),
    ([[1, 2], [NAN, INF]], "nan" + WHOLE),
    ([[1, 2], [INF, NAN]], "inf" + WHOLE),
    ([[1, 2], [-INF, 2]], "-inf" + WHOLE),
    ([[1, 2], [2.5, 0.5]], "2.5" + WHOLE),
    ([[1, 2], [1e-300, 2]], "1e-300" + WHOLE),
    ([[1, 2], [1e16, 2]], "1e+16" + LARGE),
    ([[1, 2], [1e300, 2]], "1e+300" + LARGE),
]


@pytest.mark.parametrize(("table", "message"), BAD_VALUES)
@pytest.mark.parametrize("make", [list, tuple, np.array, pd.DataFrame, lambda t: [np.array(r) for r in t]])
def test_bad_values(make: type, table: list[list[float]], message: str) -> None:
    given_table = make(table)
    with pytest.raises(ValueError) as error:
        as_counts(given_table)
    # an array of floats holds -3 as -3.0
    assert re.sub(r"(\d)\.0(?=;)", r"\1", str(error.value)) == re.sub(r"(\d)\.0(?=;)", r"\1", entry(message))


@pytest.mark.parametrize("dtype", ["b", "h", "i", "l", "e", "f", "d", "g", ">i4"])
def test_negative_in_every_signed_type(dtype: str) -> None:
    with pytest.raises(ValueError, match=r"row 1, column 0 is -3(\.0)?; counts must be whole numbers >= 0"):
        as_counts(np.array([[1, 2], [-3, -4]], dtype=dtype))


@pytest.mark.parametrize("dtype", ["e", "f", "d", "g"])
@pytest.mark.parametrize(("value", "shown"), [(NAN, "nan"), (INF, "inf"), (0.5, "0.5")])
def test_bad_floats_in_every_float_type(dtype: str, value: float, shown: str) -> None:
    with pytest.raises(ValueError, match=re.escape(entry(shown + WHOLE, 0, 1))):
        as_counts(np.array([[1, value], [value, 4]], dtype=dtype))


def test_a_fraction_that_float64_would_round_away() -> None:
    value = np.longdouble(10**14) + np.longdouble(2) ** -12
    if float(value) == value:
        pytest.skip("long double is double here")
    for table in ([[1, 2], [value, 0]], np.array([[1, 2], [value, 0]], dtype=np.longdouble)):
        with pytest.raises(ValueError, match=r"row 1, column 0 is 100000000000000\.000"):
            as_counts(table)


def test_minus_one_as_uint64_and_beyond_int63() -> None:
    table = np.array([[1, 2], [2**64 - 1, 2**63]], dtype=np.uint64)
    for given_table in (table, table.tolist(), pd.DataFrame(table)):
        with pytest.raises(ValueError, match="row 1, column 0 is 18446744073709551615; counts may be at most"):
            as_counts(given_table)


def test_huge_python_integers_cannot_break_the_message() -> None:
    with pytest.raises(ValueError, match=re.escape(entry(str(10**30)))):
        as_counts([[1, 2], [10**30, 0]])
    with pytest.raises(ValueError, match=r"row 1, column 0 is an integer of \d+ bits; counts may be at most"):
        as_counts([[1, 2], [10**5000, 0]])
    with pytest.raises(ValueError, match=r"row 1, column 0 is an integer of \d+ bits; counts must be whole"):
        as_counts([[1, 2], [-(10**5000), 0]])


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no name")


WRONG_TYPES = [
    (True, "True (bool)"),
    (False, "False (bool)"),
    (np.True_, "True (bool)"),
    ("2", "'2' (str)"),
    ("", "'' (str)"),
    ("a\nb\x1b[31m", r"'a\nb\x1b[31m' (str)"),
    ("x" * 1000, "'" + "x" * 40 + "'... (1000 long) (str)"),
    (b"2", "b'2' (bytes)"),
    (np.str_("2"), "np.str_('2') (str_)"),
    (None, "None (NoneType)"),
    (1 + 0j, "(1+0j) (complex)"),
    (np.complex64(1), "(1+0j) (complex64)"),
    (decimal.Decimal(3), "Decimal('3') (Decimal)"),
    (fractions.Fraction(3), "Fraction(3, 1) (Fraction)"),
    (datetime.date(2018, 7, 1), "datetime.date(2018, 7, 1) (date)"),
    (np.datetime64("2018"), "np.datetime64('2018') (datetime64)"),
    (np.timedelta64(3, "D"), "3 days (timedelta64)"),
    (pd.NA, "<NA> (NAType)"),
    (pd.NaT, "NaT (NaTType)"),
    ({}, "a dict (dict)"),
    ({1}, "a set (set)"),
    (np.array(3), "a ndarray (ndarray)"),
]


@pytest.mark.parametrize(("value", "message"), WRONG_TYPES)
def test_wrong_types_in_lists(value: object, message: str) -> None:
    with pytest.raises(TypeError) as error:
        as_counts([[1, 2], [3, value], [value, -1]])
    assert str(error.value) == entry(message + WHOLE, 1, 1)


@pytest.mark.parametrize(("value", "message"), WRONG_TYPES[:-1])
def test_wrong_types_in_object_arrays_and_frames(value: object, message: str) -> None:
    array = np.array([[1, -2], [3, 0], [4, 5]], dtype=object)
    array[1, 1] = array[2, 0] = value
    for table in (array, pd.DataFrame(array)):
        with pytest.raises(TypeError) as error:
            as_counts(table)
        assert str(error.value) == entry(message + WHOLE, 1, 1)


def test_an_object_without_a_repr() -> None:
    with pytest.raises(TypeError, match=r"row 0, column 1 is <Silent instance at 0x\w+> \(Silent\)"):
        as_counts([[1, Silent()], [1, 2]])


def test_true_and_text_hidden_among_numbers() -> None:
    assert np.asarray([[True, 2], [1, 1]]).dtype.kind == "i"  # why lists are not simply converted
    with pytest.raises(TypeError, match=re.escape(entry("True (bool)", 0, 0))):
        as_counts([[True, 2], [1, 1]])
    with pytest.raises(TypeError, match=re.escape(entry("'2' (str)", 0, 1))):
        as_counts([[1, "2"], [1, 1]])
    with pytest.raises(TypeError, match=re.escape(entry("True (bool)", 1, 1))):
        as_counts([[1, 2], np.array([0, True], dtype=object)])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.array([[True, False], [True, True]]), "True (bool)"),
        (np.array([["1", "2"], ["3", "4"]]), "np.str_('1') (str_)"),
        (np.array([[b"1", b"2"], [b"3", b"4"]]), "np.bytes_(b'1') (bytes_)"),
        (np.array([[1j, 0], [1, 1]]), "1j (complex128)"),
        (np.array([["2018", "2019"]] * 2, dtype="M8[Y]"), "np.datetime64('2018') (datetime64)"),
        (np.array([[1, 2], [3, 4]], dtype="m8[s]"), "1 seconds (timedelta64)"),
        (np.zeros((2, 2), dtype=[("a", int)]), "... (void)"),
        (pd.DataFrame([[True, False], [True, True]]), "True (bool)"),
        (pd.DataFrame([[True, False], [True, True]], dtype="boolean"), "True (bool)"),
        (pd.DataFrame([["1", "2"], ["3", "4"]]), "'1' (str)"),
        (pd.DataFrame([["1", "2"], ["3", "4"]], dtype="category"), "'1' (str)"),
    ],
)
def test_wrong_array_types(table: object, message: str) -> None:
    with pytest.raises(TypeError) as error:
        as_counts(table)
    start, _, end = message.partition("...")
    assert str(error.value).startswith(entry(start, 0, 0))
    assert str(error.value).endswith(end + WHOLE)


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ([True, False], "True (bool)"),
        (pd.array([True, False], dtype="boolean"), "True (bool)"),
        (["x", "y"], "'x' (str)"),
        (pd.to_datetime(["2018-07-10", "2018-07-11"]), "Timestamp('"),
        (pd.to_timedelta([1, 2], unit="s"), "Timedelta('"),
        (pd.Categorical(["x", "y"]), "'x' (str)"),
        (pd.Series([None, "y"], dtype=object), "None (NoneType)"),
        ([1j, 2j], "1j (complex)"),
    ],
)
def test_one_wrong_column_of_a_frame(column: object, shown: str) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": column, "c": [1.0, 2.0]})
    with pytest.raises(TypeError) as error:
        as_counts(frame)
    assert str(error.value).startswith(entry(shown, 0, 1))


@pytest.mark.parametrize("dtype", ["object", "category"])
def test_numbers_held_as_objects_come_with_a_hint(dtype: Literal["object", "category"]) -> None:
    with pytest.raises(TypeError) as error:
        as_counts(pd.DataFrame([[3, 2], [1, 1]]).astype(dtype))
    hint = "of dtype object; convert the table with .astype(int)"
    assert str(error.value) == f"{entry('3', 0, 0)}, {hint}"


def test_numbers_in_an_object_array_come_with_a_hint() -> None:
    with pytest.raises(TypeError) as error:
        as_counts(np.array([[3, -2], [10**30, 1]], dtype=object))
    assert str(error.value) == f"{entry('3', 0, 0)}, of dtype object; convert the table with .astype(int)"


def test_missing_entries_of_a_frame() -> None:
    for missing in (
        pd.DataFrame({"a": [1, 2], "b": [3, None]}),
        pd.DataFrame([[1, 3], [2, None]], dtype="Int64"),
    ):
        with pytest.raises(ValueError, match=re.escape(entry("nan" + WHOLE, 1, 1))):
            as_counts(missing)


def test_masked_entries() -> None:
    with pytest.raises(TypeError, match="entry at row 1, column 0 is masked"):
        as_counts(np.ma.array([[1, 2], [3, 4]], mask=[[False, False], [True, True]]))
    with pytest.raises(TypeError, match="row 1, column 0"):
        as_counts([[1, 2], np.ma.array([3, 4], mask=[True, False])])


@pytest.mark.parametrize(
    "table",
    [
        None, True, 3, 2.5, 1j, "[[1, 2], [3, 4]]", b"ab", {"a": [1, 2]}, {1, 2}, object(), np.int64(3),
        Silent(), (row for row in GOOD), iter(GOOD), map(list, GOOD), range(4), memoryview(b"abcd"),
        pd.Timestamp(0),        pd.NA, as_counts, np.ndarray, pd.DataFrame,
    ],
)  # fmt: skip
def test_what_is_no_table(table: object) -> None:
    with pytest.raises(TypeError) as error:
        as_counts(table)
    message = str(error.value)
    assert message.startswith("table: got ")
    assert f"({type(table).__name__}); give a list of rows, a numpy array or a pandas DataFrame" in message


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.DataFrame])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], r"no rows \(values\)|two-dimensional .* got shape \(0,\)"),
        ([[]], r"no columns \(classes\) in 1 rows|no rows"),
        ([[], []], r"no columns \(classes\) in 2 rows|no rows"),
        ([[1, 2]], r"a split needs at least 2 rows \(values\); got 1$"),
        ([[1]], r"a split needs at least 2 rows \(values\); got 1$"),
        ([[0, 0], [0, 0]], "every count is 0; at least one example is needed"),
        ([[0], [0], [0]], "every count is 0; at least one example is needed"),
    ],
)
def test_shapes(kind: type, table: list[list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=f"^table: .*({message})"):
        as_counts(kind(table))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.empty((0, 3)), r"no rows \(values\)"),
        (np.empty((3, 0)), r"no columns \(classes\) in 3 rows"),
        (np.empty((0, 0)), r"no rows \(values\)"),
        (np.array(5), r"two-dimensional .* got shape \(\)"),
        (np.array([1, 2, 3]), r"two-dimensional .* got shape \(3,\)"),
        (np.ones((2, 2, 2), int), r"two-dimensional .* got shape \(2, 2, 2\)"),
        (np.array([[1, 2], [3]], dtype=object), r"two-dimensional .* got shape \(2,\)"),
        (pd.Series([1, 2, 3]), r"two-dimensional .* got shape \(3,\)"),
        (pd.Index([1, 2, 3]), r"two-dimensional .* got shape \(3,\)"),
        (pd.DataFrame(index=[1, 2, 3]), r"no columns \(classes\) in 3 rows"),
        ([1, 2, 3], r"row 0 is 1 \(int\); a table must be two-dimensional"),
        ([[1, 2], 3.5], r"row 1 is 3.5 \(float\); a table must be two-dimensional"),
        ([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], "row 0, column 0 is a list; a table must be two-dimensional"),
        ([[1, (2,)], [3, 4]], "row 0, column 1 is a tuple; a table must be two-dimensional"),
        ([np.ones((2, 2)), np.ones((2, 2))], "row 0, column 0 is a ndarray; a table must be two-dimensional"),
        ([[1, 2], [3]], "row 1 has 1 entry, row 0 has 2; rows must be equally long"),
        ([[1], [2], [3, 4]], "row 2 has 2 entries, row 0 has 1; rows must be equally long"),
        ([[], [1]], "row 1 has 1 entry, row 0 has 0; rows must be equally long"),
        ([np.array([1, 2]), np.array([1])], "row 1 has 1 entry, row 0 has 2; rows must be equally long"),
    ],
)
def test_more_shapes(table: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"^table: .*{message}"):
        as_counts(table)


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ("34", r"'34' \(str\)"),
        (None, r"None \(NoneType\)"),
        ({1: 2, 3: 4}, r"a dict \(dict\)"),
        ({3, 4}, r"a set \(set\)"),
        (iter([3, 4]), r" \(list_iterator\)"),
        (True, r"True \(bool\)"),
        (pd.Series([3, 4]), r"'0 +3\\n1 +4\\ndtype: int64' \(Series\)"),
    ],
)
def test_rows_that_are_no_rows(row: object, shown: str) -> None:
    with pytest.raises(TypeError, match=f"^table: row 1 is .*{shown}; .*every row a list of counts"):
        as_counts([[1, 2], row])


def test_a_list_that_holds_itself() -> None:
    table: list[object] = []
    table += [table, table]
    with pytest.raises(ValueError, match="row 0, column 0 is a list"):
        as_counts(table)


BAD_CELLS = [-1, 0.5, NAN, INF, "1", None, True, MAX_TOTAL + 1]


@UNTIMED
@given(table_strategy(), st.data())
def test_the_first_bad_entry_is_named(table: np.ndarray, data: st.DataObject) -> None:
    rows = table.tolist()
    places = st.tuples(st.integers(0, len(rows) - 1), st.integers(0, len(rows[0]) - 1))
    chosen = data.draw(st.dictionaries(places, st.sampled_from(BAD_CELLS), min_size=1))
    for (i, j), bad in chosen.items():
        rows[i][j] = bad
    row, column = min(chosen)
    with pytest.raises((ValueError, TypeError), match=f"row {row}, column {column} is"):
        as_counts(rows)
    if all(isinstance(bad, (int, float)) and bad is not True for bad in chosen.values()):
        with pytest.raises(ValueError, match=f"row {row}, column {column} is"):
            as_counts(np.array(rows))


# --- reduce_table


@UNTIMED
@given(table_strategy(max_count=1))
def test_reduce_and_expand(table: np.ndarray) -> None:
    before = table.copy()
    reduced = reduce_table(table)
    np.testing.assert_array_equal(table, before)
    assert reduced.counts.any(axis=0).all()
    assert reduced.counts.any(axis=1).all()
    assert reduced.n_rows == len(table)
    rebuilt = np.zeros_like(table)
    rebuilt[np.ix_(reduced.rows, reduced.columns)] = reduced.counts
    np.testing.assert_array_equal(rebuilt, table)
    assert (np.diff(reduced.rows) > 0).all()
    assert (np.diff(reduced.columns) > 0).all()
    assert not np.shares_memory(reduced.counts, table)
    assert reduced.counts.dtype == np.int64
    assert reduced.counts.flags.c_contiguous
    left = reduced.expand(np.zeros(len(reduced.rows), dtype=bool))
    assert left.tolist() == [not row.any() for row in table]  # rows of zeros go left
    assert reduced.expand(np.ones(len(reduced.rows), dtype=bool)).all()


def test_expand_keeps_the_order() -> None:
    reduced = reduce_table(np.array([[1, 0], [0, 0], [2, 0], [0, 0], [3, 0]]))
    assert reduced.counts.tolist() == [[1], [2], [3]]
    assert reduced.rows.tolist() == [0, 2, 4]
    assert reduced.columns.tolist() == [0]
    assert reduced.expand(np.array([False, True, False])).tolist() == [False, True, True, True, False]


def test_expand_refuses_what_is_no_mask() -> None:
    reduced = reduce_table(np.array([[1, 0], [0, 0], [2, 0]]))
    with pytest.raises(TypeError, match="left: must be boolean; got int64"):
        reduced.expand(np.array([0, 1]))
    with pytest.raises(ValueError, match=r"left: must have shape \(2,\); got \(3,\)"):
        reduced.expand(np.array([True, True, False]))


# --- proportional rows


def by_fractions(table: np.ndarray) -> list[int]:
    """Reference: compare exact class probabilities."""
    keys = [tuple(fractions.Fraction(c, sum(row) or 1) for c in row) for row in table.tolist()]
    return [keys.index(key) for key in keys]


@UNTIMED
@given(table_strategy())
def test_groups_are_those_of_equal_probabilities(table: np.ndarray) -> None:
    before = table.copy()
    groups = proportional_groups(table)
    assert groups.dtype == np.int64
    assert groups.shape == (len(table),)
    assert groups.tolist() == by_fractions(table)
    np.testing.assert_array_equal(table, before)


@UNTIMED
@given(table_strategy(max_count=10**9, max_rows=4), st.lists(st.integers(1, 10**4), min_size=16, max_size=16))
def test_multiples_join_the_group(table: np.ndarray, factors: list[int]) -> None:
    multiples = np.array([f * row for f, row in zip(factors, np.tile(table, (4, 1)), strict=False)])
    both = np.concatenate([table, multiples])
    assert proportional_groups(both).tolist() == by_fractions(both)


def test_ratios_1e_15_apart_are_not_proportional() -> None:
    table = np.array([[20000001, 20000000], [20000000, 20000001], [10**14 + 1, 10**14], [10**14, 10**14 - 1]])
    assert proportional_groups(table).tolist() == [0, 1, 2, 3]
    # cross products of these differ by a multiple of 2**64 only: they would be equal in int64
    wrapped = np.array([[3, 5], [5, 3]]) * 2**40
    assert (wrapped[0] * wrapped[1, ::-1]).tolist() == [0, 0]
    assert proportional_groups(wrapped).tolist() == [0, 1]


def test_all_proportional_and_zero_rows() -> None:
    assert proportional_groups(np.array([[1, 2], [2, 4]])).tolist() == [0, 0]
    assert proportional_groups(np.array([[0, 0], [1, 1], [0, 0], [2, 2]])).tolist() == [0, 1, 0, 1]
    assert proportional_groups(np.array([[5], [0], [7]])).tolist() == [0, 1, 0]
    assert proportional_groups(np.array([[1, 2]])).tolist() == [0]


def test_merging_adds_counts() -> None:
    merged = merge_proportional(np.array([[1, 2, 3], [2, 4, 6], [5, 1, 0], [0, 3, 1]]))
    check = [[3, 6, 9], [5, 1, 0], [0, 3, 1]]
    np.testing.assert_array_equal(merged, np.array(check), strict=True)
    merged = merge_proportional(np.array([[9, 1], [0, 0], [1, 9], [18, 2], [0, 0]]))
    assert merged.tolist() == [[27, 3], [0, 0], [1, 9]]  # in order of first appearance, not sorted


@UNTIMED
@given(table_strategy())
def test_merging_keeps_totals_and_separates_groups(table: np.ndarray) -> None:
    before = table.copy()
    merged = merge_proportional(table)
    np.testing.assert_array_equal(table, before)
    np.testing.assert_array_equal(merged.sum(axis=0), table.sum(axis=0), strict=True)
    assert by_fractions(merged) == list(range(len(merged)))
    first = sorted(set(by_fractions(table)))
    assert len(merged) == len(first)
    primitive = [[c // (gcd(*row) or 1) for c in row] for row in merged.tolist()]
    assert primitive == [[c // (gcd(*row) or 1) for c in row] for row in table[first].tolist()]


def test_no_overflow_in_merging() -> None:
    table = np.array([[MAX_TOTAL // 4, MAX_TOTAL // 4], [MAX_TOTAL // 4, MAX_TOTAL // 4]])
    assert merge_proportional(table).tolist() == [[MAX_TOTAL // 2, MAX_TOTAL // 2]]
