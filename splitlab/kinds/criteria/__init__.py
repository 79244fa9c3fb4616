"""Kind criteria: split criteria of decision trees, compared over data sets."""
