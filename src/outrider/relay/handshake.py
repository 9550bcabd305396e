"""The relay's first message: its version, working directory, options and environment."""

import os
import sys

from outrider.relay.frames import PROTOCOL_VERSION

HANDSHAKE_FIELDS = ("wire", "version", "install", "home", "cwd", "session", "again")


class Handshake:
    """The description of a relay and its host.

    Attributes:
        wire: Version of the frames.
        version: Version of the relay's Outrider.
        install: The Python and the copy of the code that the relay runs.
        home: The user's home directory.
        cwd: The host's working directory.
        session: Session of the host's earlier connection; empty for its first.
        again: "1" on every connection but a host's first.
        arguments: The arguments after `outrider mcp`.
        environ: The host's environment.
    """

    def __init__(self, fields: dict[str, str], arguments: list[str], environ: dict[str, str]) -> None:
        self.wire, self.version, self.install, self.home, self.cwd, self.session, self.again = (
            fields[name] for name in HANDSHAKE_FIELDS
        )
        self.arguments = arguments
        self.environ = environ

    def to_payload(self) -> bytes:
        """Encode it as a frame's payload: texts separated by NUL bytes, which none of them can contain."""
        texts = [getattr(self, name) for name in HANDSHAKE_FIELDS]
        texts += [str(len(self.arguments)), *self.arguments]
        texts += [f"{name}={self.environ[name]}" for name in self.environ]
        return b"\0".join(os.fsencode(text) for text in texts)


def parse_handshake(payload: bytes) -> Handshake:
    """Decode a handshake's payload. Raises ValueError."""
    texts = [os.fsdecode(text) for text in payload.split(b"\0")]
    first = len(HANDSHAKE_FIELDS) + 1
    try:
        last = first + int(texts[first - 1])
    except (IndexError, ValueError):
        raise ValueError("the first message is not a relay's handshake") from None
    environ = dict(text.split("=", 1) for text in texts[last:] if "=" in text)
    return Handshake(dict(zip(HANDSHAKE_FIELDS, texts, strict=False)), texts[first:last], environ)


def build_handshake(version: str, arguments: list[str]) -> Handshake:
    """Return the handshake of this process."""
    texts = (PROTOCOL_VERSION.decode(), version, describe_install(), find_home_dir(), os.getcwd(), "", "")
    return Handshake(dict(zip(HANDSHAKE_FIELDS, texts, strict=True)), arguments, dict(os.environ))


def describe_install() -> str:
    """Return the paths of the code and its Python; a daemon of other code could give other results."""
    code = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return "\n".join((code, sys.prefix, os.environ.get("PYTHONPATH", "")))


def find_home_dir() -> str:
    """Return the user's home directory."""
    return os.path.expanduser("~")
