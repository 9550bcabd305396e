"""`outrider call`: call any tool."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

import outrider
from outrider.cli.output import EXIT_BUG, print_error, print_line
from outrider.cli.shared_process import (
    add_call_options,
    call_tool,
    open_client,
    parse_arguments,
    report_unknown_tool,
)
from outrider.cli.tool_results import CallOptions
from outrider.client.server_connection import ConnectionEnded
from outrider.core.tool_suggestions import suggest_tools


def _read_shipped_schemas() -> dict[str, dict[str, Any]]:
    """Return the input schemas of built-in tools by name, without another process."""
    file = Path(outrider.__file__).parent / "toolsets" / "schemas.json"
    schemas = json.loads(file.read_bytes())
    return {function.rpartition(":")[2].rpartition(".")[2]: each["input"] for function, each in schemas.items()}


def complete_tool(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """Return the names of our tools that begin so."""
    return [CompletionItem(name) for name in _read_shipped_schemas() if name.startswith(incomplete)]


def complete_argument(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    """Return the parameters of the tool, and the values of those that have a few."""
    properties = _read_shipped_schemas().get(context.params.get("tool") or "", {}).get("properties", {})
    name, separator, _ = incomplete.partition("=")
    if separator:
        words = [f"{name}={value}" for value in properties.get(name, {}).get("enum", [])]
    else:
        words = [f"{each}=" for each in properties]
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


@click.command(add_help_option=False)
@click.argument("tool", default="", shell_complete=complete_tool)
@click.argument("arguments", nargs=-1, shell_complete=complete_argument)
@click.option("-h", "--help", "wants_help", is_flag=True, help="Show this, or what TOOL takes.")
@add_call_options
@click.pass_context
def command(
    context: click.Context,
    tool: str,
    arguments: tuple[str, ...],
    *,
    wants_help: bool,
    options: CallOptions,
) -> None:
    """Call any TOOL with KEY=VALUE arguments; without one, list the tools.

    KEY:=JSON gives any value, '{...}' several arguments at once, and - reads them from standard input. Tools run in the
    process that all hosts of `outrider mcp` share, so a session continues from one command to the next.
    """
    if wants_help and not tool:
        click.echo(context.get_help())
        return
    with open_client(options) as client:
        if tool and not wants_help:
            sys.exit(call_tool(client, tool, parse_arguments(arguments), options))
        try:
            tools = {each["name"]: each for each in client.list_tools()}
        except ConnectionEnded as error:
            print_error({"message": str(error)})
            sys.exit(EXIT_BUG)
    if not tool:
        for name, each in tools.items():
            first_line, _, _ = each.get("description", "").partition("\n")
            print_line(f"{name}  {first_line}")
    elif tool in tools:
        print_line(format_tool_help(tools[tool]))
    else:
        sys.exit(report_unknown_tool(f"no tool {tool!r}", suggest_tools(tool, tools, {})))


def format_tool_help(tool: dict[str, Any]) -> str:
    """Return a tool's description, and a line for each parameter."""
    schema = tool["inputSchema"]
    required = set(schema.get("required", []))
    lines = [f"Usage: outrider call {tool['name']} [KEY=VALUE]…", "", tool.get("description", ""), ""]
    rows = [
        (name, format_parameter(field, is_required=name in required)) for name, field in schema["properties"].items()
    ]
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join([*lines, *(f"  {name:<{width}}  {text}" for name, text in rows)]).rstrip()


def format_parameter(field: dict[str, Any], *, is_required: bool) -> str:
    """Return type, default and description of a parameter in one line."""
    kinds = [field, *field.get("anyOf", [])]
    kind = "|".join(dict.fromkeys(str(each["type"]) for each in kinds if isinstance(each.get("type"), str)))
    if "enum" in field:
        kind = "|".join(map(str, field["enum"]))
    remark = "required" if is_required else f"default {field['default']}" if field.get("default") is not None else ""
    return "  ".join(part for part in (kind, remark and f"({remark})", field.get("description", "")) if part)
