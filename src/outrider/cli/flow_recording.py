"""Record a person's actions in a window as a flow."""

import signal

import anyio
import click

from outrider.app import open_app
from outrider.browser.session.manual_recording import check_window, record_person
from outrider.cli.output import print_notes, remove_control_characters
from outrider.core.background import run_background
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.text import format_count
from outrider.flows.flow import require_flow_name
from outrider.settings import LoadedSettings
from outrider.toolsets.flows.tools import save_actions
from outrider.toolsets.options import ToolOptions


async def record_flow(loaded: LoadedSettings, name: str, url: str, description: str, *, replace: bool) -> bool:
    """Open a window, record, and save the flow; return whether anything was done. Raises OutriderError."""
    stopped = anyio.Event()

    async def wait_for_interrupt() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            await anext(aiter(signals))
            stopped.set()

    async with open_app(loaded) as app, run_background(wait_for_interrupt):
        store = app.flow_store
        if require_flow_name(name) in await anyio.to_thread.run_sync(store.list_names, Call()) and not replace:
            hint = "add --replace, or choose another name"
            raise InvalidInput(f"name: flow {name} exists already", hint=hint, code="flow_exists")
        check_window(loaded.settings.browser)  # before a browser is opened
        click.echo("Act in the window that opens, then close it or press Ctrl-C here.", err=True)
        recorded = await record_person(
            app.browsers,
            "record",
            url,
            on_step=lambda line: click.echo(remove_control_characters(line)),
            is_stopped=stopped.is_set,
            secrets=store.secrets.read_all().values(),
        )
        notes = [remove_control_characters(note) for note in recorded.notes]
        if not recorded.actions:
            print_notes(notes)
            return False
        options = {"description": description, "replace": replace}
        saved = await save_actions(store, ToolOptions(), Call(), name, recorded.actions, **options)
    click.echo(f"{saved.data.get('path', name)}: {format_count(saved.data['steps'], 'step')}")
    print_notes([*saved.data.get("notes", []), *notes])
    return True
