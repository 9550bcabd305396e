"""Paths of this machine that sandboxed code can read: programs, libraries, and the public files that they use."""

import os
from pathlib import Path

SYSTEM_TREES = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
PUBLIC_ETC_PATHS = (  # below /etc; none of these is secret
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
    """Return the system folders that exist, including links."""
    return [path for path in map(Path, SYSTEM_TREES) if path.exists()]


def list_public_files() -> list[Path]:
    """Return the public files and folders of /etc that exist."""
    return [path for name in PUBLIC_ETC_PATHS if (path := Path("/etc") / name).exists()]


def is_system_path(path: Path) -> bool:
    """Return whether every sandbox can read a path anyway."""
    return any(path.is_relative_to(tree) for tree in SYSTEM_TREES)


def is_readable_by(path: Path, uid: int | None) -> bool:
    """Return whether an unprivileged user (None: our own) can reach and read a path."""
    if uid is None:
        return os.access(path, os.R_OK)
    resolved = path.resolve()
    try:
        return all(folder.stat().st_mode & 0o001 for folder in resolved.parents) and bool(
            resolved.stat().st_mode & 0o004
        )
    except OSError:
        return False
