"""Plan, store pages, find passages, write and edit files, run code, and export a report."""

import base64
import csv
import io
import zipfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.types import BlobResourceContents, ElicitRequestParams, ElicitResult, TextResourceContents
from rich.markup import escape

from demo.agent import Agent, ToolAnswer, connect_agent, format_command
from demo.evidence import pick_sentences
from demo.terminal import DemoStep, Terminal

TOOLSETS = "toolsets=web,content_store,workspace,planning"
TODOS = ("Store the pages", "Find the best passages", "Write the report", "Count words with code", "Export the report")
MAX_CANDIDATES, MAX_PASSAGES = 20, 5
REPORT_LINES = 8  # lines of the report to show
WORD_COUNT_CODE = """
import csv, re
from collections import Counter
words = Counter()
for row in csv.DictReader(open("findings.csv", encoding="utf-8")):
    words.update(word for word in re.findall(r"[a-z]{4,}", row["passage"].lower()))
with open("words.csv", "w", newline="", encoding="utf-8") as file:
    table = csv.writer(file)
    table.writerow(["word", "count"])
    table.writerows(words.most_common(10))
print(", ".join(f"{word} {count}" for word, count in words.most_common(5)))
"""


async def run_report_demo(
    terminal: Terminal, home: Path, question: str, pages: list[str], settings: tuple[str, ...]
) -> bool:
    """Turn pages into an exported report; return whether the export is complete."""
    chosen = (TOOLSETS, *settings)
    with terminal.step("Write a report: plan, store, search, write, run code, export") as step:
        step.print(f"[dim]$[/] {escape(format_command(chosen))}")
        async with _connect_and_approve(step, home, chosen) as agent:
            await agent.call("create_goal", goal=f"A report on: {question}")
            for todo in TODOS:
                await agent.call("add_todo", name=todo)
            passages = await _store_and_search(step, agent, question, pages)
            await _write_report(step, agent, question, passages)
            has_run = await _run_code(step, agent)
            is_complete = await _export_report(step, agent, with_words=has_run)
            await _print_plan(step, agent)
    return bool(passages) and is_complete


