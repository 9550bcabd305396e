"""What a person's mouse and keyboard may send to a page: read strictly, and turned into the browser's own events.

Kinds, fields and error codes are those of the `/ctrl` namespace of gsd-browser's dashboard, with two kinds more:
`input_down` and `input_up`, a mouse button pressed and let go apart, without which nothing can be dragged.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from outrider.browser.keys import MODIFIERS, Key, find_key
from outrider.browser.page import BUTTONS
from outrider.core.errors import InvalidInput

Kind = Literal["click", "down", "up", "move", "wheel", "keydown", "keyup", "type"]
FIELDS: dict[str, frozenset[str]] = {
    "click": frozenset({"x", "y", "button", "click_count", "modifiers"}),
    "down": frozenset({"x", "y", "button", "click_count", "modifiers"}),
    "up": frozenset({"x", "y", "button", "click_count", "modifiers"}),
    "move": frozenset({"x", "y"}),
    "wheel": frozenset({"x", "y", "delta_x", "delta_y"}),
    "keydown": frozenset({"key", "code", "repeat"}),
    "keyup": frozenset({"key", "code", "repeat"}),
    "type": frozenset({"text"}),
}
KINDS: dict[str, Kind] = {name: name for name in get_args(Kind)}
MOUSE = ("left", "middle", "right")
FARTHEST = 10_000  # CSS pixels: the longest side of a viewport (`emulate.Look`)
TURN = 10_000  # CSS pixels of one turn of the wheel
CLICKS = 10
TYPED = 2_000  # characters of one text
NAME = 32  # characters of a key's name


class Rejected(Exception):
    """An input that is not sent on. `code` is one of the contract's words."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Input:
    """One thing that a person did."""

    kind: Kind
    x: float = 0
    y: float = 0
    button: str = "left"
    count: int = 1
    modifiers: int = 0
    delta: tuple[float, float] = (0, 0)
    key: Key | None = None
    repeat: bool = False
    text: str = ""

    def takes_in(self, later: "Input") -> bool:
        """Joins a later move, or turn of the wheel at the same place, to this one that has not been sent yet."""
        if self.kind != later.kind or self.kind not in ("move", "wheel"):
            return False
        if self.kind == "wheel":
            if (self.x, self.y) != (later.x, later.y):
                return False
            self.delta = (self.delta[0] + later.delta[0], self.delta[1] + later.delta[1])
        self.x, self.y = later.x, later.y
        return True


@dataclass
class Held:
    """What a person holds down: sent with what follows, and let go when they lose control."""

    buttons: list[str] = field(default_factory=list)
    keys: dict[str, Key] = field(default_factory=dict)
    at: tuple[float, float] = (0, 0)

    @property
    def modifiers(self) -> int:
        return sum(MODIFIERS.get(name, 0) for name in self.keys)

    @property
    def bits(self) -> int:
        return sum(BUTTONS[name] for name in self.buttons)

    def sent(self, event: Input) -> list[tuple[str, dict[str, Any]]]:
        """The browser's commands for an input; what it holds or lets go is remembered."""
        if event.kind == "type":
            return [("Input.insertText", {"text": event.text})]
        if event.key is not None:
            return [self._key(event.kind, event.key, repeat=event.repeat)]
        self.at = (event.x, event.y)
        return self._mouse(event)

    def released(self) -> list[tuple[str, dict[str, Any]]]:
        """The commands that let everything go."""
        buttons = [Input("up", *self.at, button=name) for name in list(self.buttons)]
        keys = [Input("keyup", key=key) for key in list(self.keys.values())]
        return [command for event in (*buttons, *keys) for command in self.sent(event)]

    def _key(self, kind: str, key: Key, *, repeat: bool) -> tuple[str, dict[str, Any]]:
        down = kind == "keydown"
        self.keys.pop(key.name, None)
        if down:
            self.keys[key.name] = key
        event = key.event("down" if down else "up", self.modifiers)
        return "Input.dispatchKeyEvent", event | ({"autoRepeat": True} if repeat else {})

    def _mouse(self, event: Input) -> list[tuple[str, dict[str, Any]]]:
        where = {"x": event.x, "y": event.y, "modifiers": event.modifiers | self.modifiers}
        if event.kind == "wheel":
            turned = {"type": "mouseWheel", "deltaX": event.delta[0], "deltaY": event.delta[1]}
            return [_mouse(where | turned)]
        if event.kind == "move":
            held = {"button": self.buttons[0] if self.buttons else "none", "buttons": self.bits}
            return [_mouse(where | held | {"type": "mouseMoved"})]
        if event.kind == "click":
            return [_mouse(where | {"type": "mouseMoved"}), *self._clicks(where, event)]
        return [self._pressed(where, event.kind, event.button, event.count)]

    def _clicks(self, where: dict[str, Any], event: Input) -> list[tuple[str, dict[str, Any]]]:
        return [
            self._pressed(where, kind, event.button, number)
            for number in range(1, event.count + 1)
            for kind in ("down", "up")
        ]

    def _pressed(self, where: dict[str, Any], kind: str, button: str, count: int) -> tuple[str, dict[str, Any]]:
        self.buttons = [name for name in self.buttons if name != button]
        if kind == "down":
            self.buttons.append(button)
        what = "mousePressed" if kind == "down" else "mouseReleased"
        return _mouse(where | {"type": what, "button": button, "buttons": self.bits, "clickCount": count})


