"""Build a flow from the actions of a browser session."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from pydantic import ValidationError

from outrider.core.errors import InvalidInput
from outrider.flows.evidence import name_choice
from outrider.flows.flow import Flow, FlowCondition, FlowStep, Parameter, Secret, Target
from outrider.flows.origins import read_origin


class RecordedPage(Protocol):
    """The state of a page before or after an action."""

    @property
    def url(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def headings(self) -> tuple[str, ...]: ...
    @property
    def messages(self) -> tuple[str, ...]: ...


class RecordedAction(Protocol):
    """An action that succeeded: see `browser.actions.action_log`."""

    @property
    def kind(self) -> str: ...
    @property
    def values(self) -> Mapping[str, Any]: ...
    @property
    def element(self) -> Mapping[str, Any] | None: ...
    @property
    def goal(self) -> Mapping[str, Any] | None: ...
    @property
    def before(self) -> RecordedPage: ...
    @property
    def after(self) -> RecordedPage | None: ...
    @property
    def is_approved(self) -> bool: ...


class FlowBuilder:
    """Collects the steps, parameters and secrets of one flow.

    Args:
        name: The flow's name.
        known_secrets: The values of the secret store by name; they become secrets in any field.
    """

    def __init__(self, name: str, known_secrets: Mapping[str, str] | None = None) -> None:
        self._name = name
        self._sources = {
            value: source for name, value in (known_secrets or {}).items() if (source := _build_source(name))
        }
        self._parameters: dict[str, Parameter] = {}
        self._secrets: dict[str, Secret] = {}
        self._origins: list[str] = []
        self._touched: set[str] = set()  # fields that the flow itself sets

    def build_flow(self, actions: Sequence[RecordedAction], description: str = "") -> Flow:
        """Build the flow. Raises InvalidInput if no action can be repeated."""
        kept = drop_repeated(actions)
        pages = [page for action in kept for page in (action.before, action.after) if page is not None]
        # Frames of other sites count too: their links lead there, and secrets may only be typed on named sites.
        urls = [page.url for page in pages] + [str((action.element or {}).get("frame", "")) for action in kept]
        self._origins = list(dict.fromkeys(origin for url in urls if (origin := read_origin(url))))
        if not kept:
            hint = "act in the session first: navigateToUrl, clickElement, inputText …"
            raise InvalidInput("the session has no actions to save", hint=hint)
        steps = [] if kept[0].kind in ("open", "tab") else [FlowStep(open=kept[0].before.url)]
        self._touched = {_name_field(action.element or {}) for action in kept}
        steps += [self._build_step(action) for action in kept]
        return Flow(
            name=self._name,
            description=description,
            origins=self._origins,
            parameters=self._parameters,
            secrets=self._secrets,
            steps=steps,
            check=self._build_end_check(kept),
        )

    def _build_step(self, action: RecordedAction) -> FlowStep:
        fields: dict[str, Any] = {"ask": True} if action.is_approved else {}
        if expected := self._build_expectation(action):
            fields["expect"] = expected
        values = action.values
        if name := _name_target_field(action):
            fields[name] = self._build_target(action.element or {})
        match action.kind:
            case "fill":
                fields |= self._build_text(action)
            case "select" | "upload":
                field, given = {"select": ("options", "options"), "upload": ("files", "paths")}[action.kind]
                fields[field] = [self._add_value(action.element or {}, each) for each in values.get(given, ())]
            case "tool":
                fields |= self._build_tool(values)
            case "drag":
                fields["to"] = self._build_target(action.goal or {})
            case "click":
                usual = {"button": "left", "count": 1, "modifiers": []}
                fields |= {name: values[name] for name in usual if values.get(name, usual[name]) != usual[name]}
                fields |= {"hold_ms": round(values["hold_s"] * 1_000)} if values.get("hold_s") else {}
            case _:
                fields |= _build_plain_step(action.kind, values)
                fields |= {"open": self._remove_secrets(fields["open"])} if "open" in fields else {}
        return FlowStep(**fields)

    def _build_text(self, action: RecordedAction) -> dict[str, Any]:
        values = action.values
        fields = {name: True for name in ("append", "submit") if values.get(name)}
        text = str(values.get("text", ""))
        source = self._sources.get(text)
        if not (values.get("secret") or source):
            return fields | {"text": self._add_value(action.element or {}, text)}
        # A second field of the same name gets the same secret.
        name = _derive_identifier(action.element or {}, "secret")
        name = f"{name}_secret" if name in self._parameters else name
        source = source or Secret(env=f"OUTRIDER_FLOW_{name.upper()}")
        number = 2
        while self._secrets.get(name, source) != source and text in self._sources:
            name, number = f"{name.rstrip('_0123456789')}_{number}", number + 1
        self._secrets.setdefault(name, source)
        return fields | {"secret": name}

    def _build_tool(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the call of a page's tool, with equivalent presses on its form."""
        max_chars, max_depth = 100_000, 20  # a file that is nested deeper cannot be read again
        if _measure_depth(values["arguments"]) > max_depth or len(str(values["arguments"])) > max_chars:
            message = f"the arguments of the page's tool {values['name']} are too large or nested too deeply for a flow"
            raise InvalidInput(message, hint="use since to leave that call out")
        arguments: dict[str, Any] = {}
        for name in values["secrets"]:
            identifier = _derive_identifier({"name": name}, "secret")
            self._parameters[identifier] = Parameter(secret=True, description=name)
            arguments[name] = f"${{{identifier}}}"
        for name, value in values["arguments"].items():
            arguments[name] = self._add_value({"name": name}, value) if isinstance(value, str) else value
        form = values["form"] or {"fields": {}}
        self._touched |= {_name_field(field["evidence"]) for field in form["fields"].values()}
        steps = [
            self._build_field_step(form["fields"][name], value) for name, value in arguments.items() if form["fields"]
        ]
        steps += [FlowStep(click=self._build_target(form["send"]))] if form.get("send") else []
        return {"tool": values["name"], "arguments": arguments} | ({"steps": steps} if steps else {})

    def _build_field_step(self, field: Mapping[str, Any], value: Any) -> FlowStep:
        evidence, labels = field["evidence"], field["labels"]
        target = self._build_target(evidence)
        if evidence["tag"] == "select":
            known = self._parameters.get(str(value)[2:-1]) if str(value).startswith("${") else None
            plain = str(known.default if known else value)
            label = str(labels.get(plain, plain))
            return FlowStep(select=target, options=[str(value) if label == plain else label])
        if isinstance(value, bool):
            return FlowStep(check=target) if value else FlowStep(uncheck=target)
        return FlowStep(fill=target, text=str(value))

    def _add_value(self, field: Mapping[str, Any], value: str) -> str:
        """Return the placeholder of a value, which becomes the default of a parameter named after its field."""
        if not value:
            return value
        identifier = _derive_identifier(field, "value")
        for number in range(1, 100):
            name = identifier if number == 1 else f"{identifier}_{number}"
            known = self._parameters.get(name)
            if known is None or known.default == value:
                label = str(field.get("name", ""))
                self._parameters[name] = Parameter(default=value, description=label)
                return f"${{{name}}}"
        return value

    def _build_target(self, element: Mapping[str, Any]) -> Target:
        names = ("role", "name", "row", "near", "path", "equals")
        fields = {name: element[name] for name in names if element.get(name)}
        fields |= {name: str(element.get(name, "")) for name in ("under", "inside")}
        fields |= {name: dict(element[name]) for name in ("attributes", "traits") if element.get(name)}
        if choices := fields.get("traits", {}).pop("choices", ""):
            untouched = [each for each in choices.split("; ") if each.partition("=")[0] not in self._touched]
            fields["traits"] |= {"choices": self._remove_secrets("; ".join(untouched))} if untouched else {}
        for name in ("name", "row", "near"):
            if name in fields:
                fields[name] = self._insert_parameters(fields[name])
        if "${" in fields.get("row", ""):  # the other texts belong to the recorded row
            fields.pop("near", None)
            fields.get("traits", {}).pop("price", None)
        return Target(**fields)

    def _insert_parameters(self, text: str) -> str:
        """Replace the values of parameters in a text, as whole words, by placeholders."""
        min_parameter_chars = 2  # shorter values are in too many texts by chance
        text = self._remove_secrets(text)
        for name, parameter in self._parameters.items():
            if parameter.default and len(parameter.default) >= min_parameter_chars:
                text = re.sub(rf"(?<!\w){re.escape(parameter.default)}(?!\w)", f"${{{name}}}", text)
        return text

    def _remove_secrets(self, text: str) -> str:
        min_chars = 4  # shorter ones are in many texts by chance
        for value in self._sources:
            text = text.replace(value, "[removed]") if len(value) >= min_chars else text
        return text

    def _generalize(self, text: str) -> str:
        """Return a pattern of a text, with placeholders for parameters and `*` for numbers."""
        pieces = re.split(r"(\$\{\w+\})", self._insert_parameters(text.replace("*", " ")))
        figures = r"\[removed\]|\d+(?:[.,:/-]\d+)*"
        return "".join(piece if piece.startswith("${") else re.sub(figures, "*", piece) for piece in pieces)

    def _build_expectation(self, action: RecordedAction) -> FlowCondition | None:
        """Return a condition that holds after an action and did not before."""
        if action.after is None or action.kind not in ("click", "press", "fill", "select", "drag", "upload", "tool"):
            return None
        before, after = action.before, action.after
        if _read_path(after.url) != _read_path(before.url):
            return FlowCondition(url=self._generalize(_read_path(after.url)))
        news = _list_new(before.messages, after.messages) or _list_new(before.headings, after.headings)
        return FlowCondition(text=self._generalize(news[0])) if news else None

    def _build_end_check(self, actions: Sequence[RecordedAction]) -> list[FlowCondition]:
        """Return the conditions of the last page seen."""
        last = next((each for each in reversed(actions) if each.after is not None), None)
        is_unseen = actions[-1].after is None and actions[-1].kind in ("click", "press")
        if last is None or last.after is None or is_unseen:
            return []
        after = last.after
        before = last.before
        news = _list_new(before.messages, after.messages) or _list_new(before.headings, after.headings)
        fields = {"url": self._generalize(_read_path(after.url))}
        return [FlowCondition(**(fields | ({"text": self._generalize(news[0])} if news else {})))]


