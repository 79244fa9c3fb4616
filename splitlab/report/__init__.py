"""From results to what people read: tables, and the comparison with published numbers."""
