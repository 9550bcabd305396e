"""A scripted agent with memory and hands: it plans, keeps what it reads, writes, computes, and hands out the result."""

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

from demo.agent import Agent, Answer, command_line, connected
from demo.evidence import told
from demo.stage import Stage, Step

TOOLSETS = "toolsets=web,content_store,workspace,planning"
TODOS = ("Keep what was read", "Find the passages that matter", "Write them down", "Count with code", "Hand it out")
CANDIDATES, PASSAGES = 20, 5
SHOWN = 8  # lines of the report
# What the agent lets its own code do: no network, no other files, and a result that anybody can check.
COUNTING = """
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


async def shown(stage: Stage, home: Path, question: str, pages: list[str], settings: tuple[str, ...]) -> bool:
    """Shows the whole way from pages to a package; whether the package holds what was written."""
    chosen = (TOOLSETS, *settings)
    with stage.step("An agent with memory and hands: plan, keep, find, write, compute, hand out") as step:
        step.say(f"[dim]$[/] {escape(command_line(chosen))}")
        async with _at_work(step, home, chosen) as agent:
            await agent.call("create_goal", goal=f"A report on: {question}")
            for todo in TODOS:
                await agent.call("add_todo", name=todo)
            passages = await _researched(step, agent, question, pages)
            await _written(step, agent, question, passages)
            computed = await _computed(step, agent)
            whole = await _handed_out(step, agent, computed=computed)
            await _stands(step, agent)
    return bool(passages) and whole


@asynccontextmanager
async def _at_work(step: Step, home: Path, settings: tuple[str, ...]) -> AsyncGenerator[Agent]:
    """A connected agent whose user allows what it asks for."""

    async def allow(context: Any, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001 - the protocol's
        step.say(f"[bold yellow]? {escape(params.message.splitlines()[0][:150])}…[/]")
        step.say("  [green]allowed[/] [dim](by the demo; your host shows you this question)[/]")
        asked: dict[str, Any] = getattr(params, "requested_schema", {}).get("properties", {})
        return ElicitResult(action="accept", content={name: _yes(field) for name, field in asked.items()})

    async with connected(home, settings, person=allow) as agent:
        yield agent


def _yes(field: dict[str, Any]) -> str | bool:
    return field["enum"][0] if "enum" in field else True


async def _researched(step: Step, agent: Agent, question: str, pages: list[str]) -> list[dict[str, Any]]:
    """Puts pages into the store, and finds what they say to the question."""
    kept = [await agent.call("addContent", file_url=page) for page in pages]
    kept = [each for each in kept if not each.failed]
    chunks = sum(each.data["chunkCount"] for each in kept)
    await agent.call("mark_todo", id=1, summary=f"{len(kept)} pages")
    found = await agent.call("hybridSimilaritySearch", query=question, options={"top_n": CANDIDATES})
    step.cost(found.text)
    hits = found.data.get("results", [])
    quotes = told(question, [await _whole(agent, each) for each in hits])
    rank = {each.data["contentId"]: place for place, each in enumerate(kept)}
    worth = sorted(
        zip(quotes, hits, strict=True), key=lambda pair: (-pair[0][1], rank.get(pair[1]["contentId"], len(rank)))
    )
    passages = [hit | {"quote": _plain(quote)} for (quote, _), hit in worth[:PASSAGES]]
    await agent.call("mark_todo", id=2, summary=f"{len(passages)} passages")
    step.say(f"kept {len(kept)} pages in {chunks} parts; {len(passages)} of them speak to the question, first")
    for each in passages[:1]:
        step.say(f"    [bold]{escape(each['quote'])}[/]  [dim]score {each['score']:.2f}[/]")
    return passages


async def _whole(agent: Agent, passage: dict[str, Any]) -> str:
    """The part of the content that was found, from its first to its last line."""
    first, last = passage["lineRange"]
    read = await agent.call("readContent", content_id=passage["contentId"], from_line=first, to_line=last)
    return read.data["content"]


async def _written(step: Step, agent: Agent, question: str, passages: list[dict[str, Any]]) -> None:
    """Writes a table and a report, then corrects the report by line number."""
    rows = [(each.get("title") or each.get("filename", ""), each["score"], each["quote"]) for each in passages]
    table = io.StringIO(newline="")
    csv.writer(table, lineterminator="\n").writerows([("source", "score", "passage"), *rows])
    await agent.call("write_file", path="findings.csv", content=table.getvalue())
    lines = [f"# {question}", "", "(a first draft)", "", *(f"> {text}\n>\n> ({name})\n" for name, _, text in rows)]
    await agent.call("write_file", path="report.md", content="\n".join(lines))
    edit = {"start_line": 3, "new_content": f"{len(rows)} passages, best first."}
    changed = await agent.call("replace_lines_in_file", path="report.md", replacements=[edit])
    step.cost(changed.text)
    await agent.call("mark_todo", id=3, summary="report.md, findings.csv")
    step.say("wrote findings.csv and report.md, and corrected a line:")
    for line in changed.text.splitlines()[3:]:
        if line.startswith(("-", "+")):
            step.say(f"    {escape(line)}")


async def _computed(step: Step, agent: Agent) -> bool:
    """Lets code count words, in a sandbox; whether this machine has one."""
    ran = await agent.call("execute_python", code=COUNTING)
    step.cost(ran.text)
    if ran.failed:
        step.say(f"[yellow]{escape(_refusal(ran))}[/]")
        await agent.call("remove_todo", id=4)
        return False
    await agent.call("mark_todo", id=4, summary="words.csv")
    step.say(f"its code ran in a sandbox ({ran.data['isolation']}): {escape(ran.data['stdout'].strip())}")
    return True


async def _handed_out(step: Step, agent: Agent, *, computed: bool) -> bool:
    """Exports the report as a page and everything as a zip, and looks into both as the user would."""
    page = await agent.call("export_file", path="report.md", format="html", display_name="Report")
    files = ["report.md", "findings.csv", *(["words.csv"] if computed else [])]
    package = await agent.call("export_zip", files=files, package_name="report")
    step.cost(page.text + package.text)
    html, data = [await _read(agent, each) for each in (page, package)]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
    await agent.call("mark_todo", id=5, summary=", ".join(names))
    step.say(f"handed out a page ({len(html):,} bytes) and a zip ({len(data):,} bytes) with {', '.join(names)}")
    report = (await agent.call("read_file", path="report.md")).text
    step.say("the report begins:")
    for line in [line for line in report.splitlines() if line.strip("> ")][:SHOWN]:
        step.say(f"    {escape(line)}")
    return names == files and b"<blockquote>" in html


async def _stands(step: Step, agent: Agent) -> None:
    """What the next turn's system prompt would say."""
    found = (await agent.client.read_resource("context://planning")).contents[0]
    assert isinstance(found, TextResourceContents)
    done = [line for line in found.text.splitlines() if line.startswith("ID:")]
    step.say(f"context://planning: {sum('[✓]' in line for line in done)} of {len(done)} todos are done")


async def _read(agent: Agent, exported: Answer) -> bytes:
    found = (await agent.client.read_resource(exported.meta["outrider/uri"])).contents[0]
    assert isinstance(found, BlobResourceContents)
    return base64.b64decode(found.blob)


def _refusal(ran: Answer) -> str:
    """Why code did not run here, and what helps."""
    wrong = ran.data.get("error", {})
    return f"No code on this machine: {wrong.get('message', ran.text)} {wrong.get('hint', '')}".strip()


def _plain(text: str) -> str:
    return " ".join(text.split())
