"""Everything that can be set, where it was set, and what a workspace file may not set."""

from outrider.settings.load import LoadedSettings, load
from outrider.settings.model import ServeSettings, Settings

__all__ = ["LoadedSettings", "ServeSettings", "Settings", "load"]
