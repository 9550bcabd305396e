"""The libraries that agents run on come with an extra; without it everything else works."""

from outrider.core.errors import NotConfigured


def build_missing_extra_error() -> NotConfigured:
    """What to say when one of them cannot be imported."""
    return NotConfigured(
        "agents need libraries that are not installed",
        hint="run: pip install 'outrider[agents]'",
        code="no_agents_extra",
    )
