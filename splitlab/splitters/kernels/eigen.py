"""The direction of largest variance: top eigenvector of a small symmetric matrix, by a fixed rule.

The usual way: Householder reflections make the matrix tridiagonal, Newton's method on its characteristic polynomial
descends to the top eigenvalue from a bound above it (monotonically, since all roots are real), and a twisted
factorisation gives the eigenvector. This takes O(k^3) with a small constant, about 2 microseconds for k = 9, where
a full eigensystem takes ten.

If the top eigenvalue is repeated, any vector of its eigenspace would do, so a rule is needed: the eigenvalues
within 1e-9 of the top one (relative) span the space, P is the projector onto it, and v is the first of
P e_0, P e_1, ... that is longer than 1e-6. For this case cyclic Jacobi rotations give all eigenvectors.

The sign is such that the component of largest magnitude is positive, the first within 1e-9 of that magnitude.
"""

from __future__ import annotations

import math

import numpy as np

from splitlab._jit import Floats, kernel

NEWTON = 200  # a safeguard too: a simple eigenvalue takes 5 to 30 steps, a repeated one about 50
CONVERGED = 1e-15
SWEEPS = 60  # a safeguard: convergence is quadratic and takes 5 to 12 sweeps
NEGLIGIBLE = 1e-17  # of the trace: an off-diagonal entry this small cannot turn the vectors any more
REPEATED = 1e-9


@kernel
def rotate(matrix: Floats, vectors: Floats, p: int, q: int) -> None:
    """One Jacobi rotation that makes matrix[p, q] zero; the columns of ``vectors`` turn with it."""
    # The tangent of the smaller of the two angles that do, which keeps what is done already: t^2 + 2 theta t = 1
    theta = (matrix[q, q] - matrix[p, p]) / (2.0 * matrix[p, q])
    t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    # Turn the columns p and q, then the rows.
    for i in range(matrix.shape[0]):
        x, y = matrix[i, p], matrix[i, q]
        matrix[i, p], matrix[i, q] = c * x - s * y, s * x + c * y
    for i in range(matrix.shape[0]):
        x, y = matrix[p, i], matrix[q, i]
        matrix[p, i], matrix[q, i] = c * x - s * y, s * x + c * y
        x, y = vectors[i, p], vectors[i, q]
        vectors[i, p], vectors[i, q] = c * x - s * y, s * x + c * y
    # Zero up to rounding; exactly zero it is not turned again.
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
    # P e_e = sum over the top eigenvectors c of c[e] c, of the first e for which it is not nearly zero
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
def orient(direction: Floats) -> None:
    """Turn ``direction`` so that its component of largest magnitude, the first within 1e-9 of it, is positive."""
    largest = 0.0
    for i in range(direction.size):
        largest = max(largest, abs(direction[i]))
    leading = 0
    while abs(direction[leading]) < largest - 1e-9:
        leading += 1
    if direction[leading] < 0.0:
        for i in range(direction.size):
            direction[i] = -direction[i]


@kernel
def reflect(matrix: Floats, j: int, normal: Floats, spare: Floats) -> None:
    """Reflect all but the first j + 1 axes so that column j ends below the diagonal; ``normal`` gets the unit normal.

    H = I - 2 v v^T turns A into H A H = A - 2 v q^T - 2 q v^T with q = A v - (v^T A v) v.
    """
    k = matrix.shape[0]
    # x, what stands below the diagonal in column j, is to become a multiple ``end`` of the first axis.
    squares = 0.0
    for i in range(k):
        normal[i] = matrix[i, j] if i > j else 0.0
        squares += normal[i] * normal[i]
    if squares == 0.0:
        return
    # v = (x - end e) / |x - end e|; with end of the sign opposite to that of x's first component nothing cancels.
    end = -math.sqrt(squares) if normal[j + 1] > 0.0 else math.sqrt(squares)
    normal[j + 1] -= end
    length = math.sqrt(2.0 * (squares - end * matrix[j + 1, j]))
    for i in range(j + 1, k):
        normal[i] /= length
    # q = A v - (v^T A v) v
    shift = 0.0
    for a in range(j + 1, k):
        spare[a] = 0.0
        for b in range(j + 1, k):
            spare[a] += matrix[a, b] * normal[b]
        shift += spare[a] * normal[a]
    for a in range(j + 1, k):
        spare[a] -= shift * normal[a]
    # A - 2 v q^T - 2 q v^T
    for a in range(j + 1, k):
        for b in range(j + 1, k):
            matrix[a, b] -= 2.0 * (normal[a] * spare[b] + spare[a] * normal[b])
    matrix[j + 1, j] = end