def _name_field(element: Mapping[str, Any]) -> str:
    return name_choice(element.get("attributes") or {}, str(element.get("name", "")))


def _measure_depth(value: object) -> int:
    """Return the nesting depth of lists and objects, without recursion."""
    depth, level = -1, [value]
    while level:
        inside = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        depth, level = depth + 1, [inner for items in inside for inner in items]
    return depth


def drop_repeated(actions: Sequence[RecordedAction]) -> list[RecordedAction]:
    """Return the actions without those that a later one makes pointless."""
    return [action for index, action in enumerate(actions) if not _is_replaced(action, actions[index + 1 :])]


def _is_replaced(action: RecordedAction, later: Sequence[RecordedAction]) -> bool:
    """Return whether a later action redoes this one before it has had an effect."""
    values = action.values
    if action.kind == "wait":  # a flow waits for texts and addresses, and for elements by itself
        return not values.get("text") and (not values.get("url") or bool(values.get("gone")))
    if action.kind == "open":
        return bool(later) and later[0].kind == "open"
    fields = ("fill", "select", "check", "uncheck")
    if action.kind not in fields or action.values.get("submit"):
        return False
    for other in later:
        if other.kind not in fields or other.values.get("submit"):
            return False
        # Keys of a password are typed one by one, and are one secret.
        is_anew = not other.values.get("append") or bool(other.values.get("secret"))
        if other.kind == action.kind and other.element == action.element and is_anew:
            return True
    return False


