"""Data sets of studies of trees: catalogues, where files are, how they are read, and what is known of them."""
