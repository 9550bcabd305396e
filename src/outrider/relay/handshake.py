"""The first words of a relay: which program comes, from where, with which options and environment."""

import os
import sys

from outrider.relay.frames import PROTOCOL_VERSION

HANDSHAKE_FIELDS = ("wire", "version", "install", "home", "cwd", "session", "again")


class Handshake:
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
            fields[name] for name in HANDSHAKE_FIELDS
        )
        self.arguments = arguments
        self.environ = environ

    def to_payload(self) -> bytes:
        """As the payload of a frame: texts that NUL bytes part, which none of them can hold."""
        texts = [getattr(self, name) for name in HANDSHAKE_FIELDS]
        texts += [str(len(self.arguments)), *self.arguments]
        texts += [f"{name}={self.environ[name]}" for name in self.environ]
        return b"\0".join(os.fsencode(text) for text in texts)


def parse_handshake(payload: bytes) -> Handshake:
    """The words in a frame. Raises ValueError for what are none."""
    texts = [os.fsdecode(each) for each in payload.split(b"\0")]
    first = len(HANDSHAKE_FIELDS) + 1
    try:
        last = first + int(texts[first - 1])
    except (IndexError, ValueError):
        raise ValueError("these are no first words of a relay") from None
    environ = dict(each.split("=", 1) for each in texts[last:] if "=" in each)
    return Handshake(dict(zip(HANDSHAKE_FIELDS, texts, strict=False)), texts[first:last], environ)


def build_handshake(version: str, arguments: list[str]) -> Handshake:
    """What this process has to say."""
    texts = (PROTOCOL_VERSION.decode(), version, describe_install(), find_home_dir(), os.getcwd(), "", "")
    return Handshake(dict(zip(HANDSHAKE_FIELDS, texts, strict=True)), arguments, dict(os.environ))


def describe_install() -> str:
    """Which code runs in which Python: where another would run, results may be others."""
    code = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return "\n".join((code, sys.prefix, os.environ.get("PYTHONPATH", "")))


def find_home_dir() -> str:
    """The person's home directory."""
    return os.path.expanduser("~")
