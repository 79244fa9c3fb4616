"""The reference implementations of the splitters: plain Python, slow, short, meant to be read next to the paper.

The package is the executable definition: the compiled kernels are tested against it, and its running times
stand for those of a pure Python program. Only eigenvectors come from numpy.

Notation. A contingency table has a row per *value* v of a nominal attribute and a column per *class* i. |v|
is the sum of row v, p_v = A[v] / |v|, u the column sums, N = |u|; n rows, k classes. A *split* has some rows
left, the rest right, no side empty, and costs I(u_L) + I(u_R): the weighted impurities of the two sides. A
direction d in {0,1}^k is a set of classes; the table *collapsed* by d has the columns d.A[v] and (1-d).A[v].

Algorithms. A *walk* takes the rows in some order and tries every prefix of it as the left side.
lca       Largest Class Alone: walk by the share of the most frequent class. Guarantee 2 (Gini), 3 (entropy).
hcc       Hypercube Cover: for every d in {0,1}^k, one of each pair d and 1-d, the walk by d.A[v] / |v| (the
          paper's Algorithm 1, B_d); the best of all. Guarantee 2.
ova       One class against all: as `hcc`, for the sets of one class only.
balanced  As `hcc`, for one set only, that with the most examples among those with at most half of them.
          Guarantee 2 (entropy). By brute force, 2^k steps.
list_scheduling: as `hcc`, for a set that only tends to half of the examples: by decreasing size, each class
          goes to the side lighter so far, and to the second if they are equal.
twoing    For every d the prefix of its walk that is best for the collapsed table (A_d); of these the split
          with the largest gain of its collapsed table, judged by the impurity of two columns only.
twoing_min  As `twoing`, with least collapsed impurity instead of largest gain.
flip_flop In turns, the best split of the classes given that of the rows, and A_d; starts with `lca`.
pc        Principal component: rows with equal p merged, the walk by v.p_a, where v is the top eigenvector
          of M = sum_a |a| (p_a - u/N)(p_a - u/N)^T. Optimal for two classes.
pc_ext    `pc`, and at every cut also the split with the two rows next to the cut exchanged.
pc_counts, pc_ext_counts: as `pc` and `pc_ext`, by v.A[a] instead of v.p_a. Not the method that the paper describes, but
          what the columns headed PCext in its experiments with random tables were made with.
sliq      All rows left; move the row right that leaves least impurity, the first in any case, while it helps.
sliq_ext  As `sliq`, but until one row is left; the best split on the way.
pull_left As `sliq_ext`, but only rows with the largest p_v[i] for some class i among those still left may move.
two_class The walk by p_v[0], for two classes; optimal.
exhaustive, hyperplanes: the best of all splits, and of those that a hyperplane makes; optimal.
Not by name, since they take a direction too: `along_direction` (B_d) and `collapsed_along` (A_d).

Order and ties.
* A candidate replaces the best so far only if it is lower by more than 1e-12 N: the first of equals stays,
  over the cuts of a walk, over directions, and over the rows that SLIQ might move (tried in row order).
* Walks sort ascending, stably. A share is one correctly rounded division: equal rationals keep the row order.
* Directions: sets of 1, ..., floor(k/2) classes, lexicographic within a size; sets of k/2 without class k-1.
* `balanced`, of sets with equally many examples: the first in lexicographic order, (0, 1) before (0, 1, 2)
  before (0, 2). `list_scheduling`: the side with fewer classes, of equals the one with class 0.
* Merged rows are sums of exactly proportional rows and stand in lexicographic order of p, compared exactly,
  before the sort by score. The first component of v within 1e-9 of the largest magnitude is positive.
* A repeated top eigenvalue leaves v open. Then v is the projection of the first unit vector e_0, e_1, ...
  that has one (longer than 1e-6) to the space of all eigenvalues within 1e-9 of the top, relative to it.
* Rows that differ by a constant vector tie in the count score, as v is orthogonal to (1, ..., 1). Computed
  as v.(A[a] - min_i A[a][i]), the scores are equal floats too. Other ties of `pc*`, by symmetry, come out
  as rounding noise: neighbouring scores closer than 1e-9 of the largest one count as equal.

A splitter maps (table, name of an impurity) to a list with True for the rows of the left side: the prefix,
or for descents the rows that stayed. Not checked: n, k >= 2, integers >= 0, no zero row or column, the name.
If all rows are proportional, all splits are equal, and every splitter puts the first row alone on the left.

Sources: Laber, Molinaro, Mello Pereira, *Binary Partitions with Approximate Minimum Impurity*, ICML 2018
(Algorithm 1, HcC, LCA, the experiments). SLIQ: Mehta et al., 1996. PC: Coppersmith et al., 1999. Twoing and
two classes: Breiman et al., 1984. Flip-flop: Nadas et al., 1991.

>>> hcc([[4, 1, 0], [0, 3, 1], [5, 0, 0], [0, 2, 2]], "gini")
[False, True, False, True]
"""

from collections.abc import Callable

from splitlab.splitters.reference.collapsed import collapsed_along, flip_flop, twoing, twoing_min
from splitlab.splitters.reference.common import Table, impurity, split_impurity
from splitlab.splitters.reference.descents import pull_left, sliq, sliq_ext
from splitlab.splitters.reference.directions import along_direction, balanced, hcc, lca, list_scheduling, ova
from splitlab.splitters.reference.exact import exhaustive, hyperplanes, two_class
from splitlab.splitters.reference.principal import pc, pc_counts, pc_ext, pc_ext_counts

__all__ = ["SPLITTERS", "Table", "along_direction", "collapsed_along", "impurity", "split_impurity"]

_DIRECTIONS = (lca, hcc, ova, balanced, list_scheduling, twoing, twoing_min, flip_flop)
_OTHERS = (pc, pc_ext, pc_counts, pc_ext_counts, sliq, sliq_ext, pull_left, two_class, exhaustive, hyperplanes)
SPLITTERS: dict[str, Callable[[Table, str], list[bool]]] = {f.__name__: f for f in (*_DIRECTIONS, *_OTHERS)}
