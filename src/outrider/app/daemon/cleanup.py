"""What a host leaves behind: it ends with the host, as where the host had a process to itself."""

from outrider.app.app import App
from outrider.core.context import Call
from outrider.core.errors import OutriderError


async def clean_up_host(app: App, session: str) -> None:
    """Ends the browser sessions and the background processes of a session that nobody else has.

    Unless agents are at work: a run goes on without its host, and may use what is there.
    """
    if app.runs.is_busy:
        return
    for each in app.processes.list(app.workspaces.find_workspace(Call(session=session))):
        each.process.kill("stopped")
    try:
        await app.browsers.close_owner_sessions(session)
    except OutriderError:
        return  # it was gone already
