"""Approve a flow at a terminal, after its steps were shown."""

import anyio
import click

from outrider.app import open_app
from outrider.cli.output import remove_control_characters
from outrider.core.context import Call
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow import require_flow_name
from outrider.flows.flow_runs import build_owner_key
from outrider.flows.program import format_program
from outrider.settings import LoadedSettings


async def ask_approval(loaded: LoadedSettings, name: str) -> bool:
    """Show a flow and ask for its name; store the approval of the shown version. Raises OutriderError."""
    async with open_app(loaded) as app:
        program = await anyio.to_thread.run_sync(app.flow_store.load_program, Call(), name)
        click.echo(remove_control_characters(format_program(program)))
        flow = program.flow
        question = f"Let version {flow.version} of it do all this without asking? Type {flow.name} to approve"
        if click.prompt(question, default="", show_default=False).strip() != flow.name:
            return False
        await FlowApprovals(app.database).approve(build_owner_key(Call()), program, by="terminal")
    return True


async def withdraw_approval(loaded: LoadedSettings, name: str) -> bool:
    """Withdraw the approval of a flow; return whether there was one. Raises OutriderError."""
    async with open_app(loaded) as app:
        return await FlowApprovals(app.database).withdraw(build_owner_key(Call()), require_flow_name(name))
