"""Remedies are commands that work where Outrider was installed."""

import json
import sys
from pathlib import Path

import pytest

from outrider.core.errors import NotConfigured
from outrider.core.installation import find_installation, get_installation

PLAIN, BY_UV = "home = /usr/bin\nversion = 3.12.3\n", "home = /usr/bin\nuv = 0.9.0\nversion_info = 3.12.3\n"
EDITABLE = json.dumps({"url": "file:///src/outrider", "dir_info": {"editable": True}})
DIRECT_URL = "lib/python3.12/site-packages/outrider-0.1.0.dist-info/direct_url.json"
# By folder of the environment: the notes that installers leave there, and the commands for the extra `agents` and for
# the package `cryptography`.
INSTALLATIONS: dict[str, tuple[dict[str, str], str, str]] = {
    "cache/uv/archive-v0/Xy12": (
        {"pyvenv.cfg": BY_UV},
        "start it with uvx --from 'outrider[agents]' outrider",
        "start it with uvx --with cryptography outrider",
    ),
    "uv/tools/outrider": (
        {
            "pyvenv.cfg": BY_UV,
            "uv-receipt.toml": '[tool]\nrequirements = [{ name = "outrider", extras = ["postgres"] }]\n',
        },
        "uv tool install 'outrider[agents,postgres]'",
        "uv tool install --with cryptography outrider",
    ),
    "uv/tools/plain": (
        {"pyvenv.cfg": BY_UV, "uv-receipt.toml": 'requirements = [{ name = "outrider" }]\n'},
        "uv tool install 'outrider[agents]'",
        "uv tool install --with cryptography outrider",
    ),
    "pipx/venvs/outrider": (
        {
            "pyvenv.cfg": PLAIN,
            "pipx_metadata.json": json.dumps({"main_package": {"package_or_url": "outrider[code, sdk]"}}),
        },
        "pipx install --force 'outrider[agents,code,sdk]'",
        "pipx inject outrider cryptography",
    ),
    "checkout/.venv": (
        {"pyvenv.cfg": BY_UV, DIRECT_URL: EDITABLE},
        "uv pip install -e '.[agents]' in the checkout",
        "uv pip install cryptography",
    ),
    "old/checkout/venv": (
        {"pyvenv.cfg": PLAIN, DIRECT_URL: EDITABLE},
        "pip install -e '.[agents]' in the checkout",
        "pip install cryptography",
    ),
    "project/.venv": ({"pyvenv.cfg": BY_UV}, "uv pip install 'outrider[agents]'", "uv pip install cryptography"),
    "env": ({"pyvenv.cfg": PLAIN}, "pip install 'outrider[agents]'", "pip install cryptography"),
    "usr": ({DIRECT_URL: "{broken"}, "pip install 'outrider[agents]'", "pip install cryptography"),
}


@pytest.mark.parametrize("folder", INSTALLATIONS)
def test_a_remedy_is_the_command_of_the_installer_that_was_used(tmp_path: Path, folder: str):
    notes, extra, package = INSTALLATIONS[folder]
    for name, text in notes.items():
        (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_text(text)
    found = find_installation(tmp_path / folder)
    assert (found.suggest_extra("agents"), found.suggest_package("cryptography")) == (extra, package)
    hint = "run `outrider doctor`, or read what outrider is"
    typed = "`uvx outrider doctor`" if "uvx" in extra else "`outrider doctor`"
    assert found.adapt_commands(hint) == f"run {typed}, or read what outrider is"


def test_errors_name_the_commands_of_this_installation():
    error = NotConfigured("no browser", hint="run `outrider browser install`")
    assert error.hint == get_installation().adapt_commands("run `outrider browser install`")
    assert get_installation() == find_installation(Path(sys.prefix))
