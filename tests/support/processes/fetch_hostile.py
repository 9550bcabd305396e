"""Fetch each hostile address in this process and print outcomes and memory growth as JSON.

Arguments: seconds for one request, a JSON object of addresses by name, a JSON list of the names that only stall.
"""

import asyncio
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import anyio

from outrider.core.egress import EgressGuard, EgressSettings
from outrider.core.egress.response import RequestLimits
from outrider.core.errors import OutriderError
from outrider.core.http import HttpClient

MAX_BODY_BYTES = 5_000_000


def read_memory_mb(field: str) -> int:
    found = re.search(field + r":\s+(\d+)", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) // 1024


async def fetch(http: HttpClient, url: str, timeout_s: float, *, cut: bool) -> dict[str, Any]:
    started = time.monotonic()
    limits = RequestLimits(timeout_s=timeout_s, max_body_bytes=MAX_BODY_BYTES)
    Path("/proc/self/clear_refs").write_text("5")  # measure peak memory from here on
    before = read_memory_mb("VmRSS")
    try:
        with anyio.fail_after(timeout_s + 1):
            response = await http.get(url, limits=limits, cut=cut)
        outcome = {"ending": str(response.status), "text": "", "next": "read it", "size": len(response.body)}
    except OutriderError as error:
        outcome = {"ending": error.code, "text": error.message + error.hint, "next": error.hint, "size": 0}
    return outcome | {"seconds": time.monotonic() - started, "grown": read_memory_mb("VmHWM") - before}


async def main(timeout_s: float, urls: dict[str, str], stalling: list[str]) -> None:
    ports = [url.rsplit(":", 1)[1] for url in urls.values()]
    http = HttpClient(EgressGuard(EgressSettings(allow=[f"127.0.0.1:{port}" for port in ports])))

    async def fetch_both(name: str) -> list[dict[str, Any]]:
        return [await fetch(http, f"{urls[name]}/?secret=key", timeout_s, cut=cut) for cut in (False, True)]

    await fetch(http, urls["html_as_png"], timeout_s, cut=False)
    outcomes = {name: await fetch_both(name) for name in urls if name not in stalling}
    # Addresses that only stall are fetched concurrently, and together may only use the memory of one.
    outcomes |= dict(zip(stalling, await asyncio.gather(*map(fetch_both, stalling)), strict=True))
    await http.close()
    print(json.dumps(outcomes))


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])))
