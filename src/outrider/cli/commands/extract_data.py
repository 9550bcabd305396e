"""`outrider extract-data`: extract values from pages by a JSON schema."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, print_json, print_notes, print_text
from outrider.core.errors import InvalidInput


@click.command("extract-data")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--schema", required=True, help='JSON schema or {"name": "type"}, or a file with it.')
@click.option("--max-pages", type=click.IntRange(1, 50), default=1, show_default=True, help="List pages to read.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of JSON.")
@click.option("--evidence", is_flag=True, help="Add the quote, place and confidence of each value.")
@click.option("--use-model", is_flag=True, help="Let the configured model find what tables and labels do not show.")
@add_settings_option
@async_command
async def command(
    urls: tuple[str, ...],
    sets: tuple[str, ...],
    *,
    schema: str,
    as_csv: bool,
    evidence: bool,
    max_pages: int,
    use_model: bool,
) -> None:
    """Extract values from pages by a JSON schema. Exit code 1: some field has no value."""
    arguments: dict[str, Any] = {"urls": list(urls), "output_schema": read_schema(schema), "max_pages": max_pages}
    arguments |= {"use_model": True} if use_model else {}
    async with open_app(load_settings((*sets, "boundary=false"))) as app:
        data = (await app.call("web_extract", **arguments)).data
    rows = [item["data"] for item in data["items"]]
    if as_csv:
        from outrider.pages.values.value_fields import build_plan
        from outrider.toolsets.web.values import render_csv

        print_text(render_csv(rows, build_plan(arguments["output_schema"])))
    else:
        print_json(data if evidence else rows)
    missing = data.get("missing", [])
    print_notes([*data.get("notes", []), *([f"no value for {', '.join(missing)}"] if missing else [])])
    if missing:
        sys.exit(EXIT_PARTIAL)


def read_schema(schema_text: str) -> dict[str, Any]:
    """Return the schema in a text or in the file of that name. Raises InvalidInput."""
    hint = 'give JSON like \'{"price": "number"}\', or the path of a file with it'
    try:
        text = schema_text if schema_text.lstrip()[:1] == "{" else Path(schema_text).read_text(encoding="utf-8")
        schema = json.loads(text)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"--schema cannot be read: {error}", hint=hint) from None
    if not isinstance(schema, dict):
        raise InvalidInput("--schema is not a JSON object", hint=hint)
    return schema
