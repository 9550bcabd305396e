"""`outrider config`: show every setting with its origin."""

import click

from outrider.cli.command_group import HelpfulGroup
from outrider.cli.options import add_serving_options, load_settings
from outrider.cli.output import print_json, print_line, print_notes
from outrider.settings import Settings


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Show the effective settings, or their schema."""


@command.command()
@add_serving_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(sets: tuple[str, ...], *, as_json: bool, **flags: str | None) -> None:
    """Print every effective value with its origin; secrets are masked."""
    settings = load_settings(sets, **flags)
    rows = settings.list_rows()
    if as_json:
        print_json({name: {"value": value, "origin": origin} for name, value, origin in rows})
    else:
        width = max(len(name) for name, _, _ in rows)
        for name, value, origin in rows:
            print_line(f"{name:<{width}}  {value}  {click.style(f'({origin})', dim=True)}")
    print_notes(settings.warnings)


@command.command()
def schema() -> None:
    """Print the JSON Schema of ~/.outrider/settings.json."""
    print_json(Settings.model_json_schema())
