"""Kind trees: cross-validated decision trees on data sets."""
