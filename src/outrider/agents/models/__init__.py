"""The language models that agents run on: which can be used here, and in which order."""

from outrider.agents.models.access import ModelAccess, ModelResolver

__all__ = ["ModelAccess", "ModelResolver"]
