"""Make file names from websites safe for every file system."""

import re
import unicodedata

RESERVED_NAME_PATTERN = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
UNSAFE_CHARACTER_PATTERN = re.compile(r'[<>:"/\\|?*]')


def make_safe_name(suggested: str, default: str = "download") -> str:
    """Return the last part of a suggested name without anything special to a file system.

    No separators, no control and direction characters, no leading dots, no reserved device names.
    """
    max_chars = 120  # file systems allow 255 bytes
    text = unicodedata.normalize("NFC", suggested.encode("utf-8", "replace").decode())
    text = "".join("_" if unicodedata.category(char) in ("Cc", "Cf", "Cs") else char for char in text)
    last = re.split(r"[/\\]", text)[-1]
    name = re.sub(r"\.{2,}", ".", UNSAFE_CHARACTER_PATTERN.sub("_", last)).strip(" .")
    stem, dot, extension = name.rpartition(".")
    if dot and stem and len(extension) <= 10:
        name = f"{stem[: max_chars - len(extension) - 1].rstrip(' .')}.{extension}"
    name = name[:max_chars].rstrip(" .")
    if not name or RESERVED_NAME_PATTERN.match(name):
        name = f"{default}_{name}" if name else default
    return name
