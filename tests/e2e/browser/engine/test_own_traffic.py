"""The browser's network log shows only connections to our proxies.

Updates, safe browsing, sign-in, time, translation, spelling, name resolution, proxy scripts, QUIC, and requests that
servers ask for later (reports, alternative services). A browser without our settings runs first, as elsewhere.
"""

import asyncio
import datetime as dt
import ipaddress
import json
import os
import ssl
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

from outrider.browser.page.navigate import navigate_page
from outrider.browser.process.browser import Browser
from outrider.browser.process.context import BrowserContext
from outrider.browser.process.flags import DISCARD_PROXY_URL
from outrider.browser.process.launch import launch_browser
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.session.browsers import Browsers
from outrider.browser.session.session import Session
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import EgressGuard, EgressSettings
from outrider.core.egress.server_shutdown import stop_listening
from support.timeouts import PROCESS_TIMEOUT_S

# Asks whether there is a route to Google's name server over IPv6; connecting a UDP socket sends nothing.
PROBE = "[2001:4860:4860::8888]:443"
ASK = """() => {
  const link = (rel, href) => document.head.append(Object.assign(document.createElement('link'), {rel, href}));
  link('dns-prefetch', '//prefetched.example');
  link('preconnect', 'http://preconnected.example');
  const text = Object.assign(document.createElement('textarea'), {spellcheck: true, lang: 'de', value: 'helo wrld'});
  document.body.append(text);
  text.focus();
  fetch('http://fetched.example/').catch(() => 0);
  globalThis.Translator?.create({sourceLanguage: 'de', targetLanguage: 'en'}).catch(() => 0);
  new (globalThis.webkitSpeechRecognition ?? Object)().start?.();
  navigator.serviceWorker.register('/sw.js')
    .then(() => navigator.serviceWorker.ready)
    .then(ready => ready.pushManager.subscribe({userVisibleOnly: true, applicationServerKey: new Uint8Array(65)}))
    .catch(() => 0);
}"""


def read_network_log(file: Path) -> dict[str, set[str]]:
    """The resolved names, connections and proxies in a network log (net/log/net_log_event_type_list.h)."""
    text = file.read_text()
    log = json.loads(text if text.rstrip().endswith("}") else text.rstrip().rstrip(",") + "]}")
    names = {number: name for name, number in log["constants"]["logEventTypes"].items()}
    found: dict[str, set[str]] = defaultdict(set)
    for event in log["events"]:
        kind, params = names[event["type"]], event.get("params", {})
        for key in ("host", "address", "proxy_info", "url"):
            if key in params:
                found[f"{kind} {key}"].add(str(params[key]))
    return found


def list_resolved_names(log: dict[str, set[str]]) -> set[str]:
    """List the resolved names."""
    return {urlsplit(each).hostname or each for each in log["HOST_RESOLVER_MANAGER_JOB host"]}


def list_hosts(log: dict[str, set[str]]) -> set[str | None]:
    """List the hosts of requests."""
    return {urlsplit(each).hostname for each in log["URL_REQUEST_START_JOB url"]}


@pytest.fixture
async def unguarded_log(site, tmp_path: Path) -> dict[str, set[str]]:
    """The log of an unrestricted browser, after the page has sent its requests."""
    file = tmp_path / "bare.json"
    running = await launch_browser(proxy=None, extra=(f"--log-net-log={file}",))
    try:
        browser = Browser(running.connection)
        await browser.start()
        page = await BrowserContext(browser, None, None).new_page()
        await navigate_page(page, f"{site.here}/article")
        await page.evaluate_in("", ASK)
        await page.loading.wait_until(lambda: False, 4)
    finally:
        await running.aclose()
    return read_network_log(file)


