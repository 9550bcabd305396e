"""Convert tools and their results to the JSON of the REST interface."""

from typing import Any

from outrider.core.artifacts import ARTIFACT_URI_PREFIX
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, TextBlock
from outrider.core.tool import Tool
from outrider.core.untrusted import UNTRUSTED_META_KEY
from outrider.serve.paths import ARTIFACTS_PATH
from outrider.serve.protocol_results import encode_base64

OPEN_OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}
RESULT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "What a tool returns.",
    "properties": {
        "text": {"type": "string", "description": "For a model to read"},
        "data": {**OPEN_OBJECT, "description": "The same facts for programs, if the tool returns any"},
        "images": {
            "type": "array",
            "description": "Pictures for a model to look at",
            "items": {
                "type": "object",
                "properties": {"mime_type": {"type": "string"}, "base64": {"type": "string"}},
                "required": ["mime_type", "base64"],
            },
        },
        "resources": {
            "type": "array",
            "description": "Typed pieces of content with an address of their own",
            "items": {
                **OPEN_OBJECT,
                "properties": {
                    "uri": {"type": "string"},
                    "mime_type": {"type": "string"},
                    "text": {"type": "string"},
                },
                "required": ["uri", "mime_type", "text"],
            },
        },
        "links": {
            "type": "array",
            "description": "Files that can be read later; `path` is where this server has them",
            "items": {
                "type": "object",
                "properties": {
                    "uri": {"type": "string"},
                    "name": {"type": "string"},
                    "mime_type": {"type": "string"},
                    "size": {"type": "integer"},
                    "path": {"type": "string"},
                },
                "required": ["uri", "name", "mime_type"],
            },
        },
        "meta": {**OPEN_OBJECT, "description": "Facts about the result, for instance where to read on"},
        "is_error": {"type": "boolean", "description": "Whether the tool reports a failure in `text`"},
    },
    "required": ["text"],
}


def describe_tool(tool: Tool) -> dict[str, Any]:
    """Return a tool as `GET /v1/tools` lists it."""
    described: dict[str, Any] = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "toolset": tool.toolset,
        "effect": tool.effect,
        "input_schema": tool.input_schema,
    }
    return described | ({"output_schema": tool.output_schema} if tool.output_schema else {})


def serialize_result(result: Result, tool: Tool) -> dict[str, Any]:
    """Return a result as RESULT_SCHEMA describes it; empty parts are left out."""
    content = result.content
    links: list[dict[str, Any]] = []
    for link in (each for each in content if isinstance(each, LinkBlock)):
        links.append({"uri": link.uri, "name": link.name, "mime_type": link.mime_type})
        if link.size is not None:
            links[-1]["size"] = link.size
        if link.uri.startswith(ARTIFACT_URI_PREFIX):
            links[-1]["path"] = f"{ARTIFACTS_PATH}/{link.uri.removeprefix(ARTIFACT_URI_PREFIX)}"
    parts: dict[str, Any] = {
        "data": result.data,
        "images": [
            {"mime_type": each.mime_type, "base64": encode_base64(each.data)}
            for each in content
            if isinstance(each, ImageBlock)
        ],
        "resources": [
            {**each.fields, "uri": each.uri, "mime_type": each.mime_type, "text": each.text}
            for each in content
            if isinstance(each, ResourceBlock)
        ],
        "links": links,
        "meta": result.meta | ({UNTRUSTED_META_KEY: True} if tool.untrusted else {}),
        "is_error": result.is_error,
    }
    text = "\n\n".join(each.text for each in content if isinstance(each, TextBlock))
    return {"text": text} | {name: part for name, part in parts.items() if part}
