"""Test nesting, visibility and attachments of conversations."""

import pytest

from outrider.agents.conversations import Conversation, Conversations
from outrider.core.context import Call, RunContext
from outrider.core.database.database import Database
from outrider.core.errors import NotFound, Refused

pytestmark = pytest.mark.anyio
ANN = Call(session="s1", workspace="w", identity="ann@a.example")


@pytest.fixture
def conversations(database: Database) -> Conversations:
    return Conversations(database)


def build_run_context(conversation: Conversation) -> RunContext:
    """A run that answers in that conversation."""
    return RunContext(
        "run", "root", conversation.id, conversation.agent, conversation.depth, tuple(conversation.ancestors)
    )


async def test_a_child_conversation_is_one_level_deeper_unlisted_and_of_the_same_person(conversations: Conversations):
    parent = await conversations.create(ANN, "a", title="talk", visibility="listed")
    child = await conversations.create(ANN, "b", title="run_agent a > b", parent=build_run_context(parent))
    assert (parent.depth, parent.visibility, parent.ancestors) == (0, "listed", ())
    assert (child.depth, child.visibility, child.ancestors, child.parent_id) == (1, "unlisted", ("a",), parent.id)
    assert (child.identity, child.workspace) == ("ann@a.example", "w")
    assert await conversations.get(child.id) == child


async def test_the_fifth_level_is_refused(conversations: Conversations):
    last = await conversations.create(ANN, "a0", title="t")
    for number in range(1, 5):
        last = await conversations.create(ANN, f"a{number}", title="t", parent=build_run_context(last))
    assert last.depth == 4
    with pytest.raises(Refused, match="4 levels deep") as refused:
        await conversations.create(ANN, "a5", title="t", parent=build_run_context(last))
    assert refused.value.code == "agent_depth"


@pytest.mark.parametrize("again", ["a", "b"])
async def test_an_agent_that_is_already_running_above_is_not_called_again(conversations: Conversations, again: str):
    first = await conversations.create(ANN, "a", title="t")
    second = await conversations.create(ANN, "b", title="t", parent=build_run_context(first))
    with pytest.raises(Refused, match=f"a > b > {again}|a > {again}") as refused:
        await conversations.create(ANN, again, title="t", parent=build_run_context(second))
    assert refused.value.code == "agent_cycle"


@pytest.mark.parametrize(
    ("caller", "may"),
    [
        (ANN, True),
        (Call(session="elsewhere", workspace="w", identity="ann@a.example"), True),
        (Call(session="s1", workspace="w"), True),
        (Call(session="elsewhere", workspace="w", identity="bob@a.example"), False),
        (Call(session="elsewhere", workspace="w"), False),
        (Call(session="s1", workspace="other", identity="ann@a.example"), False),
    ],
)
async def test_only_participants_see_a_conversation(conversations: Conversations, caller: Call, may: bool):
    made = await conversations.create(ANN, "a", title="t")
    if may:
        assert (await conversations.get(made.id, caller)).id == made.id
        return
    with pytest.raises(NotFound, match="does not exist"):
        await conversations.get(made.id, caller)


async def test_messages_come_in_the_order_in_which_they_were_written(conversations: Conversations):
    made = await conversations.create(ANN, "a", title="t")
    await conversations.post_message(made.id, "user", "first\0", agent="a")
    cites = {"k3d": {"title": "T", "href": "https://a.example"}}
    await conversations.post_message(
        made.id, "agent", "second", agent="a", thoughts="hm", citations=cites, run_id="run_1"
    )
    first, second = await conversations.list_messages(made.id)
    assert (first.role, first.text) == ("user", "first\ufffd")
    assert (second.role, second.thoughts, second.citations, second.run_id) == ("agent", "hm", cites, "run_1")
    assert (await conversations.get(made.id)).updated_at == second.created_at


async def test_attachments_are_found_by_id_and_unknown_ids_are_skipped(conversations: Conversations):
    made = await conversations.create(ANN, "a", title="t")
    files = [{"id": f"fil_{letter}", "title": letter, "content_type": "text/csv"} for letter in "ab"]
    await conversations.post_message(made.id, "user", "with files", files=files)
    assert await conversations.find_attachments(made.id, ["fil_b", "nobody", "fil_a", "fil_b"]) == [files[1], files[0]]
