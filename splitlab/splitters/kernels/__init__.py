"""The compiled splitters, one family per file, and what families share: sorts, sweeps, merged rows, eigenvectors.

A splitter's kernel is a function ``kernel(tables, kind, masks, *options)``. It fills the bool masks (b, n), True for
the left side, for int64 tables (b, n, k) without zero rows or columns, n >= 2 and k >= 2; ``kind`` is the number of the
impurity. Kernels read no files, check no input and draw no random numbers.
"""
