"""Kind timing: how long splitters take."""
