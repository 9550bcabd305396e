"""Every trick of `tests/hostile.py` against a client in a process of its own: how it ends, when, and what it costs."""

import json
import sys
from contextlib import AsyncExitStack

import anyio
import pytest

from support.fakes.hostile_server import TRICKS, serve_hostile

pytestmark = pytest.mark.anyio

SECONDS = 1.5
EXPECTED = {
    "too_large": {
        "gzip_bomb",
        "gzip_bomb_in_members",
        "gzip_empty_members",
        "gzip_in_gzip",
        "gzip_in_gzip_in_gzip",
        "deflate_bomb",
        "raw_deflate_bomb",
        "brotli_bomb",
        "zstd_bomb",
        "endless_body",
        "endless_chunks",
        "endless_chunk_extensions",
        "declared_terabytes",
    },
    "timeout": {"silence", "slow_headers", "slow_body", "slow_gzip"},
    "headers": {"huge_header", "many_headers", "headers_without_end", "interim_without_end"},
    "redirects": {"redirect_loop", "redirect_chain", "redirect_to_password", "redirect_to_nonsense"},
    "egress": {
        "redirect_to_metadata",
        "redirect_to_loopback",
        "redirect_to_localhost",
        "redirect_to_spelled_loopback",
        "redirect_to_port",
        "redirect_to_file",
        "redirect_to_javascript",
        "redirect_to_data",
    },
    "protocol": {
        "gzip_ten_times",
        "zstd_wide_window",
        "gzip_of_nonsense",
        "gzip_that_is_none",
        "bytes_in_headers",
        "nothing",
        "status_nonsense",
        "not_http",
        "chunk_nonsense",
        "chunk_size_overflow",
        "length_too_long",
        "length_twice",
        "length_negative",
        "switching_protocols",
        "trailers_without_end",
    },
    "200": {
        "unknown_coding",
        "smuggled_answer",
        "wrong_charset",
        "html_as_png",
        "deep_nesting",
        "traversal_name",
    },
    "connect protocol": {"reset_in_body"},  # which one is the kernel's choice
}
ENDINGS = {trick: ending for ending, tricks in EXPECTED.items() for trick in tricks}

CLIENT = """
import asyncio, json, re, sys, time
import anyio
from outrider.core.egress import EgressSettings, Guard
from outrider.core.errors import OutriderError
from outrider.core.http import Http, Limits

def memory(field):
    return int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024

async def ask(http, url, cut):
    started = time.monotonic()
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
    before = memory("VmRSS")
    try:
        with anyio.fail_after(LIMITS.seconds + 1):
            reply = await http.get(url, limits=LIMITS, cut=cut)
            ending, text, next, size = str(reply.status), "", "read it", len(reply.body)
    except OutriderError as error:
        ending, text, next, size = error.code, error.message + error.hint, error.hint, 0
    seconds, grown = time.monotonic() - started, memory("VmHWM") - before
    return {"ending": ending, "text": text, "next": next, "size": size, "seconds": seconds, "grown": grown}

async def main(urls, slow):
    ports = [url.rsplit(":", 1)[1] for url in urls.values()]
    http = Http(Guard(EgressSettings(allow=[f"127.0.0.1:{port}" for port in ports])))
    await ask(http, urls["html_as_png"], False)
    found = {}
    for trick in [each for each in urls if each not in slow]:
        found[trick] = [await ask(http, urls[trick] + "/?secret=key", cut) for cut in (False, True)]
    asked = [ask(http, urls[trick] + "/?secret=key", cut) for trick in slow for cut in (False, True)]
    answers = iter(await asyncio.gather(*asked))
    found |= {trick: [next(answers), next(answers)] for trick in slow}
    await http.close()
    print(json.dumps(found))

LIMITS = Limits(seconds=float(sys.argv[1]), body=5_000_000)
asyncio.run(main(json.loads(sys.argv[2]), json.loads(sys.argv[3])))
"""


@pytest.fixture(scope="module")
async def outcomes():
    async with AsyncExitStack() as servers:
        urls = {trick: await servers.enter_async_context(serve_hostile(handler)) for trick, handler in TRICKS.items()}
        # Those that only let us wait are waited for side by side, and together cost no more memory than one may.
        slow = json.dumps(sorted(EXPECTED["timeout"]))
        arguments = [sys.executable, "-W", "error", "-c", CLIENT, str(SECONDS), json.dumps(urls), slow]
        with anyio.fail_after(120):
            done = await anyio.run_process(arguments, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_every_trick_has_an_expected_ending():
    assert set(ENDINGS) == set(TRICKS)


@pytest.mark.parametrize("trick", TRICKS)
async def test_a_trick_ends_as_an_error_that_says_why_or_as_a_harmless_reply(outcomes, trick):
    assert outcomes[trick][0]["ending"] in ENDINGS[trick].split(), outcomes[trick][0]


@pytest.mark.parametrize("trick", TRICKS)
async def test_a_trick_costs_little_memory_and_ends_at_the_deadline(outcomes, trick):
    for outcome in outcomes[trick]:
        assert outcome["grown"] < 60, outcome
        assert outcome["seconds"] < SECONDS + 1, outcome


@pytest.mark.parametrize("trick", TRICKS)
async def test_every_ending_says_what_to_do_next(outcomes, trick):
    assert all(outcome["next"] for outcome in outcomes[trick]), outcomes[trick]


@pytest.mark.parametrize("trick", TRICKS)
async def test_no_error_repeats_the_query(outcomes, trick):
    for outcome in outcomes[trick]:
        assert "secret" not in outcome["text"]
        assert "key" not in outcome["text"]


@pytest.mark.parametrize("trick", sorted(EXPECTED["too_large"] - {"declared_terabytes"}))
async def test_a_body_that_is_too_large_is_cut_on_request(outcomes, trick):
    cut = outcomes[trick][1]
    assert cut["ending"] == "200"
    assert cut["size"] <= 5_000_000
