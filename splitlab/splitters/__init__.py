"""Splitters: one family per file, all built on one prefix sweep, listed in one registry."""

from splitlab.splitters.registry import Splitter, get, names, refuse_hopeless, split_batch, splitters

__all__ = ["Splitter", "get", "names", "refuse_hopeless", "split_batch", "splitters"]