@asynccontextmanager
async def _connect_and_approve(step: DemoStep, home: Path, settings: tuple[str, ...]) -> AsyncGenerator[Agent]:
    """Yield a connected agent whose user approves everything."""

    async def approve(context: Any, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001 - the protocol's
        step.print(f"[bold yellow]? {escape(params.message.splitlines()[0][:150])}…[/]")
        step.print("  [green]approved[/] [dim](by the demo; your host asks you)[/]")
        asked: dict[str, Any] = getattr(params, "requested_schema", {}).get("properties", {})
        return ElicitResult(action="accept", content={name: _choose_approval(field) for name, field in asked.items()})

    async with connect_agent(home, settings, answer_question=approve) as agent:
        yield agent


def _choose_approval(field: dict[str, Any]) -> str | bool:
    return field["enum"][0] if "enum" in field else True


async def _store_and_search(step: DemoStep, agent: Agent, question: str, pages: list[str]) -> list[dict[str, Any]]:
    """Store pages and return the passages that best match the question."""
    stored = [await agent.call("addContent", file_url=page) for page in pages]
    stored = [each for each in stored if not each.failed]
    chunks = sum(each.data["chunkCount"] for each in stored)
    await agent.call("mark_todo", id=1, summary=f"{len(stored)} pages")
    found = await agent.call("hybridSimilaritySearch", query=question, options={"top_n": MAX_CANDIDATES})
    step.count_tokens(found.text)
    hits = found.data.get("results", [])
    quotes = pick_sentences(question, [await _read_passage(agent, each) for each in hits])
    rank = {each.data["contentId"]: place for place, each in enumerate(stored)}
    ranked = sorted(
        zip(quotes, hits, strict=True), key=lambda pair: (-pair[0][1], rank.get(pair[1]["contentId"], len(rank)))
    )
    passages = [hit | {"quote": _join_lines(quote)} for (quote, _), hit in ranked[:MAX_PASSAGES]]
    await agent.call("mark_todo", id=2, summary=f"{len(passages)} passages")
    step.print(f"stored {len(stored)} pages in {chunks} chunks; {len(passages)} of them match the question, the best:")
    for each in passages[:1]:
        step.print(f"    [bold]{escape(each['quote'])}[/]  [dim]score {each['score']:.2f}[/]")
    return passages


async def _read_passage(agent: Agent, passage: dict[str, Any]) -> str:
    """Return all lines of a passage."""
    first, last = passage["lineRange"]
    read = await agent.call("readContent", content_id=passage["contentId"], from_line=first, to_line=last)
    return read.data["content"]


async def _write_report(step: DemoStep, agent: Agent, question: str, passages: list[dict[str, Any]]) -> None:
    """Write a table and a report, then edit the report by line number."""
    rows = [(each.get("title") or each.get("filename", ""), each["score"], each["quote"]) for each in passages]
    table = io.StringIO(newline="")
    csv.writer(table, lineterminator="\n").writerows([("source", "score", "passage"), *rows])
    await agent.call("write_file", path="findings.csv", content=table.getvalue())
    lines = [f"# {question}", "", "(a first draft)", "", *(f"> {text}\n>\n> ({name})\n" for name, _, text in rows)]
    await agent.call("write_file", path="report.md", content="\n".join(lines))
    edit = {"start_line": 3, "new_content": f"{len(rows)} passages, best first."}
    changed = await agent.call("replace_lines_in_file", path="report.md", replacements=[edit])
    step.count_tokens(changed.text)
    await agent.call("mark_todo", id=3, summary="report.md, findings.csv")
    step.print("wrote findings.csv and report.md, and edited a line:")
    for line in changed.text.splitlines()[3:]:
        if line.startswith(("-", "+")):
            step.print(f"    {escape(line)}")


async def _run_code(step: DemoStep, agent: Agent) -> bool:
    """Count words with Python in a sandbox; return whether this machine has one."""
    ran = await agent.call("execute_python", code=WORD_COUNT_CODE)
    step.count_tokens(ran.text)
    if ran.failed:
        step.print(f"[yellow]{escape(_explain_failure(ran))}[/]")
        await agent.call("remove_todo", id=4)
        return False
    await agent.call("mark_todo", id=4, summary="words.csv")
    step.print(f"Python ran in a sandbox ({ran.data['isolation']}): {escape(ran.data['stdout'].strip())}")
    return True


async def _export_report(step: DemoStep, agent: Agent, *, with_words: bool) -> bool:
    """Export the report as a page and all files as a zip, and check both."""
    page = await agent.call("export_file", path="report.md", format="html", display_name="Report")
    files = ["report.md", "findings.csv", *(["words.csv"] if with_words else [])]
    package = await agent.call("export_zip", files=files, package_name="report")
    step.count_tokens(page.text + package.text)
    html, data = [await _read_export(agent, each) for each in (page, package)]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
    await agent.call("mark_todo", id=5, summary=", ".join(names))
    step.print(f"exported a page ({len(html):,} bytes) and a zip ({len(data):,} bytes) with {', '.join(names)}")
    report = (await agent.call("read_file", path="report.md")).text
    step.print("the report begins:")
    for line in [line for line in report.splitlines() if line.strip("> ")][:REPORT_LINES]:
        step.print(f"    {escape(line)}")
    return names == files and b"<blockquote>" in html


async def _print_plan(step: DemoStep, agent: Agent) -> None:
    """Print the state that the next system prompt would hold."""
    found = (await agent.client.read_resource("context://planning")).contents[0]
    assert isinstance(found, TextResourceContents)
    done = [line for line in found.text.splitlines() if line.startswith("ID:")]
    step.print(f"context://planning: {sum('[✓]' in line for line in done)} of {len(done)} todos are done")


async def _read_export(agent: Agent, exported: ToolAnswer) -> bytes:
    found = (await agent.client.read_resource(exported.meta["outrider/uri"])).contents[0]
    assert isinstance(found, BlobResourceContents)
    return base64.b64decode(found.blob)


def _explain_failure(ran: ToolAnswer) -> str:
    """Return why code did not run, and the remedy."""
    error = ran.data.get("error", {})
    return f"Code cannot run on this machine: {error.get('message', ran.text)}; {error.get('hint', '')}".strip("; ")


def _join_lines(text: str) -> str:
    return " ".join(text.split())
