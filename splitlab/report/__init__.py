"""From results to reading matter: tables, and the comparison with published numbers."""
