"""Secrets of flows are typed in the right places, and never stored or reported."""

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

from support.apps import loopback_app
from support.fakes import http_servers
from support.results import read_error
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
PIN, PASSWORD = "o'pen & Sésame <42>", "swordfish-77"
SITE = """<title>Vault</title><h1>Vault</h1><label>Nickname <input name=nick></label>
<label>Word <input name=word></label>
<button onclick="document.querySelector('p').textContent = 'Welcome'">Enter</button><p></p>"""
FRAMED = """<label>Key <input name=key></label>
<button onclick="done.textContent = 'Unlocked'">Unlock</button><p id=done role=status></p>"""
ECHO = "<title>Echo</title><h1>Echo</h1><p id=echo></p><script>echo.textContent = location.search</script>"


@dataclass
class Vault:
    """A client, its project, and all answers that it got."""

    client: Client
    url: str
    folder: Path
    answers: list[str] = field(default_factory=list)

    def write(self, name: str, steps: str, more: str = "", origins: str = "") -> None:
        file = self.folder / ".outrider" / "flows" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        head = f"flow: 1\nname: {name}\norigins: [{origins or self.url}]\n{more}"
        file.write_text(f"{head}steps:\n{steps}".replace("SITE", self.url))

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
            result = await self.client.call_tool(tool, arguments)
        self.answers.append(json.dumps(result.model_dump(mode="json"), ensure_ascii=False))
        return result

    def list_places_of(self, *secrets: str) -> list[str]:
        """The files and answers that contain a secret, plain or as encoded in addresses and JSON."""
        forms = {form for each in secrets for form in (each, json.dumps(each)[1:-1])}
        files = [path for path in self.folder.rglob("*") if path.is_file() and path.parent.name != "flow-secrets"]
        texts = {str(path): path.read_bytes().replace(b"\0", b"").decode("utf-8", "replace") for path in files}
        texts |= {f"answer {number}": text for number, text in enumerate(self.answers)}
        return [name for name, text in texts.items() if any(form in text + unquote_plus(text) for form in forms)]


@pytest.fixture
async def vault(tmp_path: Path) -> AsyncGenerator[Vault]:
    site = loopback_app.build_page_site({"/": SITE, "/echo": ECHO})
    with chdir(tmp_path):
        async with (
            loopback_app.open_loopback_app(tmp_path, site, more={"toolsets": ["browser", "flows"]}) as service,
            Client(service.app.build_server()) as client,
        ):
            yield Vault(client, service.site_url, tmp_path)


def store_secret(vault: Vault, name: str, text: str) -> None:
    folder = vault.folder / ".outrider" / "flow-secrets"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


async def test_secret_parameters_are_never_stored_and_a_resumed_run_asks_for_them_again(
    vault: Vault, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG, "outrider")
    store_secret(vault, "OUTRIDER_FLOW_PASSWORD", PASSWORD)
    steps = (
        "  - open: SITE/\n  - fill: Nickname\n    text: ${nick}\n  - fill: Word\n    text: ${word}\n"
        "  - click: Enter\n    expect: {text: Welcome}\n  - extract: {page: true, columns: {title: {selector: h1}}}\n"
        '  - wait: {text: "${word} is gone", seconds: 0.1}\n  - open: "SITE/echo?${word}"\n'
    )
    vault.write("enter", steps, "parameters: {nick: {}, word: {secret: true}}\n")
    stopped = read_error(first := await vault.call("runFlow", name="enter", parameters={"nick": PASSWORD, "word": PIN}))
    session, run = stopped["details"]["sessionId"], stopped["details"]["runId"]
    shown = await vault.call("snapshotPage", sessionId=session)
    asked = read_error(await vault.call("resumeFlow", runId=run, fromStep=7))
    other = read_error(await vault.call("resumeFlow", runId=run, parameters={"word": PIN, "new": "x"}))
    ended = await vault.call("resumeFlow", runId=run, fromStep=7, parameters={"word": PIN})
    await vault.call("listFlowRuns")
    echo = (
        '  - open: "SITE/echo?${word}"\n  - extract: {page: true, columns: {shown: {selector: "#echo"}}, file: e.csv}\n'
    )
    vault.write("echo", f"{echo}  - wait: {{gone: Sésame, seconds: 0.1}}\n", "parameters: {word: {secret: true}}\n")
    shows_it = await vault.call("runFlow", name="echo", parameters={"word": PIN}, keepOpen=False)
    vault.write("echo", echo, "parameters: {word: {secret: true}}\n")
    echoed = await vault.call("runFlow", name="echo", parameters={"word": PIN})
    vault.write("wrong", '  - extract: {table: "${word}", columns: {a: A}}\n', "parameters: {word: {secret: true}}\n")
    await vault.call("runFlow", name="wrong", parameters={"word": PIN}, waitSeconds=0)
    await vault.call("runFlow", name="wrong", parameters={"word": [PIN]})
    assert stopped["code"] == "check_failed"
    assert "[secret word] is gone" in stopped["message"]
    # Fields show dots; a page that repeats a secret has no picture.
    assert [first.structured_content.get("picture"), shows_it.structured_content.get("picture")] == [
        f"flows/runs/{run}/picture",
        None,
    ]
    assert str(shown.content).count("(hidden)") == 2
    assert asked["code"] == "secret_needed"
    assert "parameters: new is already stored" in other["message"]
    assert ended.structured_content["ok"], ended.content
    assert "[secret word]" in str(echoed.structured_content["data"]), echoed.content
    assert vault.list_places_of(PIN, PASSWORD) == []
    assert PIN not in caplog.text
    assert PASSWORD not in caplog.text


