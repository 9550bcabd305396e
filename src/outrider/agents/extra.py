"""Report that the optional libraries for agents are missing."""

from importlib.util import find_spec

from outrider.core.errors import NotConfigured
from outrider.core.installation import suggest_extra


def build_missing_extra_error() -> NotConfigured:
    """Return the error to raise when a library of the `agents` extra cannot be imported."""
    return NotConfigured(
        "agents need libraries that are not installed",
        hint=f"run: {suggest_extra('agents')}",
        code="no_agents_extra",
    )


def require_agents_extra() -> None:
    """Raise NotConfigured unless the libraries of the `agents` extra are installed."""
    if not all(find_spec(name) for name in ("dbos", "pydantic_ai", "yaml")):
        raise build_missing_extra_error()
