"""Flows: browser steps saved in a file that runs again without a model."""
