"""All principal components of a small symmetric matrix, by a rule that does not depend on the eigensolver.

The components are the eigenvectors by decreasing eigenvalue, as far as it exceeds 1e-9 of the largest one: along the
others the rows do not vary. Neighbouring eigenvalues no further apart than 1e-9 of the largest are one repeated
eigenvalue, whose eigenvectors are any basis of its space. Here they are what Gram and Schmidt make of the projections
of e_0, e_1, ... to the space: each is made orthogonal to those before and left out if no more than 1e-6 remains of it.

The sign is that of ``eigen``: the component of largest magnitude is positive, the first within 1e-9 of it.
"""

from __future__ import annotations

import math

import numpy as np

from splitlab._jit import Floats, Ints, kernel
from splitlab.splitters.kernels.eigen import REPEATED, diagonalise, orient
from splitlab.splitters.kernels.sweep import sort_scores

SHORT = 1e-6


@kernel
def remove_projection(vector: Floats, basis: Floats, start: int, stop: int) -> float:
    """Make ``vector`` orthogonal to the unit vectors basis[start:stop]; returns the length that remains."""
    # Modified Gram-Schmidt: each projection is taken of what the ones before have left.
    for r in range(start, stop):
        along = 0.0
        for i in range(vector.size):
            along += vector[i] * basis[r, i]
        for i in range(vector.size):
            vector[i] -= along * basis[r, i]
    squares = 0.0
    for i in range(vector.size):
        squares += vector[i] * vector[i]
    return math.sqrt(squares)


@kernel
def span(vectors: Floats, order: Ints, start: int, stop: int, basis: Floats) -> None:
    """Fill basis[start:stop] by the rule for the space of the eigenvectors vectors[:, order[start:stop]]."""
    k = order.size
    found = start
    for e in range(k):
        if found == stop:
            break
        # The projection of e_e to the space: sum over its eigenvectors c of c[e] c
        vector = basis[found]
        for i in range(k):
            vector[i] = 0.0
            for c in range(start, stop):
                vector[i] += vectors[e, order[c]] * vectors[i, order[c]]
        # What it has apart from the vectors found so far; nearly nothing where they already span it
        length = remove_projection(vector, basis, start, found)
        if length > SHORT:
            for i in range(k):
                vector[i] /= length
            orient(vector)
            found += 1


@kernel
def components(matrix: Floats, basis: Floats) -> int:
    """Fill the first rows of ``basis`` (k, k) with the components of ``matrix``, which is destroyed; their number."""
    k = matrix.shape[0]
    vectors, falling = np.empty((k, k)), np.empty(k)
    order, spare = np.empty(k, np.int64), np.empty(k, np.int64)
    diagonalise(matrix, vectors)
    # Eigenvalues in descending order
    for i in range(k):
        falling[i] = -matrix[i, i]
    sort_scores(falling, order, spare)
    margin = -REPEATED * falling[order[0]]
    # Leave out the directions along which nothing varies; (1, ..., 1) always is one.
    count = 0
    while count < k and -falling[order[count]] > margin:
        count += 1
    # Close a group of equal eigenvalues where the next one is clearly smaller.
    equal = 0
    for c in range(count):
        equal += 1
        if c + 1 == count or falling[order[c + 1]] - falling[order[c]] > margin:
            span(vectors, order, c + 1 - equal, c + 1, basis)
            equal = 0
    return count
