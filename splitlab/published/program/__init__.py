"""What the tree program of the paper's authors did, slips included, so that Table 4 can be replayed.

- ``protocol``: the seeds, impurities and methods of the study; nothing is loaded for them
- ``folds``: how the examples of a trial are divided into training and test examples
- ``arithmetic``: the program's comparisons of thresholds and groupings, for growing trees by them
- ``splitters``: the compiled splitters; ``hcc_simd`` is a faster search for one of them
- ``random_tables``: PCext and SLIQext on random tables, where rounding decides four printed entries
- ``sums``: the float sums by which the program compares splits
- ``python_sets``: the order in which Python walks a set of integers, which decides ties

Source: the program that Laber, Molinaro and Pereira published with the paper (ICML 2018, section 5).
"""
