"""``DecisionTreeClassifier``: the trees of this package behind scikit-learn's conventions."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from splitlab._jit import Floats, Ints
from splitlab.splitters import Splitter
from splitlab.trees import formulas, parameters
from splitlab.trees.columns import Encoding, read_columns
from splitlab.trees.criteria import Criterion, get
from splitlab.trees.grouping import Grouping
from splitlab.trees.growing import Examples, Growth, grow
from splitlab.trees.labels import read_labels

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
    nominal : str or int, list of them, or bool array, optional
        Names, indices or a mask of further nominal columns.
    unseen : {"largest", "stop"}, default="largest"
        What becomes of an example whose value is missing, or was not seen at the node in training: it goes to the
        branch with more training examples (the first of equal ones), or stops at the node.
    chi_square : float, optional
        A nominal attribute is considered only where a chi-square test against the classes gives p below this share.
    min_second_count : int, default=0
        A nominal attribute is given up at a node and below it when its second most frequent value there has fewer
        examples.
    prune : bool, default=False
        Whether, from the bottom up, nodes whose children are leaves of one majority class become leaves.

    Attributes
    ----------
    classes_ : ndarray (k,)
        The labels, ascending.
    feature_importances_ : float64 (p,)
        The share of each attribute in what the tree takes off the impurity that belongs to the criterion.
    n_features_in_, feature_names_in_
        Number of columns, and their names if they are all text.
    tree_ : splitlab.trees.tree.Tree
        The nodes.
    encoding_ : splitlab.trees.columns.Encoding
        Which columns are nominal, and their categories.

    Notes
    -----
    Missing values (NaN, None, ``pandas.NA``) are no value of their own. Which values of a nominal attribute go together
    is decided by the examples whose value is known. The others then go to the branch with more of those, and with them
    in it a split is judged: a threshold is chosen, attributes are compared, and branches have ``min_samples_leaf``.
    The same way they go in prediction, so the counts of a node are those of the training examples that reach it. (As an
    exception, ``chi_square`` and ``min_second_count`` look at known values only.)

    Equally good splits, up to rounding: the lowest threshold, the first attribute; of groupings see `best_split`. The
    class of a leaf is its most frequent one, the first of equal ones.

    Not supported: weights of examples and classes, several outputs, pruning by cost and complexity, infinite values.

    Examples
    --------
    >>> tree = DecisionTreeClassifier(criterion="entropy", splitter="hcc")
    >>> x = [["sunny", 30], ["overcast", 25], ["rainy", 15], ["rainy", 12], ["sunny", 20]]
    >>> tree.fit(x, ["no", "yes", "yes", "no", "no"]).predict([["overcast", 40], ["rainy", 10]]).tolist()
    ['yes', 'no']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [str, Criterion],
        "splitter": [str, Splitter],
        "max_depth": [*parameters.whole(0), None],
        "min_samples_split": [*parameters.whole(2), parameters.FRACTION],
        "min_samples_leaf": [*parameters.whole(1), parameters.FRACTION],
        "min_impurity_decrease": parameters.NOT_NEGATIVE,
        "max_features": [*parameters.whole(1), parameters.FRACTION, *parameters.one_of("sqrt", "log2"), None],
        "random_state": ["random_state"],
        "nominal": "no_validation",  # it depends on the columns
        "unseen": parameters.one_of("largest", "stop"),
        "chi_square": [parameters.SHARE, None],
        "min_second_count": parameters.whole(0),
        "prune": parameters.FLAG,
    }

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
        self._validate_params()
        columns = read_columns(X, self)
        validate_data(self, X, y, skip_check_array=True)
        self.classes_, labels = read_labels(y, len(columns[0]))
        growth = self._growth(len(labels), len(columns))
        self.encoding_ = Encoding.of(columns, getattr(self, "feature_names_in_", None), self.nominal)
        self._refuse_hopeless(growth.grouping)
        x = self.encoding_.matrix(columns)
        tree = grow(Examples(x, self.encoding_.nominal, labels, len(self.classes_)), growth)
        self.tree_ = tree.pruned() if self.prune else tree
        self.feature_importances_ = self._importances(growth.criterion.impurity)
        return self

    def _importances(self, impurity: str) -> Floats:
        """The share of each attribute in what the tree takes off an impurity: (p,)."""
        tree, each = self.tree_, formulas.impurities(self.tree_.counts, impurity)
        decrease = each - np.bincount(tree.parent, each[tree.n_trees :], tree.node_count)
        inner = ~tree.leaves
        sums = np.bincount(tree.feature[inner], np.maximum(decrease[inner], 0.0), self.n_features_in_)
        return formulas.ratio(sums, sums.sum())

    def _refuse_hopeless(self, grouping: Grouping) -> None:
        """ValueError naming the first column whose tables the splitter would not serve; those of nodes are smaller."""
        for name, categories in zip(self.encoding_.names, self.encoding_.categories, strict=True):
            if categories is not None and len(categories) > 1 and len(self.classes_) > 1:
                try:
                    grouping.refuse_hopeless([len(categories)], len(self.classes_))
                except ValueError as error:
                    raise ValueError(f"column {name!r}: {error}") from None

    def _growth(self, n: int, p: int) -> Growth:
        """What the parameters come to for n examples and p attributes."""
        criterion = get(self.criterion)
        max_features = parameters.features(self.max_features, p)
        random = max_features is not None or self.random_state is not None
        return Growth(
            criterion=criterion,
            grouping=Grouping(criterion, self.splitter),
            max_depth=inf if self.max_depth is None else self.max_depth,
            min_samples_split=parameters.samples(self.min_samples_split, n, 2),
            min_samples_leaf=parameters.samples(self.min_samples_leaf, n, 1),
            min_decrease=self.min_impurity_decrease,
            max_features=max_features,
            rng=check_random_state(self.random_state) if random else None,
            max_p=self.chi_square,
            min_second=self.min_second_count,
        )

    def _matrix(self, X: Any) -> Floats:
        """Examples to be predicted as numbers: (n, p); ValueError where they do not have the columns of training."""
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

    def predict_log_proba(self, X: Any) -> Floats:
        """The natural logarithms (n, k) of `predict_proba`, -inf where that is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

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
        """What scikit-learn is told: missing values, categories and text are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
