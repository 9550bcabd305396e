"""Interpret fields that a tool does not have: flags, other units, objects around fields, and remarks."""

import math
from difflib import get_close_matches
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from outrider.core.argument_errors import shorten_text
from outrider.core.field_groups import GROUP_READERS
from outrider.core.parameter_names import find_parameter, normalize_name

MAX_UNKNOWN = 20  # more unknown fields than this are not typing mistakes
TRUE_WORDS = (True, "true", "yes", "on")
FALSE_WORDS = (False, "false", "no", "off")
# By flag of other tools, the parameter and its values for true and for false.
FLAGS: dict[str, tuple[tuple[str, Any, Any], ...]] = {
    "append": (("mode", "a", None),),
    "background": (("run_mode", "async", None),),
    "casesensitive": (("ignore_case", False, True),),
    "clear": (("mode", "replace", "append"),),
    "clearfirst": (("mode", "replace", "append"),),
    "darkmode": (("colorScheme", "dark", "light"),),
    "dblclick": (("clicks", 2, None),),
    "doubleclick": (("clicks", 2, None),),
    "full": (("max_chars", 0, None),),
    "fullpage": (("mode", "full", None),),
    "headed": (("headless", False, True), ("headless_browser", False, True)),
    "isbackground": (("run_mode", "async", None),),
    "javascript": (("render", "always", "never"),),
    "overwrite": (("mode", "w", None), ("mode", "replace", "append"), ("replace", True, False)),
    "pressenter": (("submit", True, False),),
    "raw": (("format", "html", None),),
    "rawhtml": (("format", "html", None),),
    "rightclick": (("button", "right", None),),
    "runinbackground": (("run_mode", "async", None), ("mode", "background", None)),
    "wait": (("run_mode", None, "async"),),
}
# The meaning of values of other tools' fields.
MEANINGS: dict[tuple[str, str], dict[str, Any]] = {
    ("action", "accept"): {"accept": True},
    ("action", "dismiss"): {"accept": False},
    ("state", "attached"): {},
    ("state", "detached"): {"gone": True},
    ("state", "hidden"): {"gone": True},
    ("state", "checked"): {"checked": True},
    ("state", "unchecked"): {"checked": False},
    ("state", "visible"): {},
    ("status", "failed"): {"succeeded": False},
    ("status", "failure"): {"succeeded": False},
    ("status", "pending"): {},
    ("status", "success"): {"succeeded": True},
}
# Remarks of a model, and requests that every tool fulfils anyway.
REMARKS = frozenset({
    "activeform", "callid", "comment", "debug", "description", "explanation", "intent", "justification", "rationale",
    "randomstring", "reason", "reasoning", "requestid", "thought", "thoughts", "tooluseid", "userid", "verbose", "why",
})  # fmt: skip
FULFILLED: dict[str, tuple[Any, ...]] = {
    "command": ("create",),
    "confirm": TRUE_WORDS,
    "createdirectories": TRUE_WORDS,
    "createdirs": TRUE_WORDS,
    "dryrun": FALSE_WORDS,
    "encoding": ("utf-8", "utf8"),
    "followredirects": TRUE_WORDS,
    "headless": TRUE_WORDS,
    "isregex": TRUE_WORDS,
    "language": ("bash", "javascript", "python", "shell", "typescript"),
    "makedirs": TRUE_WORDS,
    "maincontentonly": TRUE_WORDS,
    "method": ("get",),
    "onlymaincontent": TRUE_WORDS,
    "parents": TRUE_WORDS,
    "replaceall": FALSE_WORDS,
    "scrollintoview": TRUE_WORDS,
    "signal": ("sigterm", "term"),
    "slowly": FALSE_WORDS,
    "stream": FALSE_WORDS,
    "type": (
        "button",
        "checkbox",
        "combobox",
        "input",
        "jpeg",
        "link",
        "png",
        "radio",
        "select",
        "slider",
        "textbox",
        "url",
    ),
    "useregex": TRUE_WORDS,
}
# Time limits and conditions of page loading, which our tools choose themselves.
OWN_CHOICES = frozenset({
    "force", "nowaitafter", "quality", "screenshots", "timeout", "timeoutms", "timeoutseconds", "waituntil",
})  # fmt: skip


