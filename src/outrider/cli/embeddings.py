"""`outrider content embeddings`: show and install embedding models."""

from typing import Any

import click

from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command, print_json, report_error
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import NotConfigured, OutriderError
from outrider.core.http import HttpClient


@click.group()
def embeddings() -> None:
    """Show or install the model for search by meaning."""


@embeddings.command()
@add_settings_option
def install(sets: tuple[str, ...]) -> None:
    """Install MiniLM (90 MB) for search by meaning on this machine."""
    from outrider.content.semantic.install import install_minilm as install_model

    folder = load_settings(sets).settings.data_dir / "models"
    try:
        found = install_model(folder, lambda line: click.echo(click.style(f"$ {line}", dim=True), err=True))
    except OutriderError as error:
        raise SystemExit(report_error(error)) from None
    click.echo(f"MiniLM is in {found}; stored content gets new vectors the next time stores are used")


@embeddings.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def status(sets: tuple[str, ...], *, as_json: bool) -> None:
    """Show which embedder is used, and what the others need."""
    from outrider.content.semantic.embedder import EmbedderDependencies
    from outrider.content.semantic.select_embedder import load_embedder_providers, select_embedder

    found = load_settings(sets)
    settings, http = found.settings, HttpClient(EgressGuard(found.settings.egress))
    folder = settings.data_dir / "models"
    means = EmbedderDependencies(settings.content.embedding, http, folder, found.environ, settings.models.keys)
    try:
        used = select_embedder(means.settings, http, means.environ, folder=folder, keys=means.keys)
    except NotConfigured:
        used = None
    name = used.name if used else ""
    rows: list[dict[str, Any]] = [
        {"name": each.name, "title": each.title, "missing": each.missing(means), "remedy": each.remedy}
        for each in load_embedder_providers().values()
    ]
    for row, each in zip(rows, load_embedder_providers().values(), strict=True):
        row["used"] = not row["missing"] and each.open(means).name == name
    await http.close()
    if as_json:
        print_json(rows)
        return
    for row in rows:
        mark = "*" if row["used"] else " "
        missing = f"{row['missing']}; {row['remedy']}" if row["missing"] else "usable"
        click.echo(f"{mark} {row['name']:<10} {row['title']}: {missing}")