def _build_plain_step(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a step without an element."""
    fields: dict[str, Any] = {}
    match kind:
        case "open":
            fields = {"open": values["url"]}
        case "press":
            fields = {"press": values["key"]}
        case "scroll":
            fields = {"scroll": values["direction"], "amount": values.get("amount", 500)}
        case "tab":
            fields = {"tab": "new" if values.get("new") else values["number"]}
        case "dialog":
            text = {"text": values["text"]} if values.get("text") else {}
            fields = {"dialog": "accept" if values["accept"] else "dismiss"} | text
        case "wait":
            fields = {"wait": build_wait(values)}
        case "back" | "forward" | "reload":
            fields = {kind: True}
    return fields


def build_wait(values: Mapping[str, Any]) -> FlowCondition:
    """Build the condition of a wait for a text or an address."""
    text = str(values.get("text", ""))
    if text:
        return FlowCondition(gone=text) if values.get("gone") else FlowCondition(text=text)
    return FlowCondition(url=f"*://*{values['url']}*")


def _derive_identifier(element: Mapping[str, Any], default: str) -> str:
    """Return an identifier for a field, from its label or else its attributes."""
    attributes = element.get("attributes") or {}
    for text in (element.get("name"), attributes.get("name"), attributes.get("id")):
        plain = re.sub(r"[^a-z0-9]+", "_", str(text or "").lower()).strip("_")[:32].strip("_")
        if plain and plain[0].isalpha():
            return plain
    return default


def _name_target_field(action: RecordedAction) -> str:
    """Return the field of a step that names its element; empty for keys to the whole page."""
    element = action.element or {}
    if action.kind != "press":
        return action.kind if action.element is not None else ""
    tags = ("input", "textarea", "select", "button", "a")
    fields = ("textbox", "searchbox", "combobox", "spinbutton", "slider", "listbox")
    controls = ("button", "link", "option", "menuitem", "tab", "switch", "checkbox", "radio", "treeitem")
    is_control = element.get("tag") in tags or element.get("role") in (*fields, *controls)
    return "on" if is_control and (element.get("name") or element.get("attributes")) else ""


def _list_new(before: Sequence[str], after: Sequence[str]) -> list[str]:
    return [each for each in after if each not in before]


def _read_path(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else "")


def _build_source(entry: str) -> Secret | None:
    """Return the source of an entry of the secret store; None if flows cannot name it."""
    for field in ("env", "file"):
        try:
            return Secret(**{field: entry})
        except ValidationError:
            continue
    return None
