"""The direction of largest variance: top eigenvector of a small symmetric matrix, by a fixed rule.

Cyclic Jacobi rotations give all eigenvectors to full accuracy, with the same operations on every machine. If
the top eigenvalue is repeated, any vector of its eigenspace would do, so a rule is needed: the eigenvalues
within 1e-9 of the top one (relative) span the space, P is the projector onto it, and v is the first of
P e_0, P e_1, ... that is longer than 1e-6. For a simple eigenvalue this is the eigenvector itself. The sign is
such that the component of largest magnitude is positive, the first within 1e-9 of that magnitude.
"""

from __future__ import annotations

import math

from splitlab._jit import Floats, kernel

SWEEPS = 60  # a safeguard: convergence is quadratic and takes 5 to 12 sweeps
NEGLIGIBLE = 1e-17  # of the trace: an off-diagonal entry this small cannot turn the vectors any more
REPEATED = 1e-9


@kernel
def rotate(matrix: Floats, vectors: Floats, p: int, q: int) -> None:
    """One Jacobi rotation that makes matrix[p, q] zero; the columns of ``vectors`` turn with it."""
    theta = (matrix[q, q] - matrix[p, p]) / (2.0 * matrix[p, q])
    t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for i in range(matrix.shape[0]):
        x, y = matrix[i, p], matrix[i, q]
        matrix[i, p], matrix[i, q] = c * x - s * y, s * x + c * y
    for i in range(matrix.shape[0]):
        x, y = matrix[p, i], matrix[q, i]
        matrix[p, i], matrix[q, i] = c * x - s * y, s * x + c * y
        x, y = vectors[i, p], vectors[i, q]
        vectors[i, p], vectors[i, q] = c * x - s * y, s * x + c * y
    matrix[p, q] = 0.0
    matrix[q, p] = 0.0


@kernel
def diagonalise(matrix: Floats, vectors: Floats) -> None:
    """Turn ``matrix`` (k, k) into a diagonal one, in place; ``vectors`` gets its eigenvectors as columns."""
    k = matrix.shape[0]
    trace = 0.0
    for i in range(k):
        trace += matrix[i, i]
        for j in range(k):
            vectors[i, j] = 1.0 if i == j else 0.0
    negligible = NEGLIGIBLE * trace  # the matrix is positive semidefinite
    for _ in range(SWEEPS):
        turned = False
        for p in range(k - 1):
            for q in range(p + 1, k):
                if abs(matrix[p, q]) > negligible:
                    rotate(matrix, vectors, p, q)
                    turned = True
        if not turned:
            break


@kernel
def project(matrix: Floats, vectors: Floats, direction: Floats) -> None:
    """Fill ``direction`` with the rule's vector of the top eigenspace of a diagonalised matrix."""
    k = direction.size
    top = matrix[0, 0]
    for i in range(k):
        top = max(top, matrix[i, i])
    for e in range(k):
        squares = 0.0
        for i in range(k):
            direction[i] = 0.0
            for j in range(k):
                if matrix[j, j] >= top - REPEATED * abs(top):
                    direction[i] += vectors[e, j] * vectors[i, j]
            squares += direction[i] * direction[i]
        if squares > 1e-12:
            for i in range(k):
                direction[i] /= math.sqrt(squares)
            break


@kernel
def top_direction(matrix: Floats, vectors: Floats, direction: Floats) -> None:
    """The top eigenvector of ``matrix`` (destroyed) by the rule above; ``vectors`` (k, k) is work space."""
    diagonalise(matrix, vectors)
    project(matrix, vectors, direction)
    largest = 0.0
    for i in range(direction.size):
        largest = max(largest, abs(direction[i]))
    leading = 0
    while abs(direction[leading]) < largest - 1e-9:
        leading += 1
    if direction[leading] < 0.0:
        for i in range(direction.size):
            direction[i] = -direction[i]
