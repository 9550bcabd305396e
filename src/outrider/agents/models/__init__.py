"""The language models that agents run on: which can be used here, and in which order."""

from outrider.agents.models.access import Access, Models

__all__ = ["Access", "Models"]
