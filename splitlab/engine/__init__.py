"""Runs, stores, continues and verifies experiments of any kind, and knows none."""
