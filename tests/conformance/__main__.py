"""Run the suite for the newest protocol revision (`--all`: for each that it has requirements for).

The suite's exit code decides. Its pass counts mean nothing by themselves (a closed port passes dozens of checks), so a
client of ours lists the fixture's tools first, and again at the end.
"""

import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
from mcp import Client

from .npm import CONFORMANCE_FOLDER, NpmMissingError, find_node, install_packages

# Newest first. tests/contract/test_wire.py covers revisions that are older than the suite supports.
PROTOCOL_REVISIONS = ("2026-07-28", "2025-11-25")
SUITE_SCRIPT = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
SUITE_TIMEOUT_MIN = 10


def main(*, every_revision: bool) -> int:
    """Return exit code 0 if everything conforms or npm is missing, else 1."""
    revisions = PROTOCOL_REVISIONS if every_revision else PROTOCOL_REVISIONS[:1]
    try:
        folder = install_packages()
    except NpmMissingError as error:
        print(f"skipped the conformance suite: {error}")
        return 0
    with tempfile.TemporaryDirectory() as data, start_fixture(data) as url:
        check_alive(url)
        # The suite waits 10 s for an answer, which a busy machine can miss once.
        failed = [
            revision for revision in revisions if not any(run_suite(folder, revision, url) for _ in ("run", "rerun"))
        ]
        check_alive(url)
    print(f"conformance: {'failed for ' + ', '.join(failed) if failed else 'passed for ' + ', '.join(revisions)}")
    return bool(failed)


@contextmanager
def start_fixture(data: str) -> Generator[str]:
    """Run the fixture as a separate process; yields the address of its MCP endpoint."""
    command = [sys.executable, "-m", f"{__package__}.server", data]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            address = process.stdout.readline().strip()
            assert address, "the fixture did not start"
            yield f"{address}/mcp"
            assert process.poll() is None, "the fixture died on the way"
        finally:
            process.terminate()


def check_alive(url: str) -> None:
    """Fail unless the fixture lists its tools."""

    async def list_tool_names() -> set[str]:
        with anyio.fail_after(20):
            async with Client(url) as client:
                return {tool.name for tool in (await client.list_tools()).tools}

    assert {"test_simple_text", "test_audio_content"} <= anyio.run(list_tool_names), "the fixture does not answer"


def run_suite(folder: Path, revision: str, url: str) -> bool:
    """Whether the suite passes: unexpected failures and unexpected passes both fail it."""
    baseline = CONFORMANCE_FOLDER / f"baseline-{revision}.yml"
    command = [find_node(folder), SUITE_SCRIPT, "server", "--url", url, "--requirements", revision]
    result = subprocess.run(
        [*command, "--expected-failures", str(baseline)], cwd=folder, timeout=SUITE_TIMEOUT_MIN * 60, check=False
    )
    return result.returncode == 0


if __name__ == "__main__":
    sys.exit(main(every_revision="--all" in sys.argv))
