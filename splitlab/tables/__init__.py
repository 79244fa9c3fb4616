"""A contingency table: checks, csv files, random tables."""
