"""How the values of a nominal attribute are grouped into branches.

Any splitter of ``splitlab.splitters`` groups them into two, ``"multiway"`` gives every value a branch of its own. A
splitter minimises an impurity. That is all there is to do when the criterion is the gain of an impurity. For any other
criterion

- ``exact`` finds the split that is best for the criterion itself, or refuses (``separations``);
- two classes are split at the best prefix of the order of the class share, judged by the criterion itself, whatever
  splitter was named: optimal where the criterion allows it (``two_class_order``), and as good a guess elsewhere;
- with more classes the splitter minimises the impurity that the criterion names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from splitlab._jit import Bools, Floats, Ints
from splitlab.impurity import code
from splitlab.splitters import Splitter, get, names, refuse_hopeless, split_batch
from splitlab.splitters.custom import SplitterError, called
from splitlab.tables.contingency import show
from splitlab.text import nearest
from splitlab.trees.criteria import Criterion
from splitlab.trees.separations import class_order_split, exact_split

MULTIWAY = "multiway"
EXACT = "exact"
DEFAULT_SPLITTER = "hd"


@dataclass(frozen=True)
class Grouping:
    """A way to group values, for stacks of tables without zero rows or columns.

    Attributes
    ----------
    criterion : Criterion
    splitter : str, Splitter or function
        A name or an entry of ``splitlab.splitters()``, ``"exact"``, ``"multiway"``, or a function as for
        ``splitlab.split``.

    Raises
    ------
    ValueError, TypeError
        There is no such splitter, it splits no tables of a tree, or ``"multiway"`` is asked of a criterion of two
        branches only.
    """

    criterion: Criterion
    splitter: str | Splitter | Callable[..., Any]

    def __post_init__(self) -> None:
        """Check the splitter."""
        if callable(self.splitter):
            return
        if not isinstance(self.splitter, (str, Splitter)):
            raise TypeError(f"splitter: {show(self.splitter)} is not a name; write it as text")
        if self.splitter == MULTIWAY:
            if self.criterion.binary:
                raise ValueError(f"splitter: 'multiway' does not go with {self.criterion.name!r}, of 2 branches only")
        elif not self._searched:
            if self.splitter not in names() and isinstance(self.splitter, str):
                self._check_name(self.splitter)
            if reason := self.entry.limit(2, 2, 2):  # no table of a tree is easier to split
                raise ValueError(f"splitter: {self.entry.name!r} does not go with trees: {reason}; choose another one")

    @staticmethod
    def _check_name(name: str) -> None:
        """ValueError, with a suggestion or the splitters of trees, where no splitter has that name."""
        try:
            get(name)
        except ValueError as error:
            if "is not known" not in str(error):
                raise
            known = [*(other for other in names() if not get(other).limit(2, 2, 2)), MULTIWAY]
            near = nearest(name, {**{get(other).title: other for other in known[:-1]}, **{n: n for n in known}})
            hint = f"did you mean {near!r}?" if near else f"the splitters of trees are {', '.join(known)}"
            raise ValueError(f"splitter: {name!r} is not known; {hint}") from None

    @property
    def _searched(self) -> bool:
        """Whether the criterion itself is searched for its optimum."""
        return self.splitter == EXACT and not self.criterion.is_gain

    @property
    def entry(self) -> Splitter:
        """The splitter that minimises an impurity."""
        assert not callable(self.splitter)
        return get(self.splitter)

    def __call__(self, tables: Ints, values: Floats | None = None) -> Ints:
        """The branches of the values of some nodes.

        Parameters
        ----------
        tables : int64 (g, n, k)
            Contingency tables without zero rows or columns.
        values : float64 (g, n), optional
            The codes of the values, ascending: of no use here, but to subclasses.

        Returns
        -------
        int64 (g, n)
            0 for the left side.
        """
        if self.splitter == MULTIWAY:
            return np.broadcast_to(np.arange(tables.shape[1]), tables.shape[:2])
        return 1 - self._left(tables).astype(np.int64)

    def _left(self, tables: Ints) -> Bools:
        """Which values are on the left side: int64 (g, n, k) -> bool (g, n)."""
        if self._searched:
            return np.stack([exact_split(table, self.criterion) for table in tables])
        if tables.shape[2] == 2 and not self.criterion.is_gain:
            return class_order_split(tables, self.criterion)
        if callable(self.splitter):
            return np.stack([self._custom_left(table) for table in tables])
        return split_batch(self.entry, tables, code(self.criterion.impurity))

    def _custom_left(self, table: Ints) -> Bools:
        """What a user's function returns for a table int64 (n, k): bool (n,); SplitterError where it fails."""
        assert callable(self.splitter)
        mask, problem = called(self.splitter, table.copy(), self.criterion.impurity)
        if problem:
            raise SplitterError(f"splitter {getattr(self.splitter, '__name__', self.splitter)}: {problem}", 0)
        found: Bools = mask
        return found

    def refuse_hopeless(self, n_values: Iterable[int], k: int, examples: int = 0) -> None:
        """ValueError when the splitter would take too long for any of ``n_values`` values, k classes, many examples."""
        if (
            callable(self.splitter)
            or self.splitter == MULTIWAY
            or self._searched
            or (k == 2 and not self.criterion.is_gain)
        ):
            return
        for n in n_values:
            refuse_hopeless(self.entry, n, k, examples)
