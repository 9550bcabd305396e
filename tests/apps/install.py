"""Install applications from the indexes of Debian, npm and Python into .tools/apps, without root."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".tools" / "apps"
PHP_EXTENSIONS = (
    "ctype dom fileinfo gd iconv intl mbstring mysqlnd mysqli pdo pdo_sqlite posix simplexml sqlite3 tokenizer xml "
    "xmlreader xmlwriter"
)


class NotInstallableError(Exception):
    """This machine lacks the program that installs an application."""


def install_debian(name: str, *packages: str) -> Path:
    """Download packages with their missing dependencies, and unpack them into a folder.

    Nothing is configured and the system does not change, so the application brings its own configuration.
    """
    apt, dpkg = _find("apt-get"), _find("dpkg")
    root = FOLDER / name
    if not _is_done(root, packages):
        shutil.rmtree(root, ignore_errors=True)
        archives = root / "archives"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        options = ["-qq", "-y", "--no-install-recommends", "--reinstall", "--download-only"]
        places = ["-o", "Debug::NoLocking=1", "-o", f"Dir::Cache::archives={archives}"]
        subprocess.run([apt, "install", *options, *places, *packages], check=True, stdout=sys.stderr)
        for archive in sorted(archives.glob("*.deb")):
            subprocess.run([dpkg, "-x", archive, root], check=True)
        shutil.rmtree(archives)
        _relocate_links(root)
        _relocate_paths(root)
        _mark_done(root, packages)
    return root


def install_node(name: str, *packages: str) -> Path:
    """Install npm packages and return the folder of their modules."""
    npm, folder = _find("npm"), FOLDER / name
    if not _is_done(folder, packages):
        folder.mkdir(parents=True, exist_ok=True)
        flags = ["--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([npm, "install", *flags, *packages], cwd=folder, check=True, stdout=sys.stderr)
        _mark_done(folder, packages)
    return folder / "node_modules"


def install_python(name: str, *requirements: str) -> Path:
    """Install packages from the Python index into a separate environment; return its folder of programs."""
    folder = FOLDER / name
    if not _is_done(folder, requirements):
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        command = [folder / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements]
        subprocess.run(command, check=True, stdout=sys.stderr)
        _mark_done(folder, requirements)
    return folder / "bin"


def php_command(root: Path, *settings: str) -> list[str]:
    """Return the command of an unpacked PHP with its extensions and no other configuration."""
    folder = next(root.glob("usr/lib/php/2*"))
    extensions = [f"-dextension={name}" for name in PHP_EXTENSIONS.split() if (folder / f"{name}.so").exists()]
    quiet = ["-ddisplay_errors=0", f"-dinclude_path=.:{root}/usr/share/php"]
    options = [f"-dextension_dir={folder}", *quiet, *extensions, *(f"-d{setting}" for setting in settings)]
    return [str(next(root.glob("usr/bin/php8*"))), "-n", *options]


def php_environment(root: Path) -> dict[str, str]:
    """Return the environment in which an unpacked PHP finds its libraries."""
    return {**os.environ, "LD_LIBRARY_PATH": str(next(root.glob("usr/lib/*-linux-gnu")))}


def _find(program: str) -> str:
    if (found := shutil.which(program)) is None:
        raise NotInstallableError(f"{program} is missing on this machine")
    return found


def _mark(folder: Path, wanted: Sequence[str]) -> Path:
    return folder / f".{hashlib.sha256(' '.join(wanted).encode()).hexdigest()[:16]}.ready"


def _is_done(folder: Path, wanted: Sequence[str]) -> bool:
    return _mark(folder, wanted).exists()


def _mark_done(folder: Path, wanted: Sequence[str]) -> None:
    _mark(folder, wanted).touch()


def _relocate_links(root: Path) -> None:
    """Make links point into the unpacked tree by absolute paths, which `shutil.copytree` follows."""
    for link in [path for path in root.rglob("*") if path.is_symlink()]:
        target = link.readlink()
        inside = root / target.relative_to("/") if target.is_absolute() else link.parent / target
        if inside.exists() or inside.is_symlink():
            link.unlink()
            link.symlink_to(inside)


def _relocate_paths(root: Path) -> None:
    """Make PHP files name libraries by their unpacked paths."""
    for file in (path for path in root.rglob("*.php") if path.is_file() and not path.is_symlink()):
        source = file.read_bytes()
        if b"'/usr/share/" in source:
            file.write_bytes(source.replace(b"'/usr/share/", f"'{root}/usr/share/".encode()))
