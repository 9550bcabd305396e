"""The folder that holds this checkout."""

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
