"""JupyterLab of PyPI; its notebooks are files."""

import json
import os
import re
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_python
from tests.apps.person import Person
from tests.apps.servers import find_port, run_server

REQUIREMENTS = ("jupyterlab==4.6.6", "ipykernel==7.4.0")
CELLS = ("a = 20", "print(a * 2 + 2)")


def install() -> Path:
    return install_python("jupyter", *REQUIREMENTS)


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    programs, work, token = install(), folder / "work", secrets.token_urlsafe(12)
    work.mkdir()
    (work / "sums.ipynb").write_text(json.dumps(build_notebook(*CELLS)))
    (work / "notes.txt").write_text("first line\n")
    (work / "people.csv").write_text("name,age\nAda,36\nBob,41\n")
    url = f"http://127.0.0.1:{(port := find_port())}"
    flags = [f"--port={port}", "--no-browser", "--allow-root", f"--ServerApp.root_dir={work}", "--ip=127.0.0.1"]
    command = [programs / "jupyter", "lab", *flags, f"--IdentityProvider.token={token}", "--debug"]
    folders = {name: str(folder / name) for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    environ = {**os.environ, **folders, "JUPYTER_CONFIG_DIR": str(folder), "JUPYTER_PREFER_ENV_PATH": "1"}
    environ |= {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder)}
    with run_server(command, f"{url}/login", folder=folder, environ=environ):
        yield Site(url, work, password=token)


def build_notebook(*sources: str) -> dict[str, object]:
    cells = [
        {
            "cell_type": "code",
            "id": f"cell{n}",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for n, source in enumerate(sources)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def read_outputs(file: Path) -> str:
    cells = json.loads(file.read_text())["cells"]
    return json.dumps([cell.get("outputs") for cell in cells])


def read_sources(file: Path) -> str:
    return "\n---\n".join("".join(cell["source"]) for cell in json.loads(file.read_text())["cells"])


application = Application("JupyterLab", install, serve)


@application.task("sign in with the token")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/lab")
    await person.type(re.compile("Password or token"), site.password)
    await person.click("Log in", "button")
    await person.read("sums.ipynb")
    return True


@application.task("open a notebook from the list, run all cells and save")
async def run_all(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/lab")
    await person.double_click(re.compile("sums.ipynb"))
    await person.read("| Idle")  # JupyterLab runs nothing while it is connecting to the kernel
    await person.click("Run")
    await person.click(re.compile("^Run All Cells"))
    await person.read("42")
    await person.click("File")
    await person.click(re.compile("^Save Notebook"))
    return await becomes(lambda: "42" in read_outputs(site.folder / "sums.ipynb"))


@application.task("rename a file by its menu")
async def rename(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/lab?reset")
    await person.click(re.compile("notes.txt"))
    await person.press("F2")
    await person.press("Ctrl+A")
    await person.press("j", "o", "u", "r", "n", "a", "l", ".", "t", "x", "t", "Enter")
    return await becomes((site.folder / "journal.txt").exists)


@application.task("edit a text file and save it")
async def edit_text(person: Person, site: Site) -> bool:
    file = site.folder / "todo.md"
    file.write_text("- one\n")
    await person.open(f"{site.url}/lab?reset")
    await person.double_click(re.compile("todo.md"))
    await person.read("- one")
    await person.rewrite("- one", "- one\n- two")
    await person.press("Ctrl+S")
    return await becomes(lambda: file.read_text().strip() == "- one\n- two")


@application.task("make a folder")
async def new_folder(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/lab?reset")
    await person.read("people.csv")  # while the list is loading, the new field loses the focus
    await person.click("New Folder", "button")
    await person.read("Untitled Folder")
    await person.press("d", "a", "t", "a", "Enter")
    return await becomes((site.folder / "data").is_dir)


@application.task("delete a file and confirm")
async def delete(person: Person, site: Site) -> bool:
    (site.folder / "old.txt").write_text("old")
    await person.open(f"{site.url}/lab?reset")
    await person.click(re.compile("old.txt"))
    await person.press("Delete")
    await person.click(re.compile("^(Delete|Move to Trash)$"), "button")
    return await becomes(lambda: not (site.folder / "old.txt").exists())


@application.task("read a table of a CSV file")
async def read_csv(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/lab?reset")
    await person.double_click(re.compile("people.csv"))
    outline = await person.read("Delimiter")
    return "Delimiter" in outline.text


@application.task("restart the kernel of a notebook and run all cells")
async def restart(person: Person, site: Site) -> bool:
    (site.folder / "again.ipynb").write_text(json.dumps(build_notebook("b = 5", "print(b * 11)")))
    await person.open(f"{site.url}/lab?reset")
    await person.double_click(re.compile("again.ipynb"))
    await person.read("| Idle")
    await person.click("Kernel", "menuitem")
    await person.click(re.compile("^Restart Kernel and Run All"), "menuitem")
    await person.click(re.compile("^(Confirm Kernel )?Restart$"), "button")
    await person.read("55")
    await person.press("Ctrl+S")
    return await becomes(lambda: "55" in read_outputs(site.folder / "again.ipynb"))


@application.task("convert a notebook to Markdown")
async def convert(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/lab/tree/sums.ipynb?reset")
    await person.read("print(a * 2 + 2)")
    await person.click("File", "menuitem")
    await person.click(re.compile("^Save and Export Notebook As"))
    await person.click("Markdown")
    log = site.folder.parent / "server.log"
    return await becomes(lambda: re.search(r"200 GET /nbconvert/markdown/sums\.ipynb", log.read_text()) is not None)
