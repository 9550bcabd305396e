"""The steps of `outrider browser`: each is one call of a browser tool.

A step is a function of its command line that returns the tool and its arguments, so that a line of
`outrider browser run` means the same as a command.
"""

import functools
import sys
from collections.abc import Callable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, NamedTuple

import click

from outrider.cli.browser_files import DOWNLOAD, run_step
from outrider.cli.shared_process import add_call_options, open_client
from outrider.cli.tool_results import CallOptions

ToolCall = tuple[str, dict[str, Any]]


class BrowserStep(NamedTuple):
    """A step as a separate command, and the function that reads its arguments."""

    command: click.Command
    function: Callable[..., ToolCall]


CALL_OPTIONS = frozenset(each.name for each in fields(CallOptions))
STEPS: dict[str, BrowserStep] = {}
SELECTOR = click.argument("selector")


def step(*names: str) -> Callable[[Callable[..., ToolCall]], Callable[..., ToolCall]]:
    """Register a function as a step under these names."""

    def register_step(function: Callable[..., ToolCall]) -> Callable[..., ToolCall]:
        @functools.wraps(function)
        def run(options: CallOptions, **values: Any) -> None:
            tool, arguments = build_call(function, values)
            with open_client(options) as client:
                sys.exit(run_step(client, tool, arguments, options))

        # Use one command for all names, because click empties the function's list of parameters.
        step_command = BrowserStep(click.command(names[0])(add_call_options(run)), function)
        STEPS.update(dict.fromkeys(names, step_command))
        return function

    return register_step


def build_call(function: Callable[..., ToolCall], values: dict[str, Any]) -> ToolCall:
    """Return the tool and its arguments without those that were not given."""
    tool, arguments = function(**values)
    return tool, {name: value for name, value in arguments.items() if value is not None}


def parse_step(words: list[str]) -> ToolCall:
    """Return the call for a line of words. Raises click.UsageError."""
    name, *arguments = words
    if name not in STEPS:
        close = get_close_matches(name, STEPS, n=2)
        advice = f"did you mean {' or '.join(close)}?" if close else f"the steps are {', '.join(STEPS)}"
        raise click.UsageError(f"no step {name!r}; {advice}")
    command, function = STEPS[name]
    values = command.make_context(name, arguments).params
    return build_call(function, {key: value for key, value in values.items() if key not in CALL_OPTIONS})


@step("open", "goto")
@click.argument("url")
@click.option("--state", metavar="NAME", help="In a new session with this saved sign-in.")
def open_page(url: str, state: str | None) -> ToolCall:
    """Open an address and wait for the page."""
    return ("createSession", {"url": url, "stateId": state}) if state else ("navigateToUrl", {"url": url})


@step("snapshot")
@click.argument("root", required=False)
@click.option("--full", "mode", flag_value="full", help="The whole page, not only the visible part.")
@click.option("--interactive", "mode", flag_value="interactive", help="Only elements you can act on.")
@click.option("--offset", type=int, help="First line to show.")
def take_snapshot(root: str | None, mode: str | None, offset: int | None) -> ToolCall:
    """Show the page, or its part ROOT, as an outline with a ref for each element."""
    return "snapshotPage", {"root": root, "mode": mode, "offset": offset}


@step("find")
@click.argument("text")
def find_text(text: str) -> ToolCall:
    """Show the elements whose text or name contains TEXT."""
    return "snapshotPage", {"find": text}


@step("read")
@click.argument("selector", required=False)
@click.option("--format", "kind", type=click.Choice(["markdown", "text", "html"]), help="[default: markdown]")
@click.option("--offset", type=int, help="First line to show.")
def read_page(selector: str | None, kind: str | None, offset: int | None) -> ToolCall:
    """Print the page's current text."""
    return "extractPageContent", {"selector": selector, "format": kind, "offset": offset}


@step("click")
@SELECTOR
@click.option("--button", type=click.Choice(["left", "right", "middle"]), help="[default: left]")
@click.option("--double", "clicks", flag_value=2, type=int, help="Click twice.")
def click_element(selector: str, button: str | None, clicks: int | None) -> ToolCall:
    """Click an element, by its ref or a CSS selector."""
    return "clickElement", {"selector": selector, "button": button, "clicks": clicks}


@step("fill")
@SELECTOR
@click.argument("text")
@click.option("--submit", is_flag=True, help="Press Enter afterwards.")
def fill_field(selector: str, text: str, *, submit: bool) -> ToolCall:
    """Replace a field's text."""
    return "inputText", {"selector": selector, "text": text, "submit": submit or None}


@step("type")
@SELECTOR
@click.argument("text")
@click.option("--submit", is_flag=True, help="Press Enter afterwards.")
def type_text(selector: str, text: str, *, submit: bool) -> ToolCall:
    """Type at the end of a field's text."""
    return "inputText", {"selector": selector, "text": text, "mode": "append", "submit": submit or None}


@step("select")
@SELECTOR
@click.argument("labels", nargs=-1, required=True, metavar="OPTION…")
def choose_options(selector: str, labels: tuple[str, ...]) -> ToolCall:
    """Choose options of a list by label or value."""
    return "selectOption", {"selector": selector, "options": [*labels]}


@step("check")
@SELECTOR
def check_box(selector: str) -> ToolCall:
    """Turn a check box, radio button or switch on."""
    return "selectOption", {"selector": selector, "checked": True}


