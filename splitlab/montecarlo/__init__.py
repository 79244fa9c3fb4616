"""Monte Carlo experiments: config -> plan (cells, blocks) -> runner (joblib) -> store (files) -> summary (numbers)."""
