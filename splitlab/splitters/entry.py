"""What the registry knows of a splitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from splitlab.splitters.guarantee import Guarantee

POLISH = "splitlab.splitters.kernels.descent:polish"


def any_size(n: int, k: int, examples: int) -> str | None:
    """The limit of a splitter that has none."""
    return None


def any_counts(n: int, k: int, examples: float) -> float:
    """What large counts cost where they cost nothing."""
    return 0.0


@dataclass(frozen=True)
class Splitter:
    """An entry of the registry.

    Attributes
    ----------
    name : str
        The name used in configs and on the command line.
    title : str
        The name used in tables and figures.
    proven : Guarantee
        What is proven of the splits.
    cost : str
        Time for one table with n values and k classes, in O-notation.
    source : str
        Paper and section.
    kernel_path : str
        Module and function of the compiled kernel.
    nanoseconds : callable
        Time on one core for one table and one impurity as a function of (n, k), within a factor of about three:
        sizes work items, lets long ones be announced and absurd ones be refused.
    options : tuple
        Further arguments of the kernel, by which variants of one family differ.
    limit : callable
        Why tables of n values, k classes and up to so many examples cannot be split and what can be done instead, as
        a function of (n, k, examples); None where they can, at whatever cost.
    large_counts : callable
        Further nanoseconds for a table of (n, k, examples), where these come on top.
    polished : bool
        Whether hyperplane descent goes on from the kernel's splits.
    custom : bool
        Whether this is a user-defined Python function, ``kernel_path`` being its name.
    """

    name: str
    title: str
    proven: Guarantee
    cost: str
    source: str
    kernel_path: str = field(repr=False)
    nanoseconds: Callable[[int, int], float] = field(repr=False, compare=False)
    options: tuple[Any, ...] = field(default=(), repr=False)
    limit: Callable[[int, int, int], str | None] = field(default=any_size, repr=False, compare=False)
    large_counts: Callable[[int, int, float], float] = field(default=any_counts, repr=False, compare=False)
    polished: bool = field(default=False, repr=False)
    custom: bool = field(default=False, repr=False)

    def seconds(self, n: int, k: int, examples: float = 0.0) -> float:
        """Estimated time on one core for one table, which has so many examples, and one impurity."""
        return 1e-9 * (self.nanoseconds(n, k) + self.large_counts(n, k, examples))

    @property
    def guarantee(self) -> str:
        """What is proven of the splits, in words: ratios to the least possible impurity."""
        return str(self.proven)

    def kernel(self) -> Callable[..., None]:
        """Import the compiled function (this loads numba)."""
        return load(self.kernel_path)

    def kernel_paths(self) -> tuple[str, ...]:
        """What is to be compiled: the kernel, unless it is a user-defined function, and the descent if polished."""
        return (*(() if self.custom else (self.kernel_path,)), *((POLISH,) if self.polished else ()))

    def modules(self) -> tuple[str, ...]:
        """The modules that hold what ``kernel_paths`` names: what the splitter returns depends on them."""
        return tuple(dict.fromkeys(path.split(":")[0] for path in self.kernel_paths()))


def load(path: str) -> Callable[..., None]:
    """Import the function ``module:function``."""
    module, function = path.split(":")
    return getattr(import_module(module), function)