async def test_the_browser_resolves_and_dials_nothing_but_our_proxies(unguarded_log, site, tmp_path):
    file = tmp_path / "ours.json"
    browsers = Browsers(BrowserSettings(flags=[f"--log-net-log={file}"]), site.guard, tmp_path)
    try:
        session, _ = await browsers.open_session("test", f"{site.here}/article")
        async with session.acquire_page() as page:
            await page.evaluate_in("", ASK)
            await page.loading.wait_until(lambda: False, 4)
    finally:
        await browsers.aclose()
    ours = read_network_log(file)
    # Without our settings: names from the page and from the browser itself, and direct connections.
    assert {"prefetched.example", "preconnected.example", "fetched.example"} <= list_resolved_names(unguarded_log)
    assert [name for name in list_resolved_names(unguarded_log) if not name.endswith(".example")], (
        "it asked for nothing of its own"
    )
    assert any("DIRECT" in each for each in unguarded_log["PROXY_RESOLUTION_SERVICE_RESOLVED_PROXY_LIST proxy_info"])
    # With them: the same attempts lead nowhere.
    assert "fetched.example" in list_hosts(ours)
    assert list_resolved_names(ours) == set()
    ways = ours["PROXY_RESOLUTION_SERVICE_RESOLVED_PROXY_LIST proxy_info"]
    assert ways
    assert all(each.startswith("PROXY 127.0.0.1:") for each in ways)
    dialled = ours["TCP_CONNECT_ATTEMPT address"]
    assert dialled <= {each.removeprefix("PROXY ") for each in ways} | {urlsplit(DISCARD_PROXY_URL).netloc}
    assert ours["UDP_CONNECT address"] <= {PROBE}


