"""Build Outlook messages (MS-OXMSG) as storages and streams for `build_compound_file`."""

import struct
from datetime import UTC, datetime, timedelta

from support.documents.compound_files import CompoundTree

SENT_AT = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)


def build_properties(start: int, **values: int | datetime) -> bytes:
    """Return the stream of fixed-size properties; keywords are number and type, as in `p0C150003`."""
    rows = b""
    for name, value in values.items():
        number, kind = int(name[1:5], 16), int(name[5:], 16)
        ticks = (
            value
            if isinstance(value, int)
            else (value - datetime(1601, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 10
        )
        rows += struct.pack("<HHLQ", kind, number, 6, ticks)
    return bytes(start) + rows


def build_text_streams(codec: str = "utf-16-le", **values: str) -> dict[str, bytes]:
    kind = "001F" if codec == "utf-16-le" else "001E"
    return {f"__substg1.0_{name[1:]}{kind}": value.encode(codec) for name, value in values.items()}


def build_recipient(kind: int, name: str, address: str) -> CompoundTree:
    return {
        "__properties_version1.0": build_properties(8, p0C150003=kind),
        **build_text_streams(p3001=name, p39FE=address),
    }


def build_attachment(name: str, mime: str, body: bytes) -> CompoundTree:
    return {
        "__properties_version1.0": build_properties(8, p37050003=1),
        **build_text_streams(p3707=name, p370E=mime),
        "__substg1.0_37010102": body,
    }


def build_message(start: int = 32, **more: "bytes | CompoundTree") -> "dict[str, bytes | CompoundTree]":
    return {
        "__properties_version1.0": build_properties(start, p00390040=SENT_AT),
        **build_text_streams(
            p0037="The old light", p0C1A="Ida Marsh", p5D01="ida@wend.example", p1000="It burns.\r\n\r\nSee you."
        ),
        "__recip_version1.0_#00000000": build_recipient(1, "Jo Tern", "jo@tern.example"),
        "__recip_version1.0_#00000001": build_recipient(1, "crew@tern.example", "crew@tern.example"),
        "__recip_version1.0_#00000002": build_recipient(2, "Harbour", "harbour@wend.example"),
        **more,
    }