def _mouse(params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "Input.dispatchMouseEvent", params


def read_input(kind: str, payload: object) -> Input:
    """An input as it came over the wire.

    Args:
        kind: With or without `input_`.
        payload: An object with the fields of the kind; CSS pixels of the page's viewport.

    Raises Rejected with `invalid_payload`, `invalid_coordinates`, `invalid_wheel_delta`, `invalid_button`,
    `invalid_click_count`, `invalid_key`, `invalid_text` or `text_too_long`.
    """
    name = kind.removeprefix("input_")
    if name not in FIELDS or not isinstance(payload, dict) or payload.keys() - FIELDS[name]:
        raise Rejected("invalid_payload")
    if name == "type":
        return Input("type", text=_text(payload.get("text")))
    if name in ("keydown", "keyup"):
        repeat = payload.get("repeat", False)
        if not isinstance(repeat, bool):
            raise Rejected("invalid_payload")
        return Input(KINDS[name], key=_key(payload), repeat=repeat)
    event = Input(KINDS[name], *_place(payload))
    if name == "wheel":
        event.delta = _delta(payload)
    elif name != "move":
        event.button, event.count = _button(payload), _count(payload)
        event.modifiers = _modifiers(payload.get("modifiers", 0))
    return event


def _number(value: object) -> float:
    """A number, else not-a-number, which lies in no range."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    return value


def _place(payload: dict[str, Any]) -> tuple[float, float]:
    x, y = _number(payload.get("x")), _number(payload.get("y"))
    if not (0 <= x <= FARTHEST and 0 <= y <= FARTHEST):
        raise Rejected("invalid_coordinates")
    return x, y


def _delta(payload: dict[str, Any]) -> tuple[float, float]:
    across, down = _number(payload.get("delta_x", 0)), _number(payload.get("delta_y", 0))
    if not (abs(across) <= TURN and abs(down) <= TURN):
        raise Rejected("invalid_wheel_delta")
    return across, down


def _button(payload: dict[str, Any]) -> str:
    button = payload.get("button", "left")
    if button not in MOUSE:
        raise Rejected("invalid_button")
    return button


def _count(payload: dict[str, Any]) -> int:
    count = payload.get("click_count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= CLICKS:
        raise Rejected("invalid_click_count")
    return count


def _modifiers(given: object) -> int:
    """Names of modifiers, or the protocol's bits: Alt 1, Control 2, Meta 4, Shift 8."""
    if isinstance(given, list) and all(isinstance(name, str) and name in MODIFIERS for name in given):
        return sum(MODIFIERS[name] for name in set(given))
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= sum(MODIFIERS.values()):
        return given
    raise Rejected("invalid_payload")


def _key(payload: dict[str, Any]) -> Key:
    name, code = payload.get("key"), payload.get("code", "")
    if not isinstance(name, str) or not isinstance(code, str) or not name or max(len(name), len(code)) > NAME:
        raise Rejected("invalid_key")
    try:
        found = find_key(name)
    except InvalidInput:
        raise Rejected("invalid_key") from None
    return found if not code else Key(found.name, found.code_number, code, found.text)


def _text(text: object) -> str:
    if not isinstance(text, str) or not text:
        raise Rejected("invalid_text")
    if len(text) > TYPED:
        raise Rejected("text_too_long")
    return text
