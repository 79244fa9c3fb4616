"""Golden bytes: what small experiments of every kind print and write, and the public names of the package.

``python -m tests.golden`` writes ``expected/`` again. ``tests/test_golden.py`` compares with it.
"""
