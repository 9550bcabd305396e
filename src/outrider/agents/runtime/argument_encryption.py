"""Arguments that may be passwords: what is written down of them is sealed, or nothing.

What a tool calls private, no record keeps. But a run must be able to go on in another process, with the very arguments
that its model gave: so what is written down while it works is sealed, and what is left of it afterwards says nothing.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from outrider.agents.runtime.history import serialize_messages
from outrider.agents.state_encryption import StateCipher
from outrider.agents.tool_executor import REDACTED_VALUE
from outrider.core.errors import NotConfigured
from outrider.core.tool import Tool

ENCRYPTED_KEY = "outrider/sealed"


class ArgumentEncryption:
    """The messages of a run as they may be written down.

    Args:
        tools: The agent's tools, which know what is private.
        cipher: Whose key all processes share that may go on with the run.
    """

    def __init__(self, tools: Mapping[str, Tool], cipher: StateCipher) -> None:
        self._tools = tools
        self._cipher = cipher

    def encrypt_messages(self, messages: Sequence[ModelMessage]) -> list[Any]:
        """As JSON from which the run can go on."""
        return self._map_parts(serialize_messages(messages), self._encrypt_value)

    def decrypt_messages(self, written: Sequence[Any]) -> list[ModelMessage]:
        """What was sealed. Raises NotConfigured where the key is another."""
        return ModelMessagesTypeAdapter.validate_python(self._map_parts(written, self._decrypt_value))

    def serialize_redacted(self, messages: Sequence[ModelMessage]) -> list[Any]:
        """As JSON without any of it."""
        return self._map_parts(serialize_messages(messages), lambda _: REDACTED_VALUE)

    def redact_messages(self, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """The messages without any of it."""
        return ModelMessagesTypeAdapter.validate_python(self.serialize_redacted(messages))

    def _map_parts(self, messages: Sequence[Any], change: Callable[[Any], Any]) -> list[Any]:
        return [each | {"parts": [self._change_part(part, change) for part in each["parts"]]} for each in messages]

    def _change_part(self, part: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
        tool = self._tools.get(part.get("tool_name") or "")
        if tool is None or not tool.private:
            return part
        if part["part_kind"] != "tool-call":
            return _redact_inputs(part)
        given = _parse_arguments(part["args"])
        if given is None:  # broken JSON: nobody knows what in it is private
            changed = change(part["args"]) if part["args"] else None
            return part | {"args": None if changed == REDACTED_VALUE else changed}
        return part | {
            "args": {name: change(value) if name in tool.private else value for name, value in given.items()}
        }

    def _encrypt_value(self, value: Any) -> dict[str, str]:
        return {ENCRYPTED_KEY: self._cipher.seal(json.dumps(value).encode())}

    def _decrypt_value(self, value: Any) -> Any:
        if not isinstance(value, dict) or set(value) != {ENCRYPTED_KEY}:
            return value
        try:
            return json.loads(self._cipher.unseal(value[ENCRYPTED_KEY]))
        except Exception:  # noqa: BLE001 - whatever the cipher says
            raise NotConfigured(
                "the run holds private arguments that were sealed under another key",
                hint="give all processes that share the database the same serve.state_key",
                code="sealed_elsewhere",
            ) from None


def _redact_inputs(part: dict[str, Any]) -> dict[str, Any]:
    """What was wrong with a call's arguments, without repeating them."""
    if not isinstance(part.get("content"), list):
        return part
    content = [
        each | {"input": REDACTED_VALUE} if isinstance(each, dict) and "input" in each else each
        for each in part["content"]
    ]
    return part | {"content": content}


def _parse_arguments(args: Any) -> dict[str, Any] | None:
    """The arguments as an object; None where they are none. What is sealed as a whole counts as none."""
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            return None
    return args if isinstance(args, dict) and set(args) != {ENCRYPTED_KEY} else None
