"""The artefacts of the paper, and some of our own: ``python -m experiments`` lists them."""
