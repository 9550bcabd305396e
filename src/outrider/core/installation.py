"""Detect how Outrider was installed.

Remedies are then commands that work there.
"""

import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

InstallMethod = Literal["uvx", "uv tool", "pipx", "checkout", "pip"]
EXTRAS = re.compile(r"outrider\[([\w, .-]+)\]")


@dataclass(frozen=True)
class Installation:
    """How the running Outrider was installed.

    Attributes:
        method: The installer; `pip` if it is unknown.
        has_uv: Whether uv made its environment, which then may have no pip.
        extras: The extras that a reinstallation must name again, or they would be lost.
    """

    method: InstallMethod
    has_uv: bool = False
    extras: tuple[str, ...] = ()

    def suggest_extra(self, extra: str) -> str:
        """Return the command that adds an extra of Outrider."""
        requirement = f"'outrider[{','.join(sorted({*self.extras, extra}))}]'"
        pip = "uv pip" if self.has_uv else "pip"
        commands: dict[InstallMethod, str] = {
            "uvx": f"start it with uvx --from {requirement} outrider",
            "uv tool": f"uv tool install {requirement}",
            "pipx": f"pipx install --force {requirement}",
            "checkout": f"{pip} install -e '.[{extra}]' in the checkout",
            "pip": f"{pip} install {requirement}",
        }
        return commands[self.method]

    def suggest_package(self, package: str) -> str:
        """Return the command that adds another package to Outrider's environment."""
        commands: dict[InstallMethod, str] = {
            "uvx": f"start it with uvx --with {package} outrider",
            "uv tool": f"uv tool install --with {package} outrider",
            "pipx": f"pipx inject outrider {package}",
        }
        return commands.get(self.method, f"{'uv pip' if self.has_uv else 'pip'} install {package}")

    def adapt_commands(self, text: str) -> str:
        """Return a remedy with commands that work here: uvx does not install `outrider`."""
        return re.sub(r"(?<=`)outrider (?=\w)", "uvx outrider ", text) if self.method == "uvx" else text


def find_installation(prefix: Path) -> Installation:
    """Find out how this Outrider was installed, from the metadata that installers leave."""
    has_uv = "\nuv = " in _read_note(prefix / "pyvenv.cfg")
    if receipt := _read_note(prefix / "uv-receipt.toml"):
        named = re.search(r'name = "outrider", extras = \[([^\]]*)\]', receipt)
        return Installation("uv tool", has_uv, tuple(re.findall(r'"([^"]+)"', named[1])) if named else ())
    if metadata := _read_note(prefix / "pipx_metadata.json"):
        named = EXTRAS.search(metadata)
        return Installation("pipx", extras=tuple(re.split(r"[, ]+", named[1])) if named else ())
    # uvx keeps its environments in the cache (docs.astral.sh/uv, "Tools").
    if has_uv and any(re.fullmatch(r"(?:archive|environments)-v\d+", part) for part in prefix.parts):
        return Installation("uvx", has_uv)
    return Installation("checkout" if _is_editable(prefix) else "pip", has_uv)


@cache
def get_installation() -> Installation:
    """Return how the running Outrider was installed."""
    return find_installation(Path(sys.prefix))


def suggest_extra(extra: str) -> str:
    """Return the command that adds an extra to the running Outrider."""
    return get_installation().suggest_extra(extra)


def _is_editable(prefix: Path) -> bool:
    notes = "site-packages/outrider-*.dist-info/direct_url.json"
    for path in (*prefix.glob(f"lib/python*/{notes}"), *prefix.glob(f"Lib/{notes}")):
        try:
            return bool(json.loads(_read_note(path))["dir_info"]["editable"])
        except (ValueError, LookupError, TypeError):
            continue
    return False


def _read_note(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
