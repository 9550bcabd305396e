"""The agents that can be called: built-in ones, files and database rows."""

import time
import uuid
from contextlib import suppress
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
    """A file whose agent cannot be used, and the reason."""

    where: str
    message: str
    hint: str


class Catalogue:
    """Finds agents by name.

    A workspace's file may be untrusted: it may add an agent but not replace one, because it would inherit the
    permissions that people gave to the other agent.

    Args:
        home: The person's folder of agents (`~/.outrider/agents`).
        workspace: The workspace's folder of agents (`.outrider/agents`).
        database: Holds agents saved as rows; None for files only.
    """

    def __init__(self, home: Path, workspace: Path, database: Database | None = None) -> None:
        self.home = home
        self._workspace = workspace
        self._database = database
        self._parsed_files: dict[Path, tuple[tuple[int, int], Agent | AgentProblem]] = {}

    def load_files(self) -> dict[str, Agent]:
        """Return the agents in files by name.

        The person's files replace built-in agents; the workspace's files only add agents.
        """
        agents = {agent.name: agent for agent in self._load_folder(BUILTIN_AGENTS_DIR, "kind")}
        agents |= {agent.name: agent for agent in self._load_folder(self.home, "home")}
        return agents | {agent.name: agent for agent in self._load_workspace_agents() if agent.name not in agents}

    def describe_agents(self) -> dict[str, str]:
        """Return the description of each agent in a file, by name.

        The names are those of `load_files`, but built-in files are not parsed, because this runs at start-up.
        """
        builtin: dict[str, str] = {}
        for path in _list_agent_files(BUILTIN_AGENTS_DIR):
            lines = path.read_text(encoding="utf-8").splitlines()
            # Built-in files have their description on one line.
            builtin[path.stem] = next(
                line.removeprefix("description: ") for line in lines if line.startswith("description: ")
            )
        from_home = {agent.name: agent.description for agent in self._load_folder(self.home, "home")}
        from_workspace = {agent.name: agent.description for agent in self._load_workspace_agents()}
        return from_workspace | builtin | from_home

    def list_problems(self) -> list[AgentProblem]:
        """Return the problems of the person's and the workspace's files that cannot be used."""
        folders: tuple[tuple[Path, AgentOrigin], ...] = ((self.home, "home"), (self._workspace, "workspace"))
        entries = [self._load_file(path, origin) for folder, origin in folders for path in _list_agent_files(folder)]
        problems = [entry for entry in entries if isinstance(entry, AgentProblem)]
        taken_names = {path.stem for path in _list_agent_files(BUILTIN_AGENTS_DIR)}
        taken_names |= {agent.name for agent in self._load_folder(self.home, "home")}
        hint = "give it another name: a workspace agent may not replace another agent"
        return problems + [
            AgentProblem(str(self._workspace), f"agent {agent.name!r} exists already", hint)
            for agent in self._load_workspace_agents()
            if agent.name in taken_names
        ]

    async def load_rows(self, workspace: str | None = None) -> dict[str, Agent]:
        """Return the agents saved for everyone and for the workspace, by name."""
        if self._database is None:
            return {}
        from sqlalchemy import select

        from outrider.agents.tables import agents

        is_available = agents.c.workspace.in_({"", to_storable_text(workspace or "", 200)})
        query = select(agents.c.definition).where(is_available).order_by(agents.c.workspace, agents.c.name)
        async with self._database.read() as connection:
            definitions = list((await connection.execute(query)).scalars())
        found: dict[str, Agent] = {}
        for definition in definitions:
            name = str(definition.get("name"))
            with suppress(OutriderError):  # a newer version of Outrider may have saved fields unknown to this one
                found[name] = build_agent(definition | {"origin": "row"}, f"agent {name!r}")
        return found

    async def list_agents(self, workspace: str | None = None) -> dict[str, Agent]:
        """Return every agent by name; the person's files override rows, and rows override other files."""
        from_files = self.load_files()
        from_home = {name: agent for name, agent in from_files.items() if agent.origin == "home"}
        return from_files | await self.load_rows(workspace) | from_home

    async def get(self, name: str, workspace: str | None = None) -> Agent:
        """Return the agent of that name.

        Raises NotFound with the most similar names, and NotConfigured if the agent's file is broken.
        """
        agents = await self.list_agents(workspace)
        if name in agents:
            return agents[name]
        if problem := self._find_problem(name):
            raise NotConfigured(f"agent {name!r}: {problem.message}", hint=problem.hint, code="broken_agent")
        similar = get_close_matches(name, agents, n=3)
        hint = f"did you mean {' or '.join(similar)}?" if similar else f"the agents are {', '.join(sorted(agents))}"
        raise NotFound(f"agent {name!r} does not exist", hint=hint, code="unknown_agent")

    def _find_problem(self, name: str) -> AgentProblem | None:
        """Return the problem of the file of that name, if it exists and is broken."""
        folders: tuple[tuple[Path, AgentOrigin], ...] = (
            (BUILTIN_AGENTS_DIR, "kind"),
            (self.home, "home"),
            (self._workspace, "workspace"),
        )
        for folder, origin in folders:
            for path in _list_agent_files(folder):
                if path.stem == name and isinstance(entry := self._load_file(path, origin), AgentProblem):
                    return entry
        return None

    def add(self, agent: Agent) -> Path:
        """Write the agent to the person's folder. Raises InvalidInput if the file exists."""
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
        """Save the agent as a row; replace the row of the same name and workspace."""
        from outrider.agents.tables import agents

        assert self._database is not None
        now = time.time()
        definition = agent.model_dump(mode="json", exclude={"origin", "place"}, exclude_defaults=True)
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
        if self._workspace.resolve() == self.home.resolve():
            return []
        return self._load_folder(self._workspace, "workspace")

    def _load_folder(self, folder: Path, origin: AgentOrigin) -> list[Agent]:
        entries = [self._load_file(path, origin) for path in _list_agent_files(folder)]
        return [entry for entry in entries if isinstance(entry, Agent)]

    def _load_file(self, path: Path, origin: AgentOrigin) -> Agent | AgentProblem:
        """Return the agent in a file; parse the file only when it has changed."""
        try:
            stat = path.stat()
        except OSError as error:
            return AgentProblem(str(path), f"{path} cannot be read: {error.strerror}", "")
        version = stat.st_mtime_ns, stat.st_size
        if path not in self._parsed_files or self._parsed_files[path][0] != version:
            entry: Agent | AgentProblem
            try:
                entry = read_agent(path, origin)
            except OutriderError as error:
                entry = AgentProblem(str(path), error.message, error.hint)
            self._parsed_files[path] = version, entry
        return self._parsed_files[path][1]


def _list_agent_files(folder: Path) -> list[Path]:
    max_files = 200
    try:
        return sorted(path for path in folder.glob(f"*{AGENT_FILE_SUFFIX}") if path.is_file())[:max_files]
    except OSError:
        return []
