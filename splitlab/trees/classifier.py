"""``DecisionTreeClassifier``: the trees of this package behind scikit-learn's conventions."""

from __future__ import annotations

from math import ceil, inf, isnan
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from splitlab._jit import Floats, Ints
from splitlab.splitters import Splitter
from splitlab.trees.columns import Encoding, read_columns
from splitlab.trees.criteria import Criterion, get
from splitlab.trees.grouping import Grouping
from splitlab.trees.growing import Examples, Growth, grow

if TYPE_CHECKING:
    from scipy.sparse import csr_array

UNSEEN = ("largest", "stop")


class DecisionTreeClassifier(ClassifierMixin, BaseEstimator):
    """A decision tree over numeric and nominal attributes.

    Numeric attributes are split at thresholds, nominal ones by grouping their values with any splitter of this package.
    Nominal are pandas columns of categories, objects or text, numpy columns of text or of objects that are not all
    numbers, and those named by ``nominal``.

    Parameters
    ----------
    criterion : str, default="gini"
        A name of ``splitlab.trees.criteria``, or of an impurity: then its gain.
    splitter : str, default="pc_ext"
        How the values of a nominal attribute are grouped: a name of ``splitlab.splitters()``, ``"exact"`` (the best
        split for the criterion, refused where it would take too long) or ``"multiway"`` (a branch for each value). A
        splitter minimises an impurity; see ``splitlab.trees.grouping`` for criteria that are no gain of one.
    max_depth : int, optional
        Depth at which every node is a leaf; the root has depth 0.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Fewest examples in a node that is split and in a branch; a float is a share of all examples, rounded up.
        A nominal split with too small a branch is dropped, not replaced by another one.
    min_impurity_decrease : float, default=0.0
        Least improvement by the criterion times the node's share of all examples. With 0 splits without gain are made.
    max_features : int, float or {"sqrt", "log2"}, optional
        So many attributes, drawn at random among those that can be split, are considered at each node.
    random_state : int or RandomState, optional
        Draws them. If it is given, ties between attributes are broken at random; else the first attribute wins.
    nominal : list of str or int, or bool array, optional
        Names, places or a mask of further nominal columns.
    unseen : {"largest", "stop"}, default="largest"
        What becomes of an example whose value is missing, or was not seen at the node in training: it goes to the
        branch with more training examples (the first of equal ones), or stops at the node.
    chi_square : float, optional
        A nominal attribute is considered only where a chi-square test against the classes gives p below this.
    min_second_count : int, default=0
        A nominal attribute is given up at a node and below it when its second most frequent value there has fewer
        examples.
    prune : bool, default=False
        Whether, from the bottom up, nodes whose children are leaves of one majority class become leaves.

    Attributes
    ----------
    classes_ : ndarray (k,)
        The labels, ascending.
    n_features_in_, feature_names_in_
        Number of columns, and their names if they are all text.
    tree_ : splitlab.trees.tree.Tree
        The nodes.
    encoding_ : splitlab.trees.columns.Encoding
        Which columns are nominal, and their categories.

    Notes
    -----
    Missing values (NaN, None, ``pandas.NA``) take part in training: a threshold is judged, and attributes are
    compared, with the missing values in the branch that has more of the known ones. Equally good splits: the lowest
    threshold, the first attribute. The class of a leaf is its most frequent one, the first of equal ones.

    Examples
    --------
    >>> tree = DecisionTreeClassifier(criterion="entropy", splitter="hcc")
    >>> x = [["sunny", 30], ["overcast", 25], ["rainy", 15], ["rainy", 12], ["sunny", 20]]
    >>> tree.fit(x, ["no", "yes", "yes", "no", "no"]).predict([["overcast", 40], ["rainy", 10]]).tolist()
    ['yes', 'no']
    """

    def __init__(
        self,
        *,
        criterion: str | Criterion = "gini",
        splitter: str | Splitter = "pc_ext",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        nominal: Any = None,
        unseen: str = "largest",
        chi_square: float | None = None,
        min_second_count: int = 0,
        prune: bool = False,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.random_state = random_state
        self.nominal = nominal
        self.unseen = unseen
        self.chi_square = chi_square
        self.min_second_count = min_second_count
        self.prune = prune

    def fit(self, X: Any, y: ArrayLike) -> DecisionTreeClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, p)
            Numbers, categories and text, with missing values.
        y : array_like, shape (n,)
            Labels.

        Raises
        ------
        ValueError, TypeError
            A parameter or the data is wrong, or the splitter would take hopelessly long.
        """
        columns = read_columns(X, self)
        validate_data(self, X, y, skip_check_array=True)
        self.classes_, labels = self._labels(y, len(columns[0]))
        growth = self._growth(len(labels), len(columns))
        self.encoding_ = Encoding.of(columns, getattr(self, "feature_names_in_", None), self.nominal)
        self._refuse_hopeless(growth.grouping)
        x = self.encoding_.matrix(columns)
        tree = grow(Examples(x, self.encoding_.nominal, labels, len(self.classes_)), growth)
        self.tree_ = tree.pruned() if self.prune else tree
        return self

    def _refuse_hopeless(self, grouping: Grouping) -> None:
        """ValueError naming the first column whose tables the splitter would not serve; those of nodes are smaller."""
        for name, categories in zip(self.encoding_.names, self.encoding_.categories, strict=True):
            if categories is not None and len(categories) > 1 and len(self.classes_) > 1:
                try:
                    grouping.refuse_hopeless([len(categories)], len(self.classes_))
                except ValueError as error:
                    raise ValueError(f"column {name!r}: {error}") from None

    @staticmethod
    def _labels(y: ArrayLike, n: int) -> tuple[NDArray[Any], Ints]:
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind in "fO":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        check_consistent_length(labels, np.empty(n))
        classes, codes = np.unique(labels, return_inverse=True)
        return classes, codes.astype(np.int64)

    def _growth(self, n: int, p: int) -> Growth:
        """The parameters, checked, for n examples and p attributes."""
        if self.unseen not in UNSEEN:
            raise ValueError(f"unseen: {self.unseen!r} is neither 'largest' nor 'stop'")
        criterion = get(self.criterion)
        max_features = _features(self.max_features, p)
        random = max_features is not None or self.random_state is not None
        return Growth(
            criterion=criterion,
            grouping=Grouping(criterion, self.splitter),
            max_depth=inf if self.max_depth is None else _whole("max_depth", self.max_depth, 0),
            min_samples_split=_samples("min_samples_split", self.min_samples_split, n, 2),
            min_samples_leaf=_samples("min_samples_leaf", self.min_samples_leaf, n, 1),
            min_decrease=_real("min_impurity_decrease", self.min_impurity_decrease),
            max_features=max_features,
            rng=check_random_state(self.random_state) if random else None,
            max_p=None if self.chi_square is None else _real("chi_square", self.chi_square),
            min_second=_whole("min_second_count", self.min_second_count, 0),
        )

    def _matrix(self, X: Any) -> Floats:
        check_is_fitted(self)
        columns = read_columns(X, self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.encoding_.matrix(columns)

    def apply(self, X: Any) -> Ints:
        """The node (n,) where each example ends: a leaf, or with ``unseen="stop"`` possibly an inner node."""
        x = self._matrix(X)
        return self.tree_.apply(x, self.unseen == "stop")

    def decision_path(self, X: Any) -> csr_array:
        """Which nodes each example passes: sparse indicator matrix (n, nodes)."""
        from scipy.sparse import csr_array

        x = self._matrix(X)
        steps = list(self.tree_.steps(x, self.unseen == "stop"))
        rows, nodes = (np.concatenate(part) for part in zip(*steps, strict=True))
        return csr_array((np.ones(len(rows), np.int64), (rows, nodes)), shape=(len(x), self.tree_.node_count))

    def predict_proba(self, X: Any) -> Floats:
        """The shares of the classes (n, k) among the training examples of the node where each example ends."""
        last = self.apply(X)
        counts = self.tree_.counts[last]
        return counts / counts.sum(1, keepdims=True)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most frequent class (n,) of the node where each example ends."""
        last = self.apply(X)
        return self.classes_[self.tree_.majority[last]]

    def get_depth(self) -> int:
        """The depth of the deepest leaf; the root has depth 0."""
        check_is_fitted(self)
        return int(self.tree_.depth.max())

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return int(self.tree_.leaves.sum())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _whole(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name}: {value!r} is not a whole number")
    if value < least:
        raise ValueError(f"{name}: must be at least {least}; got {value}")
    return int(value)


def _real(name: str, value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: {value!r} is not a number")
    if isnan(value) or value < 0:
        raise ValueError(f"{name}: must be at least 0; got {value}")
    return float(value)


def _share(name: str, value: Any) -> float:
    share = _real(name, value)
    if not 0 < share <= 1:
        raise ValueError(f"{name}: a share must be above 0 and at most 1; got {value}")
    return share


def _samples(name: str, value: Any, n: int, least: int) -> int:
    """A number of examples; a float is a share of all n."""
    if isinstance(value, Integral):
        return _whole(name, value, least)
    return max(least, ceil(_share(name, value) * n))


def _features(value: Any, p: int) -> int | None:
    """How many of p attributes are considered; None for all."""
    if value is None:
        return None
    if value in ("sqrt", "log2"):
        return max(1, int(np.sqrt(p) if value == "sqrt" else np.log2(p)))
    if isinstance(value, str):
        raise ValueError(f"max_features: {value!r} is neither 'sqrt' nor 'log2'")
    return (
        _whole("max_features", value, 1)
        if isinstance(value, Integral)
        else max(1, int(_share("max_features", value) * p))
    )
