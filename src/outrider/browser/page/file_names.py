"""Make file names from websites safe for every file system."""

import re
import unicodedata
from pathlib import Path

RESERVED_NAME_PATTERN = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
UNSAFE_CHARACTER_PATTERN = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]')


def make_safe_name(suggested: str, default: str = "download") -> str:
    """Return the last part of a suggested name without anything special to a file system.

    No separators, no control and direction characters, no leading dots, no reserved device names.
    """
    max_chars = 120  # file systems allow 255 bytes
    text = unicodedata.normalize("NFC", suggested.encode("utf-8", "replace").decode())
    last = re.split(r"[/\\]", text)[-1]
    name = re.sub(r"\.{2,}", ".", UNSAFE_CHARACTER_PATTERN.sub("_", last)).strip(" .")
    stem, dot, extension = name.rpartition(".")
    if dot and stem and len(extension) <= 10:
        name = f"{stem[: max_chars - len(extension) - 1].rstrip(' .')}.{extension}"
    name = name[:max_chars].rstrip(" .")
    if not name or RESERVED_NAME_PATTERN.match(name):
        name = f"{default}_{name}" if name else default
    return name


def find_free_path(folder: Path, name: str) -> Path:
    """Return an unused path in the folder: `report.pdf`, `report (1).pdf`."""
    candidate, number = folder / name, 0
    while candidate.exists() or candidate.is_symlink():
        number += 1
        stem, suffix = Path(name).stem, Path(name).suffix
        candidate = folder / f"{stem} ({number}){suffix}"
    return candidate
