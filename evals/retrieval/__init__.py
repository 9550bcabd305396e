"""Measure the quality of passage search, and distill the built-in word vectors."""
