"""Running code that nobody vouches for: kept in as well as this machine can, and within limits."""

from outrider.workspace.sandbox.job import Inside, Job, Level, Limits
from outrider.workspace.sandbox.sandbox import Isolation, Sandbox
from outrider.workspace.sandbox.settings import CodeSettings

__all__ = ["CodeSettings", "Inside", "Isolation", "Job", "Level", "Limits", "Sandbox"]