@step("uncheck")
@SELECTOR
def uncheck_box(selector: str) -> ToolCall:
    """Turn a check box or switch off."""
    return "selectOption", {"selector": selector, "checked": False}


@step("press")
@click.argument("key")
def press_key(key: str) -> ToolCall:
    """Press a key or chord where the focus is: Enter, Control+a."""
    return "pressKey", {"key": key}


@step("hover")
@SELECTOR
def hover_element(selector: str) -> ToolCall:
    """Move the pointer onto an element."""
    return "hoverElement", {"selector": selector}


@step("drag")
@SELECTOR
@click.argument("to")
def drag_element(selector: str, to: str) -> ToolCall:
    """Drag an element onto another."""
    return "dragElement", {"selector": selector, "to": to}


@step("scroll")
@click.argument("direction", type=click.Choice(["up", "down", "left", "right"]), default="down")
@click.argument("pixels", type=float, required=False)
@click.option("--in", "selector", help="Element to scroll [default: the page].")
def scroll_page(direction: str, pixels: float | None, selector: str | None) -> ToolCall:
    """Scroll the page or an element in it."""
    return "scrollPage", {"direction": direction, "amount": pixels, "selector": selector}


@step("wait")
@click.argument("text", required=False)
@click.option("--selector", help="Wait for this element.")
@click.option("--url", help="Wait until the address contains this.")
@click.option("--gone", is_flag=True, help="Wait until it disappears.")
@click.option("--seconds", type=float, help="Seconds at most [default: 10].")
def wait_for_page(
    text: str | None, selector: str | None, url: str | None, seconds: float | None, *, gone: bool
) -> ToolCall:
    """Wait until the page shows TEXT, an element or an address."""
    return "waitFor", {"text": text, "selector": selector, "url": url, "seconds": seconds, "gone": gone or None}


@step("screenshot")
@click.argument("selector", required=False)
@click.option("--full", "mode", flag_value="fullPage", help="The whole page.")
@click.option("--refs", is_flag=True, help="Draw refs on the picture.")
def take_screenshot(selector: str | None, mode: str | None, *, refs: bool) -> ToolCall:
    """Save a picture of the page or an element, and print its path."""
    return "takeScreenshot", {"selector": selector, "mode": mode, "refs": refs or None}


@step("pdf")
def save_pdf() -> ToolCall:
    """Save the page as a PDF, and print its path."""
    return "takeScreenshot", {"mode": "pdf"}


@step("tabs")
@click.argument("action", type=click.Choice(["list", "new", "switch", "close"]), default="list")
@click.argument("which", required=False)
def manage_tabs(action: str, which: str | None) -> ToolCall:
    """List the tabs, open one at an address, switch to or close one by its number."""
    return "manageTabs", {"action": action, "url" if action == "new" else "tab": which}


@step("back")
def go_back() -> ToolCall:
    """Go one page back."""
    return "navigateBack", {}


@step("forward")
def go_forward() -> ToolCall:
    """Go one page forward."""
    return "navigateForward", {}


@step("url")
def show_url() -> ToolCall:
    """Print the page's address."""
    return "getCurrentUrl", {}


@step("title")
def show_title() -> ToolCall:
    """Print the page's title."""
    return "getPageTitle", {}


@step("console")
@click.option("--failed", is_flag=True, help="Only errors.")
@click.option("--last", type=int, help="Number of entries [default: 30].")
def show_console(last: int | None, *, failed: bool) -> ToolCall:
    """List the newest console messages."""
    return "readLogs", {"kind": "console", "failedOnly": failed or None, "last": last}


@step("network")
@click.option("--failed", is_flag=True, help="Only failed requests.")
@click.option("--last", type=int, help="Number of entries [default: 30].")
def show_network(last: int | None, *, failed: bool) -> ToolCall:
    """List the newest requests."""
    return "readLogs", {"kind": "network", "failedOnly": failed or None, "last": last}


@step("downloads")
def show_downloads() -> ToolCall:
    """List the downloads and their paths."""
    return "readLogs", {"kind": "downloads"}


@step("download")
@SELECTOR
def download_file(selector: str) -> ToolCall:
    """Click an element, wait for the download it starts, and save the file here."""
    return DOWNLOAD, {"selector": selector}


@step("upload")
@SELECTOR
@click.argument("paths", nargs=-1, required=True)
def upload_files(selector: str, paths: tuple[str, ...]) -> ToolCall:
    """Upload files from the workspace, or else this directory, to a file field."""
    return "uploadFiles", {"selector": selector, "paths": [*paths]}


@step("dialog")
@click.argument("answer", type=click.Choice(["accept", "dismiss"]))
@click.argument("text", required=False)
def answer_dialog(answer: str, text: str | None) -> ToolCall:
    """Answer the open dialog, or the next one."""
    return "answerDialog", {"accept": answer == "accept", "text": text}


@step("eval")
@click.argument("script")
def run_script(script: str) -> ToolCall:
    """Run JavaScript in the page, where the operator has enabled it."""
    return "inject_javascript", {"script": script}


@step("sessions")
def list_sessions() -> ToolCall:
    """List the open sessions of this directory."""
    return "listSessions", {}


@step("close")
def close_session() -> ToolCall:
    """Close the session and delete its cookies."""
    return "closeSession", {}
