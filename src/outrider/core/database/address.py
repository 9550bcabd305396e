"""Addresses of databases, as people write them and as SQLAlchemy takes them."""

from pathlib import Path

DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg", "sqlite": "sqlite+aiosqlite"}


def normalised(url: str) -> str:
    """The address with the driver that we use, where it names none: `postgresql://…` as any host hands it out."""
    scheme, mark, rest = url.partition("://")
    return f"{DRIVERS.get(scheme, scheme)}{mark}{rest}"


def of_file(path: Path) -> str:
    """The address of the SQLite database in a file."""
    return f"sqlite+aiosqlite:///{path}"


def dialect(url: str) -> str:
    """`sqlite` or `postgresql`."""
    return url.split(":", 1)[0].split("+", 1)[0]


def file_of(url: str) -> Path | None:
    """The file of an SQLite address; None for a server and for a database in memory."""
    if dialect(url) != "sqlite" or ":memory:" in url:
        return None
    return Path(url.partition(":///")[2].partition("?")[0])


def shown(url: str) -> str:
    """The address for people: never with its password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    if (path := file_of(url)) is not None:
        return str(path)
    try:
        made = make_url(url)
    except ArgumentError:
        return dialect(url)
    query = {name: value for name, value in made.query.items() if name == "host"}
    return made.set(drivername=dialect(url), password=None, query=query).render_as_string(hide_password=True)
