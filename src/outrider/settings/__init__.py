"""All settings: their model, the places they come from, and their precedence."""

from outrider.settings.load import LoadedSettings, load
from outrider.settings.model import ServeSettings, Settings

__all__ = ["LoadedSettings", "ServeSettings", "Settings", "load"]
