"""The tool that records a session as a file to replay."""

from typing import Annotated, Literal

import anyio
from pydantic import Field

from outrider.browser.page.downloads import DOWNLOADS_FOLDER
from outrider.browser.session.browsers import Browsers
from outrider.core.call_records import CallRecorder, InflightCalls
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.result import FILES_META_KEY, Result, TextBlock
from outrider.toolsets.browser.network import browser_devtools
from outrider.toolsets.browser.results import clean_line, translate_errors
from outrider.workspace import SessionWorkspaces


@browser_devtools.tool(effect="write", title="Record a trace")
async def recordTrace(
    browsers: Browsers,
    workspaces: SessionWorkspaces,
    recorder: CallRecorder,
    call: Call,
    /,
    sessionId: str,
    action: Literal["start", "stop"],
    video: Annotated[bool, Field(description="With stop: also an animated WebP")] = False,
) -> Result:
    """Record each later call in the session with outline and screenshot; stop saves an HTML file to replay."""
    from outrider.browser.devtools.trace import Trace

    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        if action == "start":
            session.trace = Trace(lambda: _describe_running_call(recorder.inflight, session.id))
            return Result((TextBlock("Recording: action=stop saves the trace."),))
        if session.trace is None:
            raise InvalidInput("action: nothing is being recorded", hint="action=start begins a recording")
        trace = session.trace
        contents = {"trace.html": trace.to_html()} | ({"trace.webp": trace.to_video()} if video else {})
        session.trace = None

    def save_files() -> list[str]:
        files = workspaces.ensure_workspace(call).files
        return [files.add_file(f"{DOWNLOADS_FOLDER}/{name}", data) for name, data in contents.items()]

    paths = await anyio.to_thread.run_sync(save_files)
    dropped = f"; the {trace.dropped} oldest were dropped" if trace.dropped else ""
    size = sum(map(len, contents.values()))
    text = f"Saved {' and '.join(paths)}, {len(trace.steps)} steps, {size:,} bytes{dropped}"
    return Result(
        (TextBlock(text),), meta={"outrider/path": paths[0], FILES_META_KEY: [{"path": each} for each in paths]}
    )


def _describe_running_call(inflight: InflightCalls, session_id: str) -> str:
    """Return tool and arguments of the call that uses a session; private arguments are not shown."""
    running = next((each for each in reversed(inflight.calls) if each.browser_session == session_id), None)
    if running is None:
        return "call"
    arguments = [f"{name}={value}" for name, value in running.arguments.items() if name != "sessionId" and value]
    return clean_line(" ".join([running.tool, *arguments]), 300)
