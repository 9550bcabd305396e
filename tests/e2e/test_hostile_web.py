"""Hostile servers against a client in its own process: outcome, duration and memory of each request."""

import json
import sys
from contextlib import AsyncExitStack

import anyio
import pytest

from support.fakes.hostile_server import TRICKS, serve_hostile
from support.processes import fetch_hostile
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio

TIMEOUT_S = 1.5
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
    "connect protocol": {"reset_in_body"},  # the kernel chooses one of them
}
ENDINGS = {trick: ending for ending, tricks in EXPECTED.items() for trick in tricks}


@pytest.fixture(scope="module")
async def outcomes():
    async with AsyncExitStack() as servers:
        urls = {trick: await servers.enter_async_context(serve_hostile(handler)) for trick, handler in TRICKS.items()}
        stalling = json.dumps(sorted(EXPECTED["timeout"]))
        arguments = [sys.executable, "-W", "error", fetch_hostile.__file__, str(TIMEOUT_S), json.dumps(urls), stalling]
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
            done = await anyio.run_process(arguments, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_every_trick_has_an_expected_ending():
    assert set(ENDINGS) == set(TRICKS)


async def test_a_trick_ends_as_an_error_with_the_reason_or_as_a_harmless_reply(outcomes):
    endings = {trick: outcomes[trick][0]["ending"] for trick in TRICKS}
    assert {trick: ending for trick, ending in endings.items() if ending not in ENDINGS[trick].split()} == {}


async def test_a_trick_costs_little_memory_and_ends_at_the_deadline(outcomes):
    assert {
        trick: outcome
        for trick in TRICKS
        for outcome in outcomes[trick]
        if outcome["grown"] >= 60 or outcome["seconds"] >= TIMEOUT_S + 1
    } == {}


async def test_every_ending_names_the_next_step(outcomes):
    assert [trick for trick in TRICKS if not all(outcome["next"] for outcome in outcomes[trick])] == []


async def test_no_error_repeats_the_query(outcomes):
    texts = [(trick, outcome["text"]) for trick in TRICKS for outcome in outcomes[trick]]
    assert [(trick, text) for trick, text in texts if "secret" in text or "key" in text] == []


async def test_a_body_that_is_too_large_is_cut_on_request(outcomes):
    cut = {trick: outcomes[trick][1] for trick in EXPECTED["too_large"] - {"declared_terabytes"}}
    assert {trick: each for trick, each in cut.items() if each["ending"] != "200" or each["size"] > 5_000_000} == {}
