"""One short module per artefact of the paper, run as ``python -m experiments.NAME``."""
