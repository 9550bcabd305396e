"""Serialize and truncate a run's messages with its model."""

from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse


def serialize_messages(messages: Sequence[ModelMessage]) -> list[Any]:
    """Return the messages as JSON."""
    return ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")


def truncate_to_calls(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return the messages up to the last response.

    Its calls are made again in the next attempt; those that have ended return their saved results.
    """
    last = max(index for index, message in enumerate(messages) if isinstance(message, ModelResponse))
    return list(messages[: last + 1])
