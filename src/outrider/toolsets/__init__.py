"""What models see: every tool is a function here, and every word that a model reads lives here."""

from pathlib import Path

from outrider.core import schema

schema.register_schemas(__name__, Path(__file__).with_name("schemas.json"))
