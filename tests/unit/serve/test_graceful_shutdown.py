"""Servers can be stopped while they start."""

import asyncio

import pytest
import uvicorn
from starlette.applications import Starlette

from outrider.serve.graceful_shutdown import DrainingServer, StreamTracker


async def test_ctrl_c_just_before_the_server_starts_leaves_no_traceback(caplog: pytest.LogCaptureFixture):
    app = StreamTracker(Starlette())
    config = uvicorn.Config(app, port=0, log_config=None)
    server = DrainingServer(
        config, streams=app, stop_requested=asyncio.Event(), on_started=lambda: None, drain_notice_s=0
    )
    task = asyncio.current_task()
    assert task
    task.cancel()  # like asyncio at SIGINT
    with pytest.raises(asyncio.CancelledError):
        await server.serve()
    task.uncancel()
    left = asyncio.all_tasks() - {task}
    assert (server.started, [each for each in left if "lifespan" in repr(each)], caplog.records) == (False, [], [])