@kernel
def top_eigenvalue(diagonal: Floats, beside: Floats) -> float:
    """Top eigenvalue of a tridiagonal matrix by Newton's method from Gershgorin's bound.

    The polynomial's logarithmic derivative is sum slope_j / d_j over the pivots d_j of x I - T, all positive above
    the top eigenvalue.
    """
    k = diagonal.size
    # Gershgorin: no eigenvalue exceeds a diagonal entry plus the magnitudes beside it in the row.
    bound = 0.0
    for j in range(k):
        reach = abs(beside[j - 1]) if j > 0 else 0.0
        bound = max(bound, diagonal[j] + reach + abs(beside[j]))
    x = bound
    for _ in range(NEWTON):
        d, slope, total = x - diagonal[0], 1.0, 0.0
        for j in range(k):
            if j > 0:
                # The pivot, and its derivative by x
                square = beside[j - 1] * beside[j - 1]
                slope = 1.0 + square * slope / (d * d)
                d = x - diagonal[j] - square / d
            if d <= 0.0:  # x has reached the top eigenvalue up to rounding
                return x
            total += slope / d
        x -= 1.0 / total
        if 1.0 / total <= CONVERGED * bound:
            break
    return x


@kernel
def eigenvalues_above(x: float, diagonal: Floats, beside: Floats) -> int:
    """How many eigenvalues of a tridiagonal matrix exceed x: its negative pivots of x I - T (Sturm)."""
    count = 0
    d = 1.0
    for j in range(diagonal.size):
        d = x - diagonal[j] - (beside[j - 1] * beside[j - 1] / d if j > 0 else 0.0)
        if d == 0.0:  # x is an eigenvalue of a leading part; a tiny pivot instead counts it right
            d = 1e-300
        if d < 0.0:
            count += 1
    return count


@kernel
def twisted_eigenvector(x: float, diagonal: Floats, beside: Floats, vector: Floats) -> None:
    """Eigenvector of a tridiagonal matrix for its eigenvalue x.

    Pivots from above and from below meet at the component where their sum, less the diagonal, is least; from there
    the others follow in both directions.
    """
    k = diagonal.size
    down, up = np.empty(k), np.empty(k)
    for j in range(k):
        i = k - 1 - j
        # Pivots of T - x I from above, and from below
        down[j] = diagonal[j] - x - (beside[j - 1] * beside[j - 1] / down[j - 1] if j > 0 else 0.0)
        up[i] = diagonal[i] - x - (beside[i] * beside[i] / up[i + 1] if j > 0 else 0.0)
        down[j] = down[j] if down[j] != 0.0 else 1e-300
        up[i] = up[i] if up[i] != 0.0 else 1e-300
    # What is left over where the pivots from both sides meet is the residual of the vector that starts from 1 there:
    # meet where it is least.
    meet = 0
    least = np.inf
    for j in range(k):
        rest = abs(down[j] + up[j] - (diagonal[j] - x))
        if rest < least:
            least, meet = rest, j
    vector[meet] = 1.0
    for j in range(meet - 1, -1, -1):
        vector[j] = -beside[j] / down[j] * vector[j + 1]
    for j in range(meet + 1, k):
        vector[j] = -beside[j - 1] / up[j] * vector[j - 1]


@kernel
def single_direction(matrix: Floats, direction: Floats) -> bool:
    """Fill ``direction`` with the unit top eigenvector; False if its eigenvalue is repeated. Destroys ``matrix``."""
    k = matrix.shape[0]
    normals, spare = np.empty((k, k)), np.empty(k)
    diagonal, beside = np.empty(k), np.zeros(k)
    # To tridiagonal form
    for j in range(k - 2):
        reflect(matrix, j, normals[j], spare)
    for j in range(k):
        diagonal[j] = matrix[j, j]
        if j + 1 < k:
            beside[j] = matrix[j + 1, j]
    top = top_eigenvalue(diagonal, beside)
    # Another eigenvalue as large as the top one: the general way must choose among their vectors.
    if eigenvalues_above(top - REPEATED * abs(top), diagonal, beside) != 1:
        return False
    twisted_eigenvector(top, diagonal, beside, direction)
    # Back through the reflections, the last first
    for j in range(k - 3, -1, -1):
        along = 0.0
        for i in range(j + 1, k):
            along += normals[j, i] * direction[i]
        for i in range(j + 1, k):
            direction[i] -= 2.0 * along * normals[j, i]
    squares = 0.0
    for i in range(k):
        squares += direction[i] * direction[i]
    for i in range(k):
        direction[i] /= math.sqrt(squares)
    return True


@kernel
def top_direction(matrix: Floats, vectors: Floats, direction: Floats) -> None:
    """The top eigenvector of ``matrix`` (destroyed) by the rules above; ``vectors`` (k, k) is work space."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[0]):
            vectors[i, j] = matrix[i, j]
    if not single_direction(vectors, direction):
        diagonalise(matrix, vectors)
        project(matrix, vectors, direction)
    orient(direction)
