"""From tables to trees: split criteria, the best split of an attribute, decision trees, comparing classifiers."""
