"""A user-defined impurity: a function f of one share, named ``package.module:function``, and what is true of it.

I(u) = |u| sum_i f(u_i / |u|) is the form (P0) of the paper's class C, and Numba compiles f. The paper's guarantees
need three properties more, for shares p and q:

(P1) f(0) = f(1) = 0
(P2) f is strictly concave on [0, 1]
(P3) f(p) <= (p / q) f(q) + q f(p / q) for 0 < p <= q <= 1

They are tried on a grid and on random pairs: a failure is a proof, with the shares that show it; where none is found
the property is taken to hold. A function that is not finite on [0, 1], or negative, is no impurity at all.

Source: Laber, Molinaro, Pereira (ICML 2018), section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np
from numba.core import ir
from numba.core.compiler import run_frontend
from numpy.typing import NDArray

from splitlab.plugins import fingerprint, load

GRID = 1001
LARGEST_ROW = 60  # the shares of all rows of fewer examples are tried as well
PAIRS = 60_000
SLACK = 1e-9  # of the largest value of f: rounding errors stay below

_names: dict[int, str] = {}


@dataclass(frozen=True)
class Examined:
    """What was found about a function; each text says which shares show the failure, and is empty where none does.

    Attributes
    ----------
    p1, p2, p3 : str
        How (P1), (P2), (P3) fail.
    """

    p1: str
    p2: str
    p3: str

    @property
    def in_class_c(self) -> bool:
        """Whether the guarantees of class C are taken to hold."""
        return not (self.p1 or self.p2 or self.p3)


def address_of(name: str) -> int:
    """The address of the compiled function f of that name, by which kernels know the impurity.

    Raises ValueError when it cannot be loaded or compiled, or is no impurity.
    """
    address = int(_compiled(name, fingerprint(name)).address)
    _names[address] = name
    return address


def name_at(address: int) -> str:
    """The name of the impurity whose f is at that address."""
    return _names[address]


@cache
def _compiled(name: str, version: str) -> Any:
    """The function of that name and fingerprint, compiled."""
    function = load(name)
    function = getattr(function, "py_func", function)
    shares = np.unique([*np.linspace(0.0, 1.0, GRID), *(a / b for b in range(1, LARGEST_ROW) for a in range(b))])
    try:
        compiled: Any = numba.cfunc("float64(float64)", error_model="numpy")(function)
        raises = any(isinstance(step, ir.Raise | ir.StaticRaise) for step in _steps(function))
    except Exception as error:
        problem = f"Numba cannot compile it as a function of one share: {_reason(error)}"
        raise ValueError(f"impurity {name}: {problem}") from None
    if raises:  # compiled code cannot raise through a C callback: it would go on with some number
        raise ValueError(f"impurity {name}: f can raise an error, which a compiled function of one share must not")
    values = _values(compiled, shares)
    for problem, wrong in (("not finite", ~np.isfinite(values)), ("negative", values < -SLACK)):
        if wrong.any():
            first = wrong.argmax()
            raise ValueError(f"impurity {name}: f({shares[first]:g}) = {values[first]:g} is {problem}; no impurity")
    return compiled


def _steps(function: Any) -> list[Any]:
    """What a function does, step by step, as Numba reads it."""
    return [step for block in run_frontend(function).blocks.values() for step in block.body]


def _reason(error: Exception) -> str:
    """The line of an error of Numba's that says something; the first one names the step that failed."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("Failed in")]
    return lines[0].strip() if lines else type(error).__name__


def _values(compiled: Any, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([compiled.ctypes(float(share)) for share in shares.ravel()]).reshape(shares.shape)


def examine(name: str) -> Examined:
    """Try (P1), (P2) and (P3) of a user-defined impurity, numerically.

    Examples
    --------
    >>> examine("splitlab.examples:cubic").in_class_c
    True
    >>> examine("splitlab.examples:square_root").p3[:4]
    'f(p)'
    """
    return _examined(name, fingerprint(name))


@cache
def _examined(name: str, version: str) -> Examined:
    compiled = _compiled(name, version)
    grid = np.linspace(0.0, 1.0, GRID)
    on_grid = _values(compiled, grid)
    slack = SLACK * max(on_grid.max(), 1e-300)
    p1 = next((f"f({at}) = {value:g}" for at, value in ((0, on_grid[0]), (1, on_grid[-1])) if abs(value) > slack), "")
    return Examined(p1, _not_concave(grid, on_grid, compiled, slack), _not_p3(compiled, slack))


def guarantees(name: str) -> list[str]:
    """Which of the proven ratios hold for a user-defined impurity, in sentences."""
    found = examine(name)
    optimum = "exhaustive is optimal for every impurity"
    if found.p2:
        return [f"{optimum}; no other guarantee holds, since f is not strictly concave"]
    two = f"{optimum}; hyperplanes and exact too, and for two classes lca, hcc, ova, pc, pc_ext, two_class, twoing"
    if not found.in_class_c:
        return [two, "no ratio is proven: the impurity is not of class C"]
    return [two, "hcc: 2; lca, ova, flip_flop: 3 + sqrt 3 (class C)"]


def _not_concave(grid: NDArray[np.float64], on_grid: NDArray[np.float64], compiled: Any, slack: float) -> str:
    """Where a chord is not strictly below f: between neighbours of the grid, and between random pairs."""
    rng = np.random.default_rng(0)
    p, q = np.sort(rng.random((2, PAIRS // 4)), axis=0)
    p, q = p[q - p > 1e-2], q[q - p > 1e-2]
    middle = _values(compiled, (p + q) / 2) - (_values(compiled, p) + _values(compiled, q)) / 2
    near = on_grid[1:-1] - (on_grid[:-2] + on_grid[2:]) / 2
    for first, last, above in ((grid[:-2], grid[2:], near + slack * 1e-3), (p, q, middle - slack)):
        if (above <= 0).any():
            worst = int(above.argmin())
            return f"f is not above its chord from {first[worst]:g} to {last[worst]:g}"
    return ""


def _not_p3(compiled: Any, slack: float) -> str:
    """A pair of shares against (P3)."""
    rng = np.random.default_rng(1)
    q = np.concatenate([rng.random(PAIRS // 2), 10.0 ** -rng.uniform(0.0, 6.0, PAIRS // 2)])
    p = q * np.concatenate([rng.random(PAIRS // 2), 10.0 ** -rng.uniform(0.0, 6.0, PAIRS // 2)])
    excess = _values(compiled, p) - p / q * _values(compiled, q) - q * _values(compiled, p / q)
    if excess.max() <= slack:
        return ""
    worst = int(excess.argmax())
    return f"f(p) > (p / q) f(q) + q f(p / q) at p = {p[worst]:g}, q = {q[worst]:g}"
