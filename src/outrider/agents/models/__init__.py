"""The language models that agents run on."""

from outrider.agents.models.access import ModelAccess, ModelResolver

__all__ = ["ModelAccess", "ModelResolver"]
