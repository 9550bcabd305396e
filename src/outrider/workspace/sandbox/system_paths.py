"""What sandboxed code may read of this machine: programs and libraries, and the few public files that they ask for."""

import os
from pathlib import Path

SYSTEM_TREES = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
PUBLIC_ETC_PATHS = (  # below /etc; nothing in them is secret
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "fonts",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "pki/ca-trust",
    "pki/tls/certs",
    "protocols",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)


def list_system_trees() -> list[Path]:
    """The system's folders that are there, links among them."""
    return [path for path in map(Path, SYSTEM_TREES) if path.exists()]


def list_public_files() -> list[Path]:
    """The files and folders of /etc that are there."""
    return [path for name in PUBLIC_ETC_PATHS if (path := Path("/etc") / name).exists()]


def is_system_path(path: Path) -> bool:
    """Whether a path lies in what every sandbox may read anyway."""
    return any(path.is_relative_to(tree) for tree in SYSTEM_TREES)


def is_readable_by(path: Path, uid: int | None) -> bool:
    """Whether a user without any rights of their own (None: we ourselves) can get at a path and read it."""
    if uid is None:
        return os.access(path, os.R_OK)
    place = path.resolve()
    try:
        return all(folder.stat().st_mode & 0o001 for folder in place.parents) and bool(place.stat().st_mode & 0o004)
    except OSError:
        return False
