"""Kind splits: splitters compared on random tables."""
