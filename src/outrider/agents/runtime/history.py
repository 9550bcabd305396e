"""A run's messages with its model: as JSON and back, and up to where the run goes on."""

from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse


def serialize_messages(messages: Sequence[ModelMessage]) -> list[Any]:
    return ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")


def truncate_to_calls(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages up to the last that calls tools: all its calls are made again, and those that ended remember."""
    last = max(at for at, each in enumerate(messages) if isinstance(each, ModelResponse))
    return list(messages[: last + 1])
