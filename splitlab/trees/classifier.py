"""``DecisionTreeClassifier``: the trees of this package behind scikit-learn's conventions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from splitlab import notebook
from splitlab._jit import Floats, Ints
from splitlab.splitters import Splitter
from splitlab.splitters.compiling import compilation_shown
from splitlab.trees import formulas, parameters, pruning
from splitlab.trees.columns import Column, Encoding, in_pandas, read_columns
from splitlab.trees.criteria import Criterion, get
from splitlab.trees.grouping import DEFAULT_SPLITTER, Grouping
from splitlab.trees.growing import Examples, Growth, grow
from splitlab.trees.labels import read_labels
from splitlab.trees.proposals import short_midpoint
from splitlab.trees.tree import Tree
from splitlab.trees.weights import in_units, read_weights

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SHOWN_IMPORTANCES = 10  # in a notebook


class DecisionTreeClassifier(ClassifierMixin, BaseEstimator):
    """A decision tree over numeric and nominal attributes.

    Numeric attributes are split at thresholds, nominal ones by grouping their values with any splitter of this package.
    Data may be arrays, lists, or frames of pandas, polars and pyarrow. By one rule (in full:
    ``splitlab.trees.columns``)

    - numeric are truth values, whole numbers, floats, ``Decimal``, and objects that are all numbers;
    - nominal are text, categories of any kind (the order of ordered ones is not used), objects that are not all
      numbers, and columns named by ``nominal``;
    - refused are dates, times and complex numbers.

    Parameters
    ----------
    criterion : str or function, default="gini"
        A name of ``splitlab.trees.criteria``, or of an impurity: then its gain. A function is an impurity as for
        ``splitlab.split``.
    splitter : str, entry or function, default="hd"
        How the values of a nominal attribute are grouped: a name or an entry of ``splitlab.splitters()``, ``"exact"``
        (the best split for the criterion, refused where it would take too long), ``"multiway"`` (a branch for each
        value), or a function as for ``splitlab.split``. A splitter minimises an impurity; see
        ``splitlab.trees.grouping`` for criteria that are no gain of one. On the default see the notes.
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
    unseen : {"largest", "stop", "error"}, default="largest"
        What becomes of an example whose value is missing, or was not seen at the node in training: it goes to the
        branch with more training examples (the first of equal ones), or stops at the node. With ``"error"`` nominal
        values that were nowhere in training are a ValueError; others go as with ``"largest"``. Otherwise there is a
        warning where a column has no value that training has seen.
    chi_square : float, optional
        A nominal attribute is considered only where a chi-square test against the classes gives p below this share.
    min_second_count : int, default=0
        A nominal attribute is given up at a node and below it when its second most frequent value there has fewer
        examples.
    prune : bool, default=False
        Whether, from the bottom up, nodes whose children are leaves of one majority class become leaves.
    ccp_alpha : float, default=0.0
        Minimal cost-complexity pruning, after ``prune``, as in scikit-learn: a node becomes a leaf where its subtree
        takes no more off the impurity than this for each further leaf. See `cost_complexity_pruning_path`.
    class_weight : dict, "balanced" or None
        The weight of each class, 1 where it is not named; ``"balanced"`` gives all classes the same total.
    min_weight_fraction_leaf : float, default=0.0
        Least share of the sum of all weights in a branch, at most 1/2.

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
    class of a leaf is its most frequent one, the first of equal ones. Thresholds are midpoints, with at most 15 digits.

    Weights that are whole numbers give the tree of repeated rows, and examples of weight 0 are left out. Other weights
    are scaled by a power of two and rounded to 1e-14 of their sum, since splitters take tables of whole numbers.
    As in scikit-learn, ``min_samples_split``, ``min_samples_leaf`` (and ``min_second_count``) count examples whatever
    their weights; ``min_weight_fraction_leaf``, ``min_impurity_decrease`` and
    ``ccp_alpha`` go by weights.

    The default splitter is HD. On random tables (``make optimality``: Gini, n = 12 to 50 values, k = 3 to 9 classes) it
    finds the optimum, or the best split known, on 99.7 to 100 %; HcC on 8.6 to 100 %, PCext on 17 to 94 %. For a table
    of (50, 9) it takes about 5 times as long as HcC, and whole trees 1 to 2.5 times as long up to 9 classes, 0.4 times
    with 15: the time of HcC doubles with every class, and k = 30 is refused. Accuracy is the same within the noise.
    Where there are many values *and* classes, such as (100, 30), ``"pc_ext"`` grows a tree in a tenth of the time. One
    thing speaks for HcC, the default of ``splitlab.split``: at most twice the least impurity is proven.

    Not supported: several outputs, infinite values.

    Examples
    --------
    >>> tree = DecisionTreeClassifier(criterion="entropy", splitter="hcc")
    >>> x = [["sunny", 30], ["overcast", 25], ["rainy", 15], ["rainy", 12], ["sunny", 20]]
    >>> tree.fit(x, ["no", "yes", "yes", "no", "no"]).predict([["overcast", 40], ["rainy", 10]]).tolist()
    ['yes', 'no']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [str, Criterion, callable],
        "splitter": [str, Splitter, callable],
        "max_depth": [*parameters.whole(0), None],
        "min_samples_split": [*parameters.whole(2), parameters.FRACTION],
        "min_samples_leaf": [*parameters.whole(1), parameters.FRACTION],
        "min_impurity_decrease": parameters.NOT_NEGATIVE,
        "max_features": [*parameters.whole(1), parameters.FRACTION, *parameters.one_of("sqrt", "log2"), None],
        "random_state": ["random_state"],
        "nominal": "no_validation",  # it depends on the columns
        "unseen": parameters.one_of("largest", "stop", "error"),
        "chi_square": [parameters.SHARE, None],
        "min_second_count": parameters.whole(0),
        "prune": parameters.FLAG,
        "ccp_alpha": parameters.NOT_NEGATIVE,
        "class_weight": [dict, *parameters.one_of("balanced"), None],
        "min_weight_fraction_leaf": parameters.UP_TO_HALF,
    }

    def __init__(
        self,
        *,
        criterion: str | Criterion | Callable[[float], float] = "gini",
        splitter: str | Splitter | Callable[..., Any] = DEFAULT_SPLITTER,
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
        ccp_alpha: float = 0.0,
        class_weight: dict[Any, float] | str | None = None,
        min_weight_fraction_leaf: float = 0.0,
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
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.min_weight_fraction_leaf = min_weight_fraction_leaf

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> DecisionTreeClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : array_like or DataFrame, shape (n, p)
            Numbers, categories and text, with missing values.
        y : array_like, shape (n,)
            Labels.
        sample_weight : array_like, shape (n,), optional
            The weights of the examples, not negative; see the notes of the class.

        Raises
        ------
        ValueError, TypeError
            A parameter or the data is wrong, or the splitter would take hopelessly long.
        """
        tree, impurity, unit = self._grown(X, y, sample_weight)
        with compilation_shown():
            if self.ccp_alpha > 0:
                tree = pruning.pruned(tree, _costs(tree, impurity), self.ccp_alpha)
            self.feature_importances_ = self._importances(tree, impurity)
        self.tree_ = tree if unit == 1 else replace(tree, counts=tree.counts * unit)
        return self

    def _grown(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Tree, str, float]:
        """Learn classes and encoding: the tree before pruning by costs, the impurity for these, a weight's unit."""
        self._validate_params()
        X = in_pandas(X)
        columns = read_columns(X, self)
        validate_data(self, X, y, skip_check_array=True)
        self.classes_, labels = read_labels(y, len(columns[0].values))
        self.encoding_ = Encoding.of(columns, self.nominal)
        for remark in self.encoding_.remarks:
            warnings.warn(remark, stacklevel=3)  # at the call of `fit`
        examples = self._examples(columns, labels, sample_weight)
        growth = self._growth(examples)
        self._refuse_hopeless(growth.grouping, examples.total)
        with compilation_shown():
            tree = grow(examples, growth)
        return tree.pruned() if self.prune else tree, growth.criterion.impurity, examples.unit

    def _examples(self, columns: list[Column], labels: Ints, sample_weight: ArrayLike | None) -> Examples:
        """The training examples, without those of weight 0."""
        x, k = self.encoding_.matrix(columns), len(self.classes_)
        weight = read_weights(sample_weight, self.class_weight, self.classes_, labels)
        if weight is None:
            return Examples(x, self.encoding_.nominal, labels, k)
        if not weight.all():
            x, labels, weight = np.asfortranarray(x[weight > 0]), labels[weight > 0], weight[weight > 0]
        return Examples(x, self.encoding_.nominal, labels, k, None, *in_units(weight))

    def _importances(self, tree: Tree, impurity: str) -> Floats:
        """The share of each attribute in what the tree takes off an impurity: (p,)."""
        each = formulas.impurities(tree.counts, impurity)
        decrease = each - np.bincount(tree.parent, each[tree.n_trees :], tree.node_count)
        inner = ~tree.leaves
        sums = np.bincount(tree.feature[inner], np.maximum(decrease[inner], 0.0), self.n_features_in_)
        return formulas.ratio(sums, sums.sum())

    def _refuse_hopeless(self, grouping: Grouping, examples: int) -> None:
        """ValueError naming the first column whose tables the splitter would not serve; those of nodes are smaller."""
        for name, categories in zip(self.encoding_.names, self.encoding_.categories, strict=True):
            if categories is not None and len(categories) > 1 and len(self.classes_) > 1:
                try:
                    grouping.refuse_hopeless([len(categories)], len(self.classes_), examples)
                except ValueError as error:
                    raise ValueError(f"column {name!r}: {error}") from None

    def _growth(self, examples: Examples) -> Growth:
        """What the parameters come to for the training examples."""
        n, p = examples.x.shape
        criterion = get(self.criterion)
        max_features = parameters.features(self.max_features, p)
        random = max_features is not None or self.random_state is not None
        return Growth(
            criterion=criterion,
            grouping=Grouping(criterion, self.splitter),
            max_depth=inf if self.max_depth is None else self.max_depth,
            min_samples_split=parameters.samples(self.min_samples_split, n, 2),
            min_samples_leaf=parameters.samples(self.min_samples_leaf, n, 1),
            min_weight_leaf=self.min_weight_fraction_leaf * examples.total,
            min_decrease=self.min_impurity_decrease,
            max_features=max_features,
            rng=check_random_state(self.random_state) if random else None,
            max_p=self.chi_square,
            min_second=self.min_second_count,
            between=short_midpoint,
        )

    def _matrix(self, X: Any) -> Floats:
        """Examples to be predicted as numbers: (n, p); ValueError where they do not have the columns of training."""
        check_is_fitted(self)
        X = in_pandas(X)
        columns = read_columns(X, self)
        validate_data(self, X, reset=False, skip_check_array=True)
        x = self.encoding_.matrix(columns)
        for values, all_of_them in self.encoding_.unseen(columns, x):
            if self.unseen == "error":
                raise ValueError(f"{values}; leave such examples out, or choose another unseen than 'error'")
            if all_of_them:
                warnings.warn(
                    f"{values}; no value of the column is among these", stacklevel=3
                )  # at the call of `predict`
        return x

    def _ends(self, x: Floats) -> Ints:
        """The node (n,) where each example ends."""
        return self.tree_.apply(x, self.unseen == "stop")

    def _shares(self, x: Floats) -> Floats:
        """The shares of the classes (n, k) in the node where each example ends."""
        counts = self.tree_.counts[self._ends(x)]
        return counts / counts.sum(1, keepdims=True)

    def apply(self, X: Any) -> Ints:
        """The node (n,) where each example ends: a leaf, or with ``unseen="stop"`` possibly an inner node."""
        x = self._matrix(X)
        return self._ends(x)

    def decision_path(self, X: Any) -> csr_array:
        """Which nodes each example passes: sparse indicator matrix (n, nodes)."""
        from scipy.sparse import csr_array

        x = self._matrix(X)
        steps = list(self.tree_.steps(x, self.unseen == "stop"))
        rows, nodes = (np.concatenate(part) for part in zip(*steps, strict=True))
        return csr_array((np.ones(len(rows), np.int64), (rows, nodes)), shape=(len(x), self.tree_.node_count))

    def predict_proba(self, X: Any) -> Floats:
        """The shares of the classes (n, k) among the training examples of the node where each example ends."""
        x = self._matrix(X)
        return self._shares(x)

    def predict_log_proba(self, X: Any) -> Floats:
        """The natural logarithms (n, k) of `predict_proba`, -inf where that is 0."""
        x = self._matrix(X)
        with np.errstate(divide="ignore"):
            return np.log(self._shares(x))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most frequent class (n,) of the node where each example ends."""
        x = self._matrix(X)
        return self.classes_[self.tree_.majority[self._ends(x)]]

    def cost_complexity_pruning_path(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Bunch:
        """The values of ``ccp_alpha`` at which the pruned tree changes.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        Bunch
            ``ccp_alphas``, float64 (steps,), ascending from 0 on, and ``impurities``, float64 (steps,): the impurity of
            the leaves of the tree from each on, weighted by their shares of the examples. The impurity is the one that
            belongs to the criterion.

        Raises
        ------
        ValueError, TypeError
            As by `fit`.

        Examples
        --------
        >>> path = DecisionTreeClassifier().cost_complexity_pruning_path([[1], [2], [3], [4]], [0, 1, 0, 2])
        >>> path.ccp_alphas.round(4).tolist(), path.impurities.round(4).tolist()
        ([0.0, 0.1667, 0.2917], [0.0, 0.3333, 0.625])
        """
        tree, impurity, _ = clone(self)._grown(X, y, sample_weight)
        alphas, impurities = pruning.path(tree, _costs(tree, impurity))
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def get_depth(self) -> int:
        """The depth of the deepest leaf; the root has depth 0."""
        check_is_fitted(self)
        return int(self.tree_.depth.max())

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return int(self.tree_.leaves.sum())

    def _html_repr(self) -> str:
        """For notebooks: scikit-learn's diagram of the parameters, and of a fitted tree its size and attributes."""
        diagram: str = super()._html_repr()
        if not hasattr(self, "tree_"):
            return diagram
        size = f"{self.tree_.node_count:,} nodes, {self.get_n_leaves():,} leaves, depth {self.get_depth()}"
        order = np.argsort(-self.feature_importances_, kind="stable")[:SHOWN_IMPORTANCES]
        rows = [(str(self.encoding_.names[c]), f"{self.feature_importances_[c]:.4f}") for c in order]
        return diagram + notebook.paragraph(size) + notebook.grid(["attribute", "importance"], rows)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn is told: missing values, categories and text are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _costs(tree: Tree, impurity: str) -> Floats:
    """The impurity of each node times its share of the examples: (m,)."""
    return formulas.impurities(tree.counts, impurity) / tree.counts[0].sum()