async def test_values_from_the_secret_store_are_saved_as_secrets_wherever_typed(vault: Vault):
    store_secret(vault, "OUTRIDER_FLOW_SHOP", PASSWORD)
    store_secret(vault, "bank", "12-sesame-34")
    opened = await vault.call("createSession", url=f"{vault.url}/?{PASSWORD}")
    session = opened.structured_content["sessionId"]
    for name, text in (("nick", PASSWORD), ("word", "12-sesame-34")):
        await vault.call("inputText", sessionId=session, selector=f"[name={name}]", text=text)
    await vault.call("clickElement", sessionId=session, selector="button=Enter")
    vault.answers.clear()  # the caller knows what it typed; what is saved must not
    saved = await vault.call("saveFlow", name="typed", sessionId=session)
    text = (vault.folder / ".outrider/flows/typed.yaml").read_text()
    ran = await vault.call("runFlow", name="typed")
    assert saved.structured_content["parameters"] == []
    assert "env: OUTRIDER_FLOW_SHOP" in text
    assert "file: bank" in text
    assert "/?[removed]" in text
    assert ran.structured_content["ok"], ran.content
    flows = list((vault.folder / ".outrider" / "flows").iterdir())
    assert not [file for file in flows if PASSWORD in file.read_text() or "12-sesame-34" in file.read_text()]
    assert not [answer for answer in vault.answers if PASSWORD in answer or "12-sesame-34" in answer]


async def require_recording_of_frame(vault: Vault, frame_url: str) -> None:
    """The flow opens the page around the frame, expects the text in the frame, and can be repeated."""
    (vault.folder / ".outrider/flow-secrets/OUTRIDER_FLOW_KEY.sites").unlink()
    session = (await vault.call("createSession", url=vault.url)).structured_content["sessionId"]
    mark = (await vault.call("saveFlow", name="mark", sessionId=session)).structured_content["lastAction"]
    await vault.call("inputText", sessionId=session, selector="[name=key]", text=PASSWORD)
    vault.answers.clear()  # the caller knows what it typed; what is saved must not
    await vault.call("clickElement", sessionId=session, selector="button=Unlock")
    await vault.call("saveFlow", name="recorded", sessionId=session, since=mark)
    text = (vault.folder / ".outrider/flows/recorded.yaml").read_text()
    again = await vault.call("runFlow", name="recorded")
    assert text.count("open:") == text.count(f"- open: {vault.url}/\n") == 1
    assert f"origins:\n  - {vault.url}\n  - {frame_url}\n" in text
    assert (text.count("url: /"), text.count("text: Unlocked")) == (1, 2)
    assert again.structured_content["ok"], again.content


async def test_a_stored_secret_is_typed_only_on_its_own_sites(vault: Vault):
    other_site = loopback_app.build_page_site({"/inside": FRAMED})
    async with http_servers.serve_app(other_site) as frame_url:
        address = frame_url.removeprefix("http://")
        outer = loopback_app.build_page_site({"/": f"<h1>Outer</h1><iframe src={frame_url}/inside></iframe>"})
        async with http_servers.serve_app(outer) as outer_url:
            allowed = [address, outer_url.removeprefix("http://")]
            more = {"toolsets": ["browser", "flows"], "egress": {"allow": allowed}}
            folder = vault.folder / "second"
            folder.mkdir()
            async with (
                loopback_app.open_loopback_app(folder, None, more=more) as service,
                Client(service.app.build_server()) as client,
            ):
                second = Vault(client, outer_url, folder)
                store_secret(second, "OUTRIDER_FLOW_KEY", PASSWORD)
                steps = "  - open: SITE/\n  - fill: Key\n    secret: key\n"
                secrets = "secrets: {key: {env: OUTRIDER_FLOW_KEY}}\n"
                second.write("frame", steps, secrets)
                framed = read_error(await second.call("runFlow", name="frame", keepOpen=False))
                second.write("frame", steps, secrets, f"SITE, {frame_url}")
                named = await second.call("runFlow", name="frame")
                narrow = "secrets: {key: {env: OUTRIDER_FLOW_KEY, origins: [SITE]}}\n"
                second.write("frame", steps, narrow, f"SITE, {frame_url}")
                narrowed = read_error(await second.call("runFlow", name="frame", keepOpen=False))
                store_secret(second, "OUTRIDER_FLOW_KEY.sites", "https://shop.example\n")
                bound = read_error(await second.call("runFlow", name="frame"))
                await require_recording_of_frame(second, frame_url)
                places = second.list_places_of(PASSWORD)
    assert [each["code"] for each in (framed, narrowed, bound)] == ["origin_refused", "origin_refused", "secret_bound"]
    assert "is in a frame of" in framed["message"]
    assert named.structured_content["ok"]
    assert places == []
