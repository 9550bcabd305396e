"""Addresses of databases, as people write them and as SQLAlchemy takes them."""

from pathlib import Path


def normalize_url(url: str) -> str:
    """The address with the driver that we use, where it names none: `postgresql://…` as any host hands it out."""
    drivers = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg", "sqlite": "sqlite+aiosqlite"}
    scheme, mark, rest = url.partition("://")
    return f"{drivers.get(scheme, scheme)}{mark}{rest}"


def build_sqlite_url(path: Path) -> str:
    """The address of the SQLite database in a file."""
    return f"sqlite+aiosqlite:///{path}"


def get_dialect(url: str) -> str:
    """`sqlite` or `postgresql`."""
    return url.split(":", 1)[0].split("+", 1)[0]


def get_sqlite_path(url: str) -> Path | None:
    """The file of an SQLite address; None for a server and for a database in memory."""
    if get_dialect(url) != "sqlite" or ":memory:" in url:
        return None
    return Path(url.partition(":///")[2].partition("?")[0])


def redact_url(url: str) -> str:
    """The address for people: never with its password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    if (path := get_sqlite_path(url)) is not None:
        return str(path)
    try:
        made = make_url(url)
    except ArgumentError:
        return get_dialect(url)
    query = {name: value for name, value in made.query.items() if name == "host"}
    return made.set(drivername=get_dialect(url), password=None, query=query).render_as_string(hide_password=True)
