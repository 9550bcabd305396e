"""Run commands as a person at a terminal does, in a separate home folder."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

import anyio

from support.apps.shared_process import HostUser
from support.processes import outrider_command


@dataclass(frozen=True)
class Terminal:
    """A person at a terminal, and the site that they may open."""

    user: HostUser
    site_url: str
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        return (
            self.user.host_environ | self.settings | {"OUTRIDER_EGRESS__ALLOW": self.site_url.removeprefix("http://")}
        )

    async def run(self, *words: str, text: str = "", folder: str = "project") -> CompletedProcess[bytes]:
        """Run a command in a folder, with a text as standard input."""
        cwd = self.user.home / folder
        cwd.mkdir(exist_ok=True)
        command = outrider_command.build_command(*words)
        return await anyio.run_process(command, env=self.environ, cwd=cwd, input=text.encode(), check=False)

    async def read(self, *words: str, text: str = "", folder: str = "project") -> str:
        """Run a command that must succeed, and return its output."""
        ended = await self.run(*words, text=text, folder=folder)
        assert ended.returncode == 0, ended.stderr.decode()
        return ended.stdout.decode()

    def install_program(self, folder: Path) -> dict[str, str]:
        """Write a program `outrider` into a folder; return the environment in which a shell finds it."""
        folder.mkdir()
        program = folder / "outrider"
        program.write_text(f'#!/bin/sh\nexec {shlex.join(outrider_command.build_command())} "$@"\n')
        program.chmod(0o755)
        return self.environ | {"PATH": f"{folder}:{self.environ['PATH']}"}
