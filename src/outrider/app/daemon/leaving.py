"""What a host leaves behind: it ends with the host, as where the host had a process to itself."""

from outrider.app.app import App
from outrider.core.context import Call
from outrider.core.errors import OutriderError


async def left(app: App, session: str) -> None:
    """Ends the browser sessions and the background processes of a session that nobody else has.

    Unless agents are at work: a run goes on without its host, and may use what is there.
    """
    if app.runs.busy:
        return
    for each in app.processes.list(app.workspaces.find(Call(session=session))):
        each.running.kill("stopped")
    try:
        await app.browsers.close_all(session)
    except OutriderError:
        return  # it was gone already
