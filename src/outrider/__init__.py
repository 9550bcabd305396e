"""Outrider: the web, a browser and more for any LLM agent."""

__version__ = "0.1.0"
