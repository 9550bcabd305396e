"""Test that private arguments are usable but never saved in plain text."""

from pathlib import Path

import pytest

from support.apps.agent_runs import open_scripted_app
from support.apps.agent_tools import read_ledger_lines
from support.fakes.model_apis import ModelTurn, play_turns

PASSWORD = "correct-horse-9182"
UNLOCK = play_turns(
    ModelTurn(calls=[("unlock", {"door": "cellar", "password": PASSWORD})]), ModelTurn(text="It is open.")
)


def list_files_with(home: Path, text: str) -> list[str]:
    """Return the files of this home that contain the text unencrypted."""
    files = [each for each in home.rglob("*") if each.is_file() and each.name != "ledger.txt"]
    return [each.name for each in files if text.encode() in each.read_bytes()]


async def test_a_run_resumes_with_the_original_arguments_and_no_file_contains_them(home: Path):
    async with open_scripted_app(UNLOCK) as scripted:
        run = await scripted.run_to_end()
        (question,) = await scripted.app.runs.questions.list_pending(run.id)
        assert question.arguments == {"door": "cellar", "password": "(not kept)"}
    assert list_files_with(home, "cellar")
    assert list_files_with(home, PASSWORD) == []
    async with open_scripted_app(UNLOCK) as scripted:
        await scripted.app.runs.questions.decide(question.id, "approved")
        ended = await scripted.wait_for_end(await scripted.app.runs.resume(run.id))
        assert list_files_with(home, PASSWORD) == []
    assert (ended.status, ended.answer) == ("completed", "It is open.")
    assert [line.split(maxsplit=1)[1] for line in read_ledger_lines(home)] == [
        f"cellar {len(PASSWORD)} {PASSWORD[::-1]}"
    ]
    assert PASSWORD in scripted.model_server.requests[0].text
    assert list_files_with(home, PASSWORD) == []


async def test_the_saved_history_does_not_contain_private_arguments(home: Path):
    async with open_scripted_app(UNLOCK) as scripted:
        run = await scripted.run_to_end(stakes={"unlock": "low"})
        history = (await scripted.app.runs.get(run.id)).history
    assert PASSWORD not in str(history)
    assert "(not kept)" in str(history)


async def test_under_another_key_the_run_says_what_is_missing():
    async with open_scripted_app(UNLOCK, serve={"state_key": "a" * 40}) as scripted:
        run = await scripted.run_to_end()
        (question,) = await scripted.app.runs.questions.list_pending(run.id)
    async with open_scripted_app(UNLOCK, serve={"state_key": "b" * 40}) as scripted:
        await scripted.app.runs.questions.decide(question.id, "approved")
        ended = await scripted.wait_for_end(await scripted.app.runs.resume(run.id))
    assert (ended.status, ended.stop_reason) == ("failed", "error")
    assert ended.error is not None
    assert ended.error["code"] == "sealed_elsewhere"
    assert "serve.state_key" in ended.error["hint"]


@pytest.mark.parametrize("broken", ['{"door": "cellar", "password": "correct-horse-9182', "correct-horse-9182"])
async def test_malformed_private_arguments_are_not_stored_either(home: Path, broken: str):
    turns = play_turns(ModelTurn(calls=[("unlock", broken)]), ModelTurn(text="I give up."))
    async with open_scripted_app(turns) as scripted:
        run = await scripted.run_to_end()
    assert run.answer == "I give up."
    assert list_files_with(home, PASSWORD) == []
