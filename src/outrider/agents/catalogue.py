"""All agents that can be called here: those that ship, files of the person and of the workspace, and rows."""

import time
import uuid
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from outrider.agents.definition import Agent, AgentOrigin, build_agent, read_agent, render_agent
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError

BUILTIN_AGENTS_DIR = Path(__file__).parent / "kinds"
AGENT_FILE_SUFFIX = ".md"


@dataclass(frozen=True)
class AgentProblem:
    """An agent that cannot be used, and why."""

    where: str
    message: str
    hint: str


class Catalogue:
    """Finds agents by name.

    A workspace's file is somebody else's text: it may add an agent, never take the name of one that is there, because
    what people once allowed that one would then be allowed to this.

    Args:
        home: The person's folder of agents (`~/.outrider/agents`).
        workspace: The workspace's (`.outrider/agents`).
        database: Where rows are; None for files alone.
    """

    def __init__(self, home: Path, workspace: Path, database: Database | None = None) -> None:
        self.home = home
        self._workspace = workspace
        self._database = database
        self._parsed_files: dict[Path, tuple[tuple[int, int], Agent | AgentProblem]] = {}

    def load_files(self) -> dict[str, Agent]:
        """The agents of files by name: shipped ones, then the person's (which replace them), then the workspace's."""
        found = {agent.name: agent for agent in self._load_folder(BUILTIN_AGENTS_DIR, "kind")}
        found |= {agent.name: agent for agent in self._load_folder(self.home, "home")}
        return found | {agent.name: agent for agent in self._load_workspace_agents() if agent.name not in found}

    def describe_agents(self) -> dict[str, str]:
        """What each agent of a file is for, by name, as `files` would say: but where nobody has written an agent, no
        file is parsed, because tools are listed at the start.
        """
        shipped = dict(map(_read_description, _list_agent_files(BUILTIN_AGENTS_DIR)))
        own = {agent.name: agent.description for agent in self._load_folder(self.home, "home")}
        strangers = {agent.name: agent.description for agent in self._load_workspace_agents()}
        return strangers | shipped | own

    def list_problems(self) -> list[AgentProblem]:
        """What is wrong with files that are left out; those that ship are not."""
        folders: tuple[tuple[Path, AgentOrigin], ...] = ((self.home, "home"), (self._workspace, "workspace"))
        read = [self._load_file(path, origin) for folder, origin in folders for path in _list_agent_files(folder)]
        broken = [each for each in read if isinstance(each, AgentProblem)]
        ours = {path.stem for path in _list_agent_files(BUILTIN_AGENTS_DIR)} | {
            agent.name for agent in self._load_folder(self.home, "home")
        }
        taken = [agent.name for agent in self._load_workspace_agents() if agent.name in ours]
        hint = "give it another name: a workspace may not replace an agent"
        return broken + [AgentProblem(str(self._workspace), f"agent {name!r} exists already", hint) for name in taken]

    async def load_rows(self, workspace: str | None = None) -> dict[str, Agent]:
        """The agents of rows by name: those for everybody, and those of the workspace."""
        if self._database is None:
            return {}
        from sqlalchemy import select

        from outrider.agents.tables import agents

        wanted = agents.c.workspace.in_({"", to_storable_text(workspace or "", 200)})
        async with self._database.read() as connection:
            found = await connection.execute(select(agents).where(wanted).order_by(agents.c.workspace, agents.c.name))
            definitions = [row["definition"] for row in found.mappings()]
        return {name: agent for name, agent in map(_parse_definition, definitions) if agent is not None}

    async def list_agents(self, workspace: str | None = None) -> dict[str, Agent]:
        """Every agent by name; rows stand before files of the same name, but for the person's own."""
        files = self.load_files()
        own = {name: agent for name, agent in files.items() if agent.origin == "home"}
        return files | await self.load_rows(workspace) | own

    async def get(self, name: str, workspace: str | None = None) -> Agent:
        """The agent of that name. Raises NotFound with the nearest names."""
        found = await self.list_agents(workspace)
        if name in found:
            return found[name]
        if broken := self._find_broken_file(name):
            raise NotConfigured(f"agent {name!r}: {broken.message}", hint=broken.hint, code="broken_agent")
        close = get_close_matches(name, found, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"the agents are {', '.join(sorted(found))}"
        raise NotFound(f"no agent {name!r}", hint=hint, code="unknown_agent")

    def _find_broken_file(self, name: str) -> AgentProblem | None:
        """What is wrong with the file of that name, if there is one."""
        folders: tuple[tuple[Path, AgentOrigin], ...] = (
            (BUILTIN_AGENTS_DIR, "kind"),
            (self.home, "home"),
            (self._workspace, "workspace"),
        )
        paths = [
            (path, origin) for folder, origin in folders for path in _list_agent_files(folder) if path.stem == name
        ]
        entries = (self._load_file(path, origin) for path, origin in paths)
        return next((each for each in entries if isinstance(each, AgentProblem)), None)

    def add(self, agent: Agent) -> Path:
        """Writes the agent into the person's folder. Raises InvalidInput if there is one of that name."""
        path = self.home / f"{agent.name.replace(' ', '_')}{AGENT_FILE_SUFFIX}"
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(render_agent(agent))
        except FileExistsError:
            hint = "edit that file, or give the agent another name"
            raise InvalidInput(f"name: {path} exists already", hint=hint, code="agent_exists") from None
        return path

    async def save(self, agent: Agent, workspace: str | None = None) -> None:
        """Keeps the agent as a row, in the place of one of the same name and workspace."""
        from outrider.agents.tables import agents

        assert self._database is not None
        now = time.time()
        definition = agent.model_dump(mode="json", exclude={"origin"}, exclude_defaults=True)
        row = {
            "id": f"agt_{uuid.uuid4().hex}",
            "workspace": to_storable_text(workspace or "", 200),
            "name": agent.name,
            "definition": definition,
            "created_at": now,
            "updated_at": now,
        }
        insert = self._database.build_insert(agents).values(row)
        changed = {"definition": definition, "updated_at": now}
        async with self._database.write() as connection:
            await connection.execute(insert.on_conflict_do_update(index_elements=["workspace", "name"], set_=changed))

    def _load_workspace_agents(self) -> list[Agent]:
        return (
            self._load_folder(self._workspace, "workspace") if self._workspace.resolve() != self.home.resolve() else []
        )

    def _load_folder(self, folder: Path, origin: AgentOrigin) -> list[Agent]:
        read = [self._load_file(path, origin) for path in _list_agent_files(folder)]
        return [each for each in read if isinstance(each, Agent)]

    def _load_file(self, path: Path, origin: AgentOrigin) -> Agent | AgentProblem:
        """The agent in a file; read again only when the file has changed."""
        try:
            seen = path.stat()
        except OSError as error:
            return AgentProblem(str(path), f"{path} cannot be read: {error.strerror}", "")
        mark = seen.st_mtime_ns, seen.st_size
        if path not in self._parsed_files or self._parsed_files[path][0] != mark:
            self._parsed_files[path] = mark, _agent(path, origin)
        return self._parsed_files[path][1]


def _read_description(path: Path) -> tuple[str, str]:
    """Name and description of an agent that ships: our own files have the description on one line."""
    prefix = "description: "
    lines = path.read_text(encoding="utf-8").splitlines()
    return path.stem, next(line for line in lines if line.startswith(prefix)).removeprefix(prefix)


def _list_agent_files(folder: Path) -> list[Path]:
    max_files = 200  # files of one folder that are read
    try:
        return sorted(path for path in folder.glob(f"*{AGENT_FILE_SUFFIX}") if path.is_file())[:max_files]
    except OSError:
        return []


def _agent(path: Path, origin: AgentOrigin) -> Agent | AgentProblem:
    try:
        return read_agent(path, origin)
    except OutriderError as error:
        return AgentProblem(str(path), error.message, error.hint)


def _parse_definition(definition: dict[str, object]) -> tuple[str, Agent | None]:
    """The agent of a row; None for one that another version wrote and this one does not understand."""
    name = str(definition.get("name"))
    try:
        return name, build_agent(definition | {"origin": "row"}, f"agent {name!r}")
    except OutriderError:
        return name, None
