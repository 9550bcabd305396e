"""Call tools from a shell without loading the slow command line libraries.

This module only handles plain calls, `outrider call TOOL KEY=VALUE…` and steps of `outrider browser`, without options.
All others, and results that are more than text, are left to the command line.
"""

import errno
import os
import signal
import sys
from typing import Any

from outrider.client import ConnectionEnded, ToolClient, UnknownTool

ToolCall = tuple[str, dict[str, Any]]
# Step -> tool, the arguments for its words, the number of required ones, and fixed arguments. cli/browser_steps.py has
# the options too; a test compares both.
QUICK_STEPS: dict[str, tuple[str, tuple[str, ...], int, dict[str, Any]]] = {
    "open": ("navigateToUrl", ("url",), 1, {}),
    "goto": ("navigateToUrl", ("url",), 1, {}),
    "snapshot": ("snapshotPage", ("root",), 0, {}),
    "find": ("snapshotPage", ("find",), 1, {}),
    "read": ("extractPageContent", ("selector",), 0, {}),
    "click": ("clickElement", ("selector",), 1, {}),
    "fill": ("inputText", ("selector", "text"), 2, {}),
    "type": ("inputText", ("selector", "text"), 2, {"mode": "append"}),
    "check": ("selectOption", ("selector",), 1, {"checked": True}),
    "uncheck": ("selectOption", ("selector",), 1, {"checked": False}),
    "press": ("pressKey", ("key",), 1, {}),
    "hover": ("hoverElement", ("selector",), 1, {}),
    "drag": ("dragElement", ("selector", "to"), 2, {}),
    "wait": ("waitFor", ("text",), 1, {}),
    "tabs": ("manageTabs", (), 0, {"action": "list"}),
    "back": ("navigateBack", (), 0, {}),
    "forward": ("navigateForward", (), 0, {}),
    "url": ("getCurrentUrl", (), 0, {}),
    "title": ("getPageTitle", (), 0, {}),
    "sessions": ("listSessions", (), 0, {}),
    "close": ("closeSession", (), 0, {}),
}


def parse_quick_call(words: list[str]) -> ToolCall | None:
    """Return the call for these words, or None if the command line must parse them."""
    if len(words) < 2 or any(word.startswith(("-", "{")) for word in words):
        return None
    if words[0] == "call":
        arguments: dict[str, Any] = {}
        for word in words[2:]:
            key, separator, text = word.partition("=")
            if not separator or not key or key.endswith(":") or key in arguments:
                return None
            arguments[key] = text
        return words[1], arguments
    if words[0] != "browser" or words[1] not in QUICK_STEPS:
        return None
    tool, names, required, fixed = QUICK_STEPS[words[1]]
    values = words[2:]
    if not required <= len(values) <= len(names):
        return None
    return tool, dict(zip(names, values, strict=False)) | fixed


def run_quick_call(words: list[str]) -> int | None:
    """Run a plain call in the shared process and return the exit code; None leaves it to the command line."""
    call = None if "_OUTRIDER_COMPLETE" in os.environ else parse_quick_call(words)
    # A call at a terminal may ask the person something, for which only the command line has forms.
    if call is None or (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with ToolClient("", ("--toolsets", "all")) as client:
            return _print_result(client, call[0], client.call_tool(*call), names_commands=words[0] == "browser")
    except (UnknownTool, ConnectionEnded, KeyboardInterrupt, OSError) as error:
        return _report_failure(error)


def _report_failure(error: BaseException) -> int:
    """Report the failure like the command line, and return its exit code."""
    from outrider.cli import output
    from outrider.cli.shared_process import report_unknown_tool

    if isinstance(error, KeyboardInterrupt):
        return output.EXIT_INTERRUPTED
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would fail again when it flushes stdout
        return output.EXIT_PARTIAL
    if isinstance(error, OSError):
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise error
        return output.report_full_disk(error)
    if isinstance(error, UnknownTool):
        return report_unknown_tool(*str(error).split("; ", 1))
    output.print_error({"message": str(error)})
    return output.EXIT_BUG


def _print_result(client: ToolClient, tool: str, result: dict[str, Any], *, names_commands: bool) -> int:
    items = result.get("content", [])
    if result.get("isError") or sys.stdout.isatty() or any(item["type"] != "text" for item in items):
        from outrider.cli.shared_process import print_call
        from outrider.cli.tool_results import CallOptions

        return print_call(client, tool, lambda: result, CallOptions(names_commands=names_commands))
    text = "\n".join(filter(None, (item["text"] for item in items)))
    sys.stdout.buffer.write(text.strip("\n").encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()
    return 0
