"""Checks of `outrider doctor`: identity of HTTP callers."""

import time
from collections.abc import AsyncGenerator

from outrider.app import App
from outrider.cli.finding import Finding
from outrider.core.errors import OutriderError


async def check_identity(app: "App") -> AsyncGenerator[Finding]:
    """Check that callers could authenticate where that is required."""
    settings = app.loaded.settings.identity
    if not settings.is_enabled:
        return
    identity = app.identity()
    try:
        if settings.tokens:
            active = [
                each for each in await identity.tokens.list_tokens() if each.compute_state(time.time()) == "active"
            ]
            remedy = (
                "" if active else "outrider workspace create <name> --owner <person>; outrider token create <person>"
            )
            state = "ok" if active or settings.oauth.issuer else "bad"
            yield Finding(state, f"identity: {len(active)} tokens are valid", remedy)
        if identity.provider is not None:
            count = await identity.provider.count_usable_keys()
            yield Finding("ok", f"identity: {settings.oauth.issuer} publishes {count} usable keys")
    except OutriderError as error:
        yield Finding("bad", f"identity: {error.message}", error.hint)
    if app.loaded.settings.serve.token:
        yield Finding(
            "note", "identity: holders of serve.token can act as any person they name", "leave serve.token empty"
        )
