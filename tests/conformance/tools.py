"""The suite's tools, as far as Toolbox and the app's results and errors allow."""

import base64
import logging

import anyio

from outrider.core.context import Call
from outrider.core.errors import NotFound
from outrider.core.result import ImageBlock, ResourceBlock, Result, TextBlock
from outrider.core.tool import Toolset

# One red pixel, as PNG.
PIXEL_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
log = logging.getLogger(__name__)
PROGRESS_STEPS = (0, 50, 100)

conformance_tools = Toolset("app", "Tools that the conformance suite calls.", default=True)


@conformance_tools.tool()
async def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@conformance_tools.tool()
async def test_image_content() -> Result:
    """Return a picture."""
    return Result((ImageBlock(PIXEL_PNG),))


@conformance_tools.tool()
async def test_embedded_resource() -> Result:
    """Return a resource."""
    return Result((ResourceBlock("test://embedded-resource", "text/plain", "This is an embedded resource content."),))


@conformance_tools.tool()
async def test_multiple_content_types() -> Result:
    """Return a text, a picture and a resource."""
    data = ResourceBlock("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}')
    return Result((TextBlock("Multiple content types test:"), ImageBlock(PIXEL_PNG), data))


@conformance_tools.tool()
async def test_error_handling() -> str:
    """Fail."""
    raise NotFound("This tool intentionally returns an error for testing")


@conformance_tools.tool()
async def test_tool_with_progress(call: Call, /) -> str:
    """Report progress slowly enough that no notification is dropped."""
    for step in PROGRESS_STEPS:
        await call.progress(step, PROGRESS_STEPS[-1], f"{step} %")
        await anyio.sleep(0.25)
    return "done"


@conformance_tools.tool()
async def test_logging_tool() -> str:
    """Log as our tools do: to stderr, never to a client that did not ask."""
    log.info("called")
    return "logged"
