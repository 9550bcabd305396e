"""The first words of a relay: which program comes, from where, with which options and environment."""

import os
import sys

from outrider.relay.frames import VERSION

FIELDS = ("wire", "version", "install", "home", "cwd", "session", "again")


class Hello:
    """Who connects.

    Attributes:
        wire: The version of the frames.
        version: Of the relay's Outrider.
        install: Which Python and which copy of the code it would run by itself.
        home: The person's home directory.
        cwd: The host's working directory.
        session: The session that an earlier connection of this host had; empty for its first.
        again: "1" on every connection but a host's first.
        arguments: What stands after `outrider mcp`.
        environ: The host's environment.
    """

    def __init__(self, fields: dict[str, str], arguments: list[str], environ: dict[str, str]) -> None:
        self.wire, self.version, self.install, self.home, self.cwd, self.session, self.again = (
            fields[name] for name in FIELDS
        )
        self.arguments = arguments
        self.environ = environ

    def packed(self) -> bytes:
        """As the payload of a frame: texts that NUL bytes part, which none of them can hold."""
        texts = [getattr(self, name) for name in FIELDS]
        texts += [str(len(self.arguments)), *self.arguments]
        texts += [f"{name}={self.environ[name]}" for name in self.environ]
        return b"\0".join(os.fsencode(text) for text in texts)


def unpacked(payload: bytes) -> Hello:
    """The words in a frame. Raises ValueError for what are none."""
    texts = [os.fsdecode(each) for each in payload.split(b"\0")]
    first = len(FIELDS) + 1
    try:
        last = first + int(texts[first - 1])
    except (IndexError, ValueError):
        raise ValueError("these are no first words of a relay") from None
    environ = dict(each.split("=", 1) for each in texts[last:] if "=" in each)
    return Hello(dict(zip(FIELDS, texts, strict=False)), texts[first:last], environ)


def own(version: str, arguments: list[str]) -> Hello:
    """What this process has to say."""
    texts = (VERSION.decode(), version, install(), home(), os.getcwd(), "", "")
    return Hello(dict(zip(FIELDS, texts, strict=True)), arguments, dict(os.environ))


def install() -> str:
    """Which code runs in which Python: where another would run, results may be others."""
    code = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return "\n".join((code, sys.prefix, os.environ.get("PYTHONPATH", "")))


def home() -> str:
    """The person's home directory."""
    return os.path.expanduser("~")
