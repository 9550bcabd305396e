"""Flows: what worked once in a browser, as a file that runs again without a model."""
