"""What is proven of a splitter, as data: how far from the optimum it can be, and what it is never worse than."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """What is proven of the impurity of a splitter's splits.

    Attributes
    ----------
    optimal : bool
        Every split is optimal.
    optimal_for_two_classes : bool
        Splits of tables with two classes are optimal.
    two_classes_only : bool
        No other tables are split at all.
    gini, entropy, class_c : str
        Bound on the ratio to the optimum for Gini, for entropy, and for all impurities of the paper's class C, which
        those two belong to; empty where none is proven.
    never_worse_than : tuple of str
        Titles of the splitters whose split is never better.
    known : bool
        False for a splitter of which nothing can be known, a user-defined function.
    """

    optimal: bool = False
    optimal_for_two_classes: bool = False
    two_classes_only: bool = False
    gini: str = ""
    entropy: str = ""
    class_c: str = ""
    never_worse_than: tuple[str, ...] = ()
    known: bool = True

    def ratio(self, impurity: str, k: int | None = None) -> str:
        """The bound on the ratio to the optimum for k classes, or for any number of them; empty if none is proven.

        Of impurities other than Gini and entropy it is not known whether they belong to class C.

        Examples
        --------
        >>> Guarantee(entropy="3", class_c="4").ratio("gini")
        '4'
        """
        if self.optimal or (k == 2 and self.optimal_for_two_classes):
            return "1"
        return {"gini": self.gini or self.class_c, "entropy": self.entropy or self.class_c}.get(impurity, "")

    def __str__(self) -> str:
        """The guarantee in words.

        Examples
        --------
        >>> print(Guarantee(gini="2", optimal_for_two_classes=True, never_worse_than=("LCA",)))
        2 (Gini); never worse than LCA; optimal for k = 2
        """
        ratios = {"Gini": self.gini, "entropy": self.entropy, "class C": self.class_c}
        bounds = ", ".join(f"{bound} ({of})" for of, bound in ratios.items() if bound)
        for_two = "optimal for k = 2" if self.optimal_for_two_classes else ""
        first = "optimal" if self.optimal else bounds or for_two or ("none" if self.known else "none known")
        further = ["k = 2 only"] if self.two_classes_only else []
        further += [f"never worse than {title}" for title in self.never_worse_than]
        return "; ".join([first, *further, *([for_two] if for_two and first != for_two else [])])


NO_GUARANTEE = Guarantee()
