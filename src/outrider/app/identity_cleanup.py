"""Delete old audit records and counters of authenticated people."""

from outrider.app.app import App


async def sweep_identity_data(app: App) -> None:
    """Delete audit records and counters that are older than the settings keep them. Raises Unavailable."""
    settings = app.loaded.settings
    if settings.identity.is_enabled or settings.identity.quotas.has_limits:
        await app.identity().audit.delete_expired(settings.identity.audit_days)
