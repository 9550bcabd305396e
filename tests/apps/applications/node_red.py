"""Node-RED of npm; its flows are a file, and they run."""

import json
import re
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_node
from tests.apps.person import Person
from tests.apps.servers import find_port, run_server

STARTING_FLOW = [
    {"id": "tab1", "type": "tab", "label": "Orders", "disabled": False, "info": ""},
    {
        "id": "in1",
        "type": "http in",
        "z": "tab1",
        "name": "",
        "url": "/hello",
        "method": "get",
        "x": 140,
        "y": 80,
        "wires": [["t1"]],
    },
    {
        "id": "t1",
        "type": "template",
        "z": "tab1",
        "name": "greeting",
        "field": "payload",
        "fieldType": "msg",
        "format": "text",
        "syntax": "mustache",
        "template": "good morning",
        "output": "str",
        "x": 340,
        "y": 80,
        "wires": [["out1"]],
    },
    {
        "id": "out1",
        "type": "http response",
        "z": "tab1",
        "name": "answer",
        "statusCode": "",
        "headers": {},
        "x": 540,
        "y": 80,
        "wires": [],
    },
]


def install() -> Path:
    return install_node("node-red", "node-red@4.1.8")


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    modules, url = install(), f"http://127.0.0.1:{(port := find_port())}"
    (folder / "flows.json").write_text(json.dumps(STARTING_FLOW))
    (folder / "settings.js").write_text(
        "module.exports = {flowFile: 'flows.json', uiHost: '127.0.0.1', telemetry: {enabled: false},"
        " editorTheme: {tours: false, welcome: false}, logging: {console: {level: 'info'}}};"
    )
    command = [
        "node",
        modules / "node-red/red.js",
        "--userDir",
        folder,
        "--settings",
        folder / "settings.js",
        "-p",
        str(port),
    ]
    with run_server(command, url, folder=folder):
        yield Site(url, folder)


def read_nodes(site: Site) -> list[dict[str, Any]]:
    return json.loads((site.folder / "flows.json").read_text())


def fetch(site: Site, path: str) -> str:
    with urllib.request.urlopen(f"{site.url}{path}", timeout=10) as answer:
        return answer.read().decode()


GREETING = re.compile("greeting|salute")
application = Application("Node-RED", install, serve)


async def open_flows(person: Person, site: Site) -> None:
    await person.open(site.url)
    await person.read("answer")


async def deploy(person: Person) -> None:
    await person.click("Deploy")


@application.task("open the editor")
async def open_editor(person: Person, site: Site) -> bool:
    await open_flows(person, site)
    return fetch(site, "/hello") == "good morning"


@application.task("change the text of a node and deploy")
async def change_template(person: Person, site: Site) -> bool:
    await open_flows(person, site)
    await person.double_click(GREETING)
    await person.type("Editor content", "good evening")
    await person.click("Done", "button")
    await deploy(person)
    return await becomes(lambda: fetch(site, "/hello") == "good evening")


@application.task("rename a node and deploy")
async def rename(person: Person, site: Site) -> bool:
    await open_flows(person, site)
    await person.double_click(GREETING)
    await person.type(re.compile("Name"), "salute")
    await person.click("Done", "button")
    await deploy(person)
    return await becomes(lambda: any(node.get("name") == "salute" for node in read_nodes(site)))


@application.task("add a flow and deploy")
async def add_flow(person: Person, site: Site) -> bool:
    await open_flows(person, site)
    await person.click(re.compile("plus"))
    await deploy(person)
    return await becomes(lambda: sum(node["type"] == "tab" for node in read_nodes(site)) == 2)


@application.task("drag a node from the palette and deploy")
async def add_node(person: Person, site: Site) -> bool:
    await open_flows(person, site)
    await person.drag(re.compile("^debug"), re.compile("answer"))
    await deploy(person)
    return await becomes(lambda: any(node["type"] == "debug" for node in read_nodes(site)))
