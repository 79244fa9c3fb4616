"""Kind optimality: how often splitters find the optimum, and what they cost."""
