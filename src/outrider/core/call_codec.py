"""A call as JSON, for another process that does its work, and back: who calls, for whom, with which rights.

What only lives in one process (how progress is told, the client's own model) stays there.
"""

from collections.abc import Mapping
from typing import Any

from outrider.core.context import Call, RunContext
from outrider.core.grant import Grant
from outrider.core.questions import QuestionAnswer

CALL_FIELDS = ("session", "assistant", "thread", "workspace", "identity", "message", "answer", "state", "extra")


def serialize_call(call: Call) -> dict[str, Any]:
    """The call as JSON."""
    facts: dict[str, Any] = {name: getattr(call, name) for name in CALL_FIELDS}
    return facts | {
        "citations": list(call.citations) if call.citations else None,
        "answers": {name: vars(each) for name, each in call.answers.items()},
        "run": vars(call.run) | {"ancestors": list(call.run.ancestors)} if call.run else None,
        "grant": call.grant.to_dict() if call.grant else None,
    }


def parse_call(facts: Mapping[str, Any], **here: Any) -> Call:
    """The call that `call_facts` told of; `here` is what this process adds, for instance `progress`."""
    run, citations = facts["run"], facts["citations"]
    given: dict[str, Any] = {name: facts[name] for name in CALL_FIELDS}
    return Call(
        **given,
        citations=(citations[0], citations[1]) if citations else None,
        answers={name: QuestionAnswer(**each) for name, each in facts["answers"].items()},
        run=RunContext(**(run | {"ancestors": tuple(run["ancestors"])})) if run else None,
        grant=Grant.from_dict(facts["grant"]),
        **here,
    )
