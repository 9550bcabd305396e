"""The tools that models call, with every text that a model reads."""

from pathlib import Path

from outrider.core import schema

schema.register_schemas(__name__, Path(__file__).with_name("schemas.json"))
