"""A toolset with effects at the test's own bank over HTTP, which counts all of them."""

import os
from pathlib import Path

import httpx2

from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import Unavailable
from outrider.core.tool import Toolset

bank = Toolset("bank", "For tests.")


def install_plugin(folder: Path) -> Path:
    """Install this toolset as a plugin; the folder must be on the import path."""
    described = folder / "bank_tools-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: bank-tools\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text("[outrider.toolsets]\nbank = support.scale.bank_tools:bank\n")
    return folder


@bank.tool(effect="write", title="Deposit")
async def deposit(call: Call, /, text: str) -> str:
    """Pay something in."""
    return await _book_entry(call, text)


@bank.tool(effect="act", title="Transfer")
async def transfer(call: Call, /, text: str) -> str:
    """Send something away, which a person must allow."""
    return await _book_entry(call, text)


@bank.tool(effect="write", title="Keep", stake="never_ask")
async def keep(artifacts: ArtifactStore, call: Call, /, text: str) -> str:
    """Keep something as a file."""
    kept = await artifacts.save(text.encode(), name="kept.txt", mime_type="text/plain", session=call.session, call=call)
    return kept.uri


@bank.tool(title="Look")
async def look(text: str) -> str:
    """Read something."""
    return f"seen {text}"


async def _book_entry(call: Call, text: str) -> str:
    assert call.run is not None
    entry = {"key": call.run.idempotency_key, "text": text}
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=20) as client:
            (await client.post(os.environ["BANK"], json=entry)).raise_for_status()
    except httpx2.HTTPError as error:
        raise Unavailable(f"the bank did not answer: {type(error).__name__}") from error
    return f"booked {text}"
