"""The errors of tools, named for the model's next move.

    OutriderError
    ├── InvalidInput     the arguments are wrong: call again with better ones
    ├── NotFound         the thing named does not exist (any more): choose another
    ├── Refused          policy or a person said no: do something else
    ├── NotConfigured    an operator must act first (a key, a browser)
    └── Unavailable      the outside world failed: calling again may work

Any other exception from a tool is a bug: the model gets an incident id, and the log the traceback.
`AnswerNeeded` is not a failure: the call pauses until a person has answered.
"""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from outrider.core.questions import Question, QuestionKind
from outrider.core.text import count_tokens

MAX_ERROR_TOKENS = 120  # of the text that models read, and of the JSON that some hosts show them in its place
ERROR_META_KEY = "outrider/error"  # in `_meta`: details for programs that models do not need


class OutriderError(Exception):
    """Base of all errors that a model may read.

    Args:
        message: The problem, in one sentence that names the field or the object.
        hint: The shortest remedy, as an instruction. May be empty.
        code: A stable machine name, finer than the kind (for instance `captcha`); default: the kind.
        details: JSON-able facts for programs.
        retry_after: Seconds after which the same call may work; None if unknown.
    """

    kind: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: str = "",
        details: dict[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        if "`outrider " in hint:
            from outrider.core.installation import get_installation  # reads files, which most errors need not

            hint = get_installation().adapt_commands(hint)
        self.message = message
        self.hint = hint
        self.code = code or self.kind
        self.details = details or {}
        self.retry_after = retry_after

    def to_dict(self) -> dict[str, Any]:
        """Return the error as a JSON object for programs; empty hint, details and retry_after are left out."""
        required = {"code": self.code, "kind": self.kind, "message": self.message, "retryable": self.retryable}
        optional = {"hint": self.hint, "details": self.details, "retry_after": self.retry_after}
        return required | {name: value for name, value in optional.items() if value not in (None, "", {})}

    def split_for_model(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return `to_dict` with only the reason as details, and all details.

        The model gets the former; only programs read the latter.
        """
        shown = self.to_dict()
        details = shown.pop("details", {})
        if "reason" in details:
            shown["details"] = {"reason": details["reason"]}
        return shown, {"details": details} if details else {}


class InvalidInput(OutriderError):
    kind = "invalid_input"


class NotFound(OutriderError):
    kind = "not_found"


class Refused(OutriderError):
    kind = "refused"


class NotConfigured(OutriderError):
    kind = "not_configured"


class Unavailable(OutriderError):
    kind = "unavailable"
    retryable = True


class AnswerNeeded(Exception):
    """A call pauses until a person has answered a question.

    Args:
        question: The question, with the arguments in full and what they will do.
        state: What the same call needs to resume, as text; encrypted before it leaves the process.
        kind: Whether consent, a login or a written answer is needed.
        details: JSON-able facts; for an authentication `provider`, and where known `scope` and `url`.
        questions: The questions of child runs, each with its own id. Empty when the call itself asks.
        lasting: What the same answer may allow permanently; empty if only this call can be allowed.
    """

    def __init__(
        self,
        question: str,
        *,
        state: str,
        kind: QuestionKind = "approval",
        details: dict[str, Any] | None = None,
        questions: Sequence[Question] = (),
        lasting: str = "",
    ) -> None:
        super().__init__(question)
        self.question = question
        self.state = state
        self.kind = kind
        self.details = details or {}
        self.questions = tuple(questions)
        self.lasting = lasting


def shorten_error(error: OutriderError, max_tokens: int = MAX_ERROR_TOKENS) -> OutriderError:
    """Cut the middle out of a long message, and of its hint, in place; their beginnings and ends say most."""
    min_hint_tokens = 50  # even if the message is long
    min_bytes_per_token = 2  # shorter errors, which most are, need no tokenizer
    shown = json.dumps({"error": error.split_for_model()[0]}, ensure_ascii=False)
    if len(shown.encode("utf-8", "replace")) < min_bytes_per_token * max_tokens:
        return error
    message_tokens, hint_tokens = _count_json_tokens(error.message), _count_json_tokens(error.hint)
    frame = {"error": error.split_for_model()[0] | {"message": "", "hint": ""}}
    max_tokens -= _count_json_tokens(frame)
    if message_tokens + hint_tokens > max_tokens:
        error.hint = shorten_middle(error.hint, max(min_hint_tokens, max_tokens - message_tokens))
        error.message = shorten_middle(error.message, max_tokens - _count_json_tokens(error.hint))
    return error


def shorten_middle(text: str, max_tokens: int) -> str:
    """Return a text of at most this many tokens as JSON, its middle replaced by `…`."""
    max_chars = 8 * max_tokens
    shortened = text if len(text) <= max_chars else f"{text[: max_chars // 2]}…{text[-max_chars // 2 :]}"
    while _count_json_tokens(shortened) > max_tokens:
        head, tail = max_chars * 2 // 3, max_chars // 3
        shortened = f"{text[:head]}…{text[-tail:]}" if len(text) > max_chars else text
        max_chars = max_chars * 9 // 10
    return shortened


def _count_json_tokens(value: Any) -> int:
    """Count the tokens of a value as JSON.

    A text that is too long in any language is cut first.
    """
    max_counted_chars = 10_000
    return count_tokens(json.dumps(value, ensure_ascii=False)[:max_counted_chars])
