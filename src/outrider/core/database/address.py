"""Database addresses, as people write them and as SQLAlchemy takes them."""

from pathlib import Path


def normalize_url(url: str) -> str:
    """Return the address with our driver where it names none, as in `postgresql://…`."""
    drivers = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg", "sqlite": "sqlite+aiosqlite"}
    scheme, separator, rest = url.partition("://")
    return f"{drivers.get(scheme, scheme)}{separator}{rest}"


def build_sqlite_url(path: Path) -> str:
    """Return the address of the SQLite database in a file."""
    return f"sqlite+aiosqlite:///{path}"


def get_dialect(url: str) -> str:
    """Return `sqlite` or `postgresql`."""
    return url.split(":", 1)[0].split("+", 1)[0]


def get_sqlite_path(url: str) -> Path | None:
    """Return the file of an SQLite address, if any.

    None means a server or a database in memory.
    """
    if get_dialect(url) != "sqlite" or ":memory:" in url:
        return None
    return Path(url.partition(":///")[2].partition("?")[0])


def redact_url(url: str) -> str:
    """Return the address for people, without its password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    if (path := get_sqlite_path(url)) is not None:
        return str(path)
    try:
        parsed = make_url(url)
    except ArgumentError:
        return get_dialect(url)
    query = {name: value for name, value in parsed.query.items() if name == "host"}
    return parsed.set(drivername=get_dialect(url), password=None, query=query).render_as_string(hide_password=True)
