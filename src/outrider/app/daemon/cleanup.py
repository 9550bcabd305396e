"""Clean up a host's browser sessions and processes when it disconnects."""

from outrider.app.app import App
from outrider.core.context import Call
from outrider.core.errors import OutriderError


async def clean_up_host(app: App, session: str) -> None:
    """End the browser sessions, background processes and interpreters of a session that no other host uses.

    Nothing ends while agents are running, because their runs continue without the host and may use them.
    """
    if app.runs.is_busy:
        return
    workspace = app.workspaces.find_workspace(Call(session=session))
    for each in app.processes.list(workspace):
        each.process.kill("stopped")
    await app.processes.kernels.close_session(workspace.key)
    try:
        await app.browsers.close_owner_sessions(session)
    except OutriderError:
        return  # already closed
