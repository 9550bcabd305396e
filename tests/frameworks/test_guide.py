"""The programs of the frameworks guide, installed and run like a reader would."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

import outrider
from support.apps import loopback_app, shared_process
from support.checkout import CHECKOUT
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, ScriptedRequest
from support.processes.newest_packages import install

pytestmark = pytest.mark.anyio
GUIDE = (CHECKOUT / "docs" / "guides" / "frameworks.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (.+?)\n.*?pip install (.+?)\n.*?```python\n(.+?)```", re.MULTILINE | re.DOTALL)
SECTIONS = {name: (packages.replace('"', "").split(), program) for name, packages, program in SECTION.findall(GUIDE)}
FACT = "High water at six in the morning"
TIDES_SITE = loopback_app.build_page_site({"/tides": loopback_app.build_article_html("Tides", f"{FACT}. " * 10)})


@pytest.mark.parametrize("name", SECTIONS)
async def test_an_agent_reads_a_page_and_answers_with_it(name: str, home: Path):
    packages, program = SECTIONS[name]
    python = await anyio.to_thread.run_sync(install, name, packages)

    async with http_servers.serve_app(TIDES_SITE) as site:

        def play(asked: ScriptedRequest) -> ModelTurn:
            readers = [tool for tool in asked.tool_names if tool.endswith("web_fetch")]
            if not asked.results:
                return ModelTurn(calls=[(readers[0], {"url": f"{site}/tides"})])
            return ModelTurn(text=f"It says: {asked.results[-1]}")

        (home / ".outrider").mkdir()
        (home / ".outrider" / "settings.json").write_text(
            json.dumps({"egress": {"allow": [site.removeprefix("http://")]}})
        )
        async with http_servers.serve_app(ModelServer(play).build_app()) as model:
            environment = {
                "HOME": str(home),
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": f"{model}/v1",
                "OPENAI_API_BASE": f"{model}/v1",  # LlamaIndex
                "OPENAI_AGENTS_DISABLE_TRACING": "1",
                "ANTHROPIC_API_KEY": "none",
                "ANTHROPIC_BASE_URL": model,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            }
            with shared_process.start_host_user(home, Path(outrider.__file__).parents[1]), anyio.fail_after(180):
                ran = await anyio.run_process(
                    [str(python), "-c", program], env=environment, cwd=home, check=False, stderr=subprocess.PIPE
                )
    assert FACT in ran.stdout.decode(), ran.stderr.decode()


def test_the_guide_has_each_framework():
    assert list(SECTIONS) == ["pydantic-ai", "LangChain", "OpenAI Agents SDK", "LlamaIndex", "Claude Agent SDK"]