class UnknownFields:
    """The unknown fields of one object, and their meaning.

    Args:
        model: The parameters.
        given: The arguments understood so far; newly understood ones are added.
        unknown: The other fields as sent; understood ones are removed.
        notes: Gets a note on each field that was interpreted differently from its spelling.
    """

    def __init__(
        self, model: type[BaseModel], given: dict[str, Any], unknown: dict[str, Any], notes: list[str]
    ) -> None:
        self._model = model
        self._given = given
        self._unknown = unknown
        self._notes = notes

    def understand(self) -> None:
        """Move the fields that are understood to the arguments."""
        if len(self._unknown) > MAX_UNKNOWN:
            return
        self._open_objects()
        self._read_groups()
        for spelling, value in list(self._unknown.items()):
            understood = self._read_field(normalize_name(spelling), value)
            if understood is None or understood[0].keys() & self._given.keys():  # otherwise one would hide the other
                continue
            del self._unknown[spelling]
            self._given.update(understood[0])
            self._notes.extend([understood[1].format(shorten_text(spelling, 40))] if understood[1] else [])
        self._take_only_text()

    def _open_objects(self) -> None:
        """Unwrap an object whose fields are all parameters."""
        for spelling, sent in list(self._unknown.items()):
            value = sent[0] if isinstance(sent, list) and len(sent) == 1 else sent
            if not isinstance(value, dict) or not 0 < len(value) <= MAX_UNKNOWN:
                continue
            meant = {find_parameter(self._model, str(name)): each for name, each in value.items()}
            known = {name: each for name, each in meant.items() if name}
            rest = {name: each for name, each in value.items() if not find_parameter(self._model, str(name))}
            harmless = all(self._read_field(normalize_name(str(name)), each) is not None for name, each in rest.items())
            if known and harmless and not known.keys() & self._given.keys():
                self._given.update(known)
                self._notes.append(f"the fields of {shorten_text(spelling, 40)}")
                del self._unknown[spelling]

    def _read_groups(self) -> None:
        fields = frozenset(self._model.model_fields)
        for read_group, names in GROUP_READERS:
            used = [each for each in self._unknown if normalize_name(each) in names]
            nested = self._given.get("pagination")
            known = {
                name: self._given[name] for name in ("offset", "start_line", "from_line", "key") if name in self._given
            }
            by_name = (nested if isinstance(nested, dict) else {}) | known
            by_name |= {normalize_name(each): self._unknown[each] for each in used}
            understood = read_group(fields, by_name) if used else {}
            if not understood or (self._given.keys() & understood.keys()) - known.keys() - {"pagination"}:
                continue
            for spelling in used:
                del self._unknown[spelling]
            self._given.update(understood)
            self._notes.append(f"{' and '.join(used)} as {' and '.join(understood)}")

    def _read_field(self, name: str, value: Any) -> tuple[dict[str, Any], str] | None:
        """Return the meaning of a field with a note (`{}` is its name), or None."""
        flag = self._read_flag(name, value)
        if flag is None and isinstance(value, str) and (name, value.casefold()) in MEANINGS:
            meant = MEANINGS[name, value.casefold()]
            flag = meant if meant.keys() <= self._model.model_fields.keys() else None
        if flag is not None:
            assignments = ", ".join(f"{parameter}={each}" for parameter, each in flag.items())
            return flag, f"{{}} as {assignments}" if flag else ""
        if name == "textgone" and "gone" in self._model.model_fields:
            return {"text": value, "gone": True}, "{} as text"
        if name in ("days", "recency", "recencydays") and "freshness" in self._model.model_fields:
            periods = {1: "day", 7: "week", 30: "month", 31: "month", 365: "year"}
            freshness = periods.get(value) if isinstance(value, int) else None
            return ({"freshness": freshness}, "{} as freshness") if freshness else None
        if in_seconds := self._convert_milliseconds(name, value):
            return in_seconds, f"{{}} as {next(iter(in_seconds))} in seconds"
        if (name in REMARKS and isinstance(value, str | bool | int)) or _is_one_of(value, FULFILLED.get(name, ())):
            return {}, ""
        is_of_answer = name.startswith(("include", "return")) and isinstance(value, bool)
        return ({}, "without {}") if is_of_answer or name in OWN_CHOICES or value in ("", [], {}) else None

    def _read_flag(self, name: str, value: Any) -> dict[str, Any] | None:
        """Return the parameter that a flag sets; an empty result for a false flag that sets none."""
        name = name.removeprefix("include").removeprefix("allow") or name
        is_true = _is_one_of(value, TRUE_WORDS)
        if not is_true and not _is_one_of(value, FALSE_WORDS):
            return None
        meanings: list[tuple[str, Any, Any]] = [
            (parameter, choice, None)
            for parameter, field in self._model.model_fields.items()
            for choice in list_field_choices(field.annotation)
            if isinstance(choice, str) and normalize_name(choice) == name
        ] or [
            (parameter, *values)
            for parameter, *values in FLAGS.get(name, ())
            if (field := self._model.model_fields.get(parameter))
            and {*values} <= {*(list_field_choices(field.annotation) or values), None}
        ]
        if len(meanings) != 1 or meanings[0][0] in self._given:
            return None
        [(parameter, if_true, if_false)] = meanings
        meant = if_true if is_true else if_false
        return {} if meant is None else {parameter: meant}

    def _convert_milliseconds(self, name: str, value: Any) -> dict[str, Any] | None:
        """Return a time in milliseconds as the parameter that takes seconds."""
        unit = next((each for each in ("milliseconds", "millis", "ms") if name.endswith(each)), None)
        if unit is None or isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
            return None
        parameter = find_parameter(self._model, name.removesuffix(unit) or "seconds")
        if parameter is None or parameter in self._given or normalize_name(parameter).endswith("ms"):
            return None
        types = (
            self._model.model_fields[parameter].annotation,
            *get_args(self._model.model_fields[parameter].annotation),
        )
        if float in types:
            return {parameter: value / 1000}
        return {parameter: math.ceil(value / 1000)} if int in types else None

    def _take_only_text(self) -> None:
        """Use the only unknown text for the only missing text parameter."""
        missing = [
            name
            for name, field in self._model.model_fields.items()
            if field.is_required() and name not in self._given and name != "sessionId"
        ]
        known = list(self._model.model_fields)
        texts = [
            name
            for name, value in self._unknown.items()
            if isinstance(value, str) and not get_close_matches(name[:100], known, n=1, cutoff=0.75)
        ]
        if len(missing) != 1 or len(texts) != 1 or self._model.model_fields[missing[0]].annotation is not str:
            return
        if missing[0] == "url" and not {".", ":"} & set(self._unknown[texts[0]]):
            return
        self._given[missing[0]] = self._unknown.pop(texts[0])
        self._notes.append(f"{shorten_text(texts[0], 40)} as {missing[0]}")


def list_field_choices(annotation: Any) -> tuple[Any, ...]:
    """Return the values of a parameter that allows only some; empty for any other."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    inner = [each for each in get_args(annotation) if each is not NoneType]
    return list_field_choices(inner[0]) if len(inner) == 1 else ()


def _is_one_of(value: Any, words: tuple[Any, ...]) -> bool:
    word = value.casefold() if isinstance(value, str) else value
    return isinstance(word, str | bool) and word in words
