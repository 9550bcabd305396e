"""Encrypt or redact private tool arguments, such as passwords, in saved messages.

While a run is active, its private arguments are saved encrypted, because another process must be able to continue with
the same arguments. When it has ended, they are removed from its history.
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
    """Converts the messages of a run to JSON that may be saved, and back.

    Args:
        tools: The agent's tools, which declare their private arguments.
        cipher: A cipher whose key is shared by all processes that may continue the run.
    """

    def __init__(self, tools: Mapping[str, Tool], cipher: StateCipher) -> None:
        self._tools = tools
        self._cipher = cipher

    def encrypt_messages(self, messages: Sequence[ModelMessage]) -> list[Any]:
        """Return the messages as JSON with encrypted private arguments."""

        def encrypt_value(value: Any) -> dict[str, str]:
            return {ENCRYPTED_KEY: self._cipher.seal(json.dumps(value).encode())}

        return self._map_parts(serialize_messages(messages), encrypt_value)

    def decrypt_messages(self, serialized: Sequence[Any]) -> list[ModelMessage]:
        """Return the messages behind the JSON of `encrypt_messages`. Raises NotConfigured if the key is wrong."""

        def decrypt_value(value: Any) -> Any:
            if not isinstance(value, dict) or set(value) != {ENCRYPTED_KEY}:
                return value
            try:
                return json.loads(self._cipher.unseal(value[ENCRYPTED_KEY]))
            except Exception:  # noqa: BLE001 - the exceptions depend on the cipher
                raise NotConfigured(
                    "the private arguments of this run are encrypted with another key",
                    hint="set the same serve.state_key in all processes that share the database",
                    code="sealed_elsewhere",
                ) from None

        return ModelMessagesTypeAdapter.validate_python(self._map_parts(serialized, decrypt_value))

    def serialize_redacted(self, messages: Sequence[ModelMessage]) -> list[Any]:
        """Return the messages as JSON without private arguments."""
        return self._map_parts(serialize_messages(messages), lambda _: REDACTED_VALUE)

    def redact_messages(self, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """Return the messages without private arguments."""
        return ModelMessagesTypeAdapter.validate_python(self.serialize_redacted(messages))

    def _map_parts(self, messages: Sequence[Any], convert: Callable[[Any], Any]) -> list[Any]:
        return [
            message | {"parts": [self._convert_part(part, convert) for part in message["parts"]]}
            for message in messages
        ]

    def _convert_part(self, part: dict[str, Any], convert: Callable[[Any], Any]) -> dict[str, Any]:
        """Convert the private arguments in one part of a message."""
        tool = self._tools.get(part.get("tool_name") or "")
        if tool is None or not tool.private:
            return part
        if part["part_kind"] == "tool-call":
            arguments = _parse_arguments(part["args"])
            if arguments is None:  # invalid JSON: treat the whole text as private
                converted = convert(part["args"]) if part["args"] else None
                return part | {"args": None if converted == REDACTED_VALUE else converted}
            return part | {
                "args": {name: convert(value) if tool.is_private(name) else value for name, value in arguments.items()}
            }
        if not isinstance(part.get("content"), list):
            return part
        # Validation errors repeat the arguments as `input`.
        content = [
            item | {"input": REDACTED_VALUE} if isinstance(item, dict) and "input" in item else item
            for item in part["content"]
        ]
        return part | {"content": content}


def _parse_arguments(args: Any) -> dict[str, Any] | None:
    """Return the arguments as a dictionary; None if they are invalid JSON, or were and are now encrypted."""
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            return None
    return args if isinstance(args, dict) and set(args) != {ENCRYPTED_KEY} else None
