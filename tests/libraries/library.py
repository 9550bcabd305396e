"""Install and bundle the page of a component library, and declare its tasks."""

import importlib
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.apps.bed import Application, Site, TaskScript, becomes
from tests.apps.install import NotInstallableError
from tests.apps.person import Person
from tests.libraries.page_site import PageServer, serve_page

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / ".cache" / "libraries"
LOOK_TIMEOUT_S, TOLD_TIMEOUT_S = 8.0, 4.0
PageScript = Callable[[Person], Awaitable[object]]


@dataclass
class Library:
    """A library's page and tasks.

    Attributes:
        application: The application that the runner uses.
    """

    name: str
    folder: str
    application: Application = field(init=False)

    def __post_init__(self) -> None:
        self.application = Application(self.name, partial(bundle, self.folder), self._serve)

    def task(self, title: str, **held: Any) -> Callable[[PageScript], PageScript]:
        """Declare a task on the freshly opened page; it is done when the page reports the values `held`."""

        def keep(script: PageScript) -> PageScript:
            self.application.tasks[title] = _check_by_page(script, held)
            return script

        return keep

    def serve(self) -> AbstractContextManager[PageServer]:
        """Serve the bundled page."""
        return serve_page(self.name, FOLDER / self.folder)

    @contextmanager
    def _serve(self, folder: Path) -> Generator[Site]:
        with self.serve() as server:
            yield Site(server.url, folder, tools={"server": server})


def find_libraries() -> dict[str, Library]:
    """Return the libraries by the names of their folders."""
    names = sorted(path.parent.name for path in HERE.glob("*/tasks.py"))
    return {name: importlib.import_module(f"tests.libraries.{name}.tasks").library for name in names}


def _check_by_page(script: PageScript, held: dict[str, Any]) -> TaskScript:
    async def play(person: Person, site: Site) -> bool:
        person.look_timeout_s = LOOK_TIMEOUT_S
        await person.open(site.url)
        await script(person)
        return await becomes(lambda: site.tools["server"].told.items() >= held.items(), TOLD_TIMEOUT_S)

    return play


def bundle(folder: str) -> Path:
    """Return the folder of a library's page; bundle it again if its sources have changed."""
    install_packages()
    source, target = HERE / folder, FOLDER / folder
    if not _is_bundled(source, target):
        shutil.rmtree(target / "dist", ignore_errors=True)
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.py", "__pycache__"), dirs_exist_ok=True)
        command = ["node", FOLDER / "bundle.mjs", target]
        subprocess.run(command, cwd=FOLDER, check=True, stdout=sys.stderr)
    return target


def install_packages() -> None:
    """Install the packages of all libraries once, in the versions of the lock.

    Raises:
        NotInstallableError: there is no npm.
    """
    if (npm := shutil.which("npm")) is None:
        raise NotInstallableError("npm is missing on this machine")
    shutil.copytree(HERE, FOLDER, ignore=shutil.ignore_patterns("*.py", "__pycache__", "page*"), dirs_exist_ok=True)
    lock, done = HERE / "package-lock.json", FOLDER / "node_modules" / ".installed"
    if not done.exists() or done.read_bytes() != lock.read_bytes():
        flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([npm, "install", *flags], cwd=FOLDER, check=True, stdout=sys.stderr)
        shutil.copy(lock, done)


def _is_bundled(source: Path, target: Path) -> bool:
    page = target / "dist" / "page.js"
    sources = [path for path in source.iterdir() if path.suffix != ".py" and path.is_file()]
    return page.exists() and all(
        (target / path.name).exists() and path.read_bytes() == (target / path.name).read_bytes() for path in sources
    )
