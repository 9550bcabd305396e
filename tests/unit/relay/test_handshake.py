"""A relay's handshake contains the whole command: arguments, directory, environment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.relay.handshake import build_handshake, parse_handshake

ARGUMENT_TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
NAME = st.text("ABCDEFG_", min_size=1, max_size=8)


@given(st.lists(ARGUMENT_TEXTS), st.dictionaries(NAME, ARGUMENT_TEXTS))
def test_arguments_and_environment_arrive_as_they_are(arguments: list[str], environ: dict[str, str]):
    hello = build_handshake("1.2", arguments)
    hello.environ = environ
    heard = parse_handshake(hello.to_payload())
    assert (heard.arguments, heard.environ, heard.version, heard.cwd) == (arguments, environ, "1.2", hello.cwd)


@pytest.mark.parametrize("payload", [b"", b"\0", b"1\0" * 7 + b"many", b"1"])
def test_an_invalid_handshake_is_rejected(payload: bytes):
    with pytest.raises(ValueError, match=r"not a relay.s handshake"):
        parse_handshake(payload)