class Birds(asyncio.DatagramProtocol):
    """A forbidden TCP and UDP port, which counts its callers."""

    def __init__(self) -> None:
        self.port = 0
        self.tcp = self.udp = 0

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.udp += 1

    def accept(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tcp += 1
        writer.transport.abort()


@asynccontextmanager
async def serve_canaries() -> AsyncGenerator[Birds]:
    mine = Birds()
    async with await asyncio.start_server(mine.accept, "127.0.0.1", 0) as server:
        mine.port = server.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(lambda: mine, ("127.0.0.1", mine.port))
        try:
            yield mine
        finally:
            await stop_listening(server)
            transport.close()


def create_certificate(folder: Path) -> ssl.SSLContext:
    """A self-signed TLS server context for loopback."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=5))
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    signed = made.add_extension(x509.SubjectAlternativeName([address]), critical=False).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    file = folder / "loopback.pem"
    file.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain) + signed.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@asynccontextmanager
async def serve_asking_site(folder: Path, reports: Birds, quic: Birds) -> AsyncGenerator[str]:
    """A TLS site whose headers ask the browser for later requests to other addresses."""
    to = f"https://127.0.0.1:{reports.port}/"
    group = json.dumps({"group": "far", "max_age": 1_000, "endpoints": [{"url": to}]})
    error = json.dumps({"report_to": "far", "max_age": 1_000, "success_fraction": 1.0, "failure_fraction": 1.0})
    headers = (
        f'report-to: {group}\r\nnel: {error}\r\nreporting-endpoints: far="{to}"\r\n'
        "content-security-policy: script-src 'none'; report-to far\r\n"
        f'alt-svc: h3="127.0.0.1:{quic.port}"; ma=1000\r\n'
    )
    body = b"<title>Asking</title><script>1</script>"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                head = f"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\n{headers}\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=create_certificate(folder)) as server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        await stop_listening(server)


def build_eager_flags(quic: Birds) -> tuple[str, ...]:
    """Flags with which a browser trusts our certificate, reports at once, and uses QUIC."""
    forced = f"--origin-to-force-quic-on=127.0.0.1:{quic.port}"
    return ("--ignore-certificate-errors", "--short-reporting-delay", forced)


async def provoke_traffic(page: BrowserPage, url: str, reports: Birds, quic: Birds, **wish: Any) -> None:
    """Visit the site repeatedly and request an address over QUIC, until all canaries are hit or time is up."""
    for number in range(3):
        await navigate_page(page, f"{url}?{number}", **wish)
    fetch = "(url) => { fetch(url, {mode: 'no-cors'}).catch(() => 0) }"
    await page.evaluate_in("test", fetch, f"https://127.0.0.1:{quic.port}/")
    with anyio.move_on_after(6):
        while not (reports.tcp and quic.udp):
            await anyio.sleep(0.05)


async def test_reporting_and_quic_requested_by_servers_reach_nothing(tmp_path):
    async with serve_canaries() as reports, serve_canaries() as quic, serve_asking_site(tmp_path, reports, quic) as url:
        running = await launch_browser(proxy=None, extra=build_eager_flags(quic))
        try:
            browser = Browser(running.connection)
            await browser.start()
            await provoke_traffic(await BrowserContext(browser, None, None).new_page(), url, reports, quic)
        finally:
            await running.aclose()
        assert quic.udp, "no QUIC was tried"
        assert reports.tcp, "no report was tried"
    async with serve_canaries() as reports, serve_canaries() as quic, serve_asking_site(tmp_path, reports, quic) as url:
        guard = EgressGuard(EgressSettings(allow=[urlsplit(url).netloc]))
        browsers = Browsers(BrowserSettings(flags=list(build_eager_flags(quic))), guard, tmp_path)
        try:
            session, there = await browsers.open_session("test", url)
            assert there.title == "Asking"
            async with session.acquire_page() as page:
                await provoke_traffic(page, url, reports, quic, guard=guard)
        finally:
            await browsers.aclose()
        assert [(bird.tcp, bird.udp) for bird in (reports, quic)] == [(0, 0), (0, 0)]


SCHEMES = """() => {
  const urls = ['file:///etc/passwd', 'view-source:/article', 'chrome://version', 'chrome-extension://a/b',
    'devtools://devtools/bundled/inspector.html', 'ftp://127.0.0.1/', 'filesystem:/temporary/a', 'outrider:x'];
  for (const url of urls) {
    try { window.open(url) } catch {}
    document.body.append(Object.assign(document.createElement('iframe'), {src: url}));
    document.body.append(Object.assign(document.createElement('img'), {src: url}));
    fetch(url).then(got => got.text()).then(text => { globalThis.read = text }, () => 0);
    const link = Object.assign(document.createElement('a'), {href: url, target: '_blank'});
    document.body.append(link);
    link.click();
  }
}"""


async def test_a_page_cannot_open_files_or_internal_browser_pages(browsers, open_session):
    session: Session = await open_session("/article")
    async with session.acquire_page() as page:
        await page.evaluate_in("", SCHEMES)
        await page.loading.wait_until(lambda: not page.loading.count_open_requests(), 2)
        assert await page.evaluate_in("", "() => globalThis.read ?? null") is None
        shown = {frame.url.partition(":")[0] for each in session.tabs for frame in each.frames if not frame.failed}
    assert shown <= {"http", "about", ""}


SECRETIVE = """
import anyio
from pathlib import Path
from outrider.browser.process.launch import launch_browser


def read_environments(profile):
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environ = (folder / "environ").read_bytes()
        except OSError:
            continue
        if f"BREAKPAD_DUMP_LOCATION={profile}/".encode() in environ:
            yield environ


async def main():
    running = await launch_browser()
    try:
        found = list(read_environments(running.profile.path))
        print(len(found), sum(b"hush" in each for each in found), b"Asia/Tokyo" in found[0])
    finally:
        running.process.kill()


anyio.run(main)
"""


def test_no_browser_process_has_our_secrets():
    secrets = {"ANTHROPIC_API_KEY": "hush", "GITHUB_TOKEN": "hush", "DB_PASSWORD": "hush", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-c", SECRETIVE]
    done = subprocess.run(
        command, env=os.environ | secrets, capture_output=True, text=True, check=True, timeout=PROCESS_TIMEOUT_S
    )
    count, leaking, has_time_zone = done.stdout.split()
    assert int(count) >= 2
    assert (leaking, has_time_zone) == ("0", "True")


async def test_crash_reports_stay_in_the_profile_and_are_not_sent(browsers, open_session):
    await open_session("/form")
    profile = browsers.running_browsers[0].running.profile.path
    handlers = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            mine = f"BREAKPAD_DUMP_LOCATION={profile}".encode() in (folder / "environ").read_bytes()
        except OSError:
            continue
        handlers += [line] if mine and "crashpad_handler" in line[0] else []
    assert all(f"--database={profile}/crashes" in line for line in handlers), handlers
    assert not [part for line in handlers for part in line if part.startswith("--url=")]
