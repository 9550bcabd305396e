"""A toolset with one tool of each kind, and its server, for protocol tests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio
from pydantic import BaseModel, Field

from outrider.core.artifacts import ArtifactStore
from outrider.core.call_records import CallRecorder
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import NotFound, Unavailable
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, TextBlock
from outrider.core.tool import Toolset
from outrider.core.tool_policy import ToolPolicy
from outrider.core.toolbox import Toolbox

# Modules that it imports only as a program.
PRELOADED_MODULES = ("outrider.serve.mcp", "outrider.serve.stdio")

echo_tools = Toolset("echo", "Says things back.", default=True, aliases=("echoing",))


class Sum(BaseModel):
    total: int
    note: str = ""

    def __str__(self) -> str:
        return f"total: {self.total}"


@echo_tools.tool(untrusted=True, always_load=True)
async def say(
    text: Annotated[str, Field(min_length=1, max_length=20, description="What to say")], times: int = 1
) -> str:
    """Say it back."""
    return text * times


@echo_tools.tool()
async def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    return Sum(total=a + b)


@echo_tools.tool()
async def show() -> Result:
    """Show one item of every kind."""
    page = ResourceBlock(
        "https://a.example/", "application/vnd.x.page", "body", {"title": "T", "responseCode": "200"}, {"seen": True}
    )
    return Result((TextBlock("read me"), ImageBlock(b"\x89PNG"), page, LinkBlock("outrider://x", "x", "text/plain", 3)))


@echo_tools.tool()
async def lose() -> str:
    """Fail in a way that the model can react to."""
    raise NotFound("no seed 'x'", hint="choose another", details={"seeds": ["a", "b"]})


@echo_tools.tool()
async def break_down() -> str:
    """Fail in an unforeseen way."""
    raise RuntimeError("secret internals")


@echo_tools.tool()
async def wait_for_it(call: Call, /, steps: int = 3) -> str:
    """Report progress."""
    for step in range(1, steps + 1):
        await call.progress(step, steps, f"step {step}", {"label": "x"} if step == steps else None)
    return "done"


@echo_tools.tool(effect="act", title="Fly away")
async def fly(call: Call, /, where: str) -> str:
    """Do something that a person must allow."""
    return f"flew to {where} for {call.session}"


@echo_tools.tool()
async def who(call: Call, /) -> str:
    """Tell what travelled with the call."""
    return f"{call.session}|{call.assistant}|{call.thread}|{call.message}|{call.citations}"


@echo_tools.tool()
async def later() -> str:
    """Fail for now."""
    raise Unavailable("the seed shop is closed", retry_after=30)


def build_toolbox(folder: Path, **policy: Any) -> tuple[Toolbox, ArtifactStore]:
    """Build a toolbox over the echo tools; its database is never opened."""
    return _build_toolbox_over(folder, Database.from_file(folder / "echo.db"), **policy)


@asynccontextmanager
async def open_toolbox(folder: Path) -> AsyncGenerator[tuple[Toolbox, ArtifactStore]]:
    """Open the same toolbox with a database that is used."""
    database = Database.from_file(folder / "echo.db")
    try:
        yield _build_toolbox_over(folder, database)
    finally:
        await database.close()


def _build_toolbox_over(folder: Path, database: Database, **policy: Any) -> tuple[Toolbox, ArtifactStore]:
    toolbox = Toolbox([echo_tools], {}, CallRecorder(database), ToolPolicy(**policy))
    return toolbox, ArtifactStore(folder / "artifacts", database, keep_seconds=60)


async def serve_over_stdio(folder: Path) -> None:
    """Serves the echo over stdio."""
    from outrider.serve.mcp import build_mcp_server
    from outrider.serve.stdio import claim_stdio, serve_stdio

    wire = claim_stdio()
    await serve_stdio(build_mcp_server(*build_toolbox(folder), name="echo"), wire)


def run(arguments: list[str]) -> None:
    """The program, for `warmed.command`."""
    anyio.run(serve_over_stdio, Path(arguments[0]))
