"""Convert a person's mouse and keyboard input to CDP commands.

Kinds, fields and error codes are those of the `/ctrl` namespace of gsd-browser's dashboard, with two more kinds:
`input_down` and `input_up`, which press and release a mouse button separately, so that things can be dragged.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from outrider.browser.protocol.keys import MODIFIER_BITS, Key, find_key
from outrider.browser.protocol.page import BUTTON_BITS
from outrider.core.errors import InvalidInput

InputKind = Literal["click", "down", "up", "move", "wheel", "keydown", "keyup", "type"]
PAYLOAD_FIELDS: dict[str, frozenset[str]] = {
    "click": frozenset({"x", "y", "button", "click_count", "modifiers"}),
    "down": frozenset({"x", "y", "button", "click_count", "modifiers"}),
    "up": frozenset({"x", "y", "button", "click_count", "modifiers"}),
    "move": frozenset({"x", "y"}),
    "wheel": frozenset({"x", "y", "delta_x", "delta_y"}),
    "keydown": frozenset({"key", "code", "repeat"}),
    "keyup": frozenset({"key", "code", "repeat"}),
    "type": frozenset({"text"}),
}
INPUT_KINDS: dict[str, InputKind] = {name: name for name in get_args(InputKind)}
MAX_COORDINATE_PX = 10_000  # the longest side of a viewport, see `Emulation`
MAX_WHEEL_DELTA_PX = 10_000
MAX_CLICK_COUNT = 10
MAX_TEXT_CHARS = 2_000


class InputRejected(Exception):
    """An input that is not forwarded to the page. `code` is one of the contract's error codes."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class UserInput:
    """One input event of a person."""

    kind: InputKind
    x: float = 0
    y: float = 0
    button: str = "left"
    count: int = 1
    modifiers: int = 0
    delta: tuple[float, float] = (0, 0)
    key: Key | None = None
    repeat: bool = False
    text: str = ""

    def try_merge(self, later: "UserInput") -> bool:
        """Merge a later move or wheel turn into an unsent one.

        Wheel turns are merged only at the same place.
        """
        if self.kind != later.kind or self.kind not in ("move", "wheel"):
            return False
        if self.kind == "wheel":
            if (self.x, self.y) != (later.x, later.y):
                return False
            self.delta = (self.delta[0] + later.delta[0], self.delta[1] + later.delta[1])
        self.x, self.y = later.x, later.y
        return True


@dataclass
class InputState:
    """Buttons and keys that a person holds down; they go with later input and are released at the end."""

    buttons: list[str] = field(default_factory=list)
    keys: dict[str, Key] = field(default_factory=dict)
    position: tuple[float, float] = (0, 0)

    @property
    def modifiers(self) -> int:
        return sum(MODIFIER_BITS.get(name, 0) for name in self.keys)

    @property
    def button_bits(self) -> int:
        return sum(BUTTON_BITS[name] for name in self.buttons)

    def build_commands(self, event: UserInput) -> list[tuple[str, dict[str, Any]]]:
        """Return the CDP commands for an input, and remember what it presses or releases."""
        if event.kind == "type":
            return [("Input.insertText", {"text": event.text})]
        if event.key is not None:
            self.keys.pop(event.key.name, None)
            if event.kind == "keydown":
                self.keys[event.key.name] = event.key
            params = event.key.build_event("down" if event.kind == "keydown" else "up", self.modifiers)
            return [("Input.dispatchKeyEvent", params | ({"autoRepeat": True} if event.repeat else {}))]
        self.position = (event.x, event.y)
        point = {"x": event.x, "y": event.y, "modifiers": event.modifiers | self.modifiers}
        if event.kind == "wheel":
            scroll = {"type": "mouseWheel", "deltaX": event.delta[0], "deltaY": event.delta[1]}
            return [_to_mouse_command(point | scroll)]
        if event.kind == "move":
            button_state = {"button": self.buttons[0] if self.buttons else "none", "buttons": self.button_bits}
            return [_to_mouse_command(point | button_state | {"type": "mouseMoved"})]
        if event.kind == "click":
            presses = [
                self._build_button_command(point, kind, event.button, number)
                for number in range(1, event.count + 1)
                for kind in ("down", "up")
            ]
            return [_to_mouse_command(point | {"type": "mouseMoved"}), *presses]
        return [self._build_button_command(point, event.kind, event.button, event.count)]

    def build_release_commands(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the CDP commands that release everything."""
        buttons = [UserInput("up", *self.position, button=name) for name in list(self.buttons)]
        keys = [UserInput("keyup", key=key) for key in list(self.keys.values())]
        return [command for event in (*buttons, *keys) for command in self.build_commands(event)]

    def _build_button_command(
        self, point: dict[str, Any], kind: str, button: str, count: int
    ) -> tuple[str, dict[str, Any]]:
        self.buttons = [name for name in self.buttons if name != button]
        if kind == "down":
            self.buttons.append(button)
        event_type = "mousePressed" if kind == "down" else "mouseReleased"
        return _to_mouse_command(
            point | {"type": event_type, "button": button, "buttons": self.button_bits, "clickCount": count}
        )


def _to_mouse_command(params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "Input.dispatchMouseEvent", params


def parse_input(kind: str, payload: object) -> UserInput:
    """Parse an input message of the dashboard.

    Args:
        kind: With or without `input_`.
        payload: An object with the fields of the kind; coordinates are CSS pixels of the viewport.

    Raises InputRejected with `invalid_payload`, `invalid_coordinates`, `invalid_wheel_delta`, `invalid_button`,
    `invalid_click_count`, `invalid_key`, `invalid_text` or `text_too_long`.
    """
    name = kind.removeprefix("input_")
    if name not in PAYLOAD_FIELDS or not isinstance(payload, dict) or payload.keys() - PAYLOAD_FIELDS[name]:
        raise InputRejected("invalid_payload")
    if name == "type":
        text = payload.get("text")
        if not isinstance(text, str) or not text:
            raise InputRejected("invalid_text")
        if len(text) > MAX_TEXT_CHARS:
            raise InputRejected("text_too_long")
        return UserInput("type", text=text)
    if name in ("keydown", "keyup"):
        repeat = payload.get("repeat", False)
        if not isinstance(repeat, bool):
            raise InputRejected("invalid_payload")
        return UserInput(INPUT_KINDS[name], key=_parse_key(payload), repeat=repeat)
    event = UserInput(INPUT_KINDS[name], *_parse_point(payload))
    if name == "wheel":
        return _parse_wheel(event, payload)
    return event if name == "move" else _parse_press(event, payload)


def _parse_number(value: object) -> float:
    """Return a number; not-a-number for anything else, which no range contains."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan


def _parse_point(payload: dict[str, Any]) -> tuple[float, float]:
    x, y = _parse_number(payload.get("x")), _parse_number(payload.get("y"))
    if not (0 <= x <= MAX_COORDINATE_PX and 0 <= y <= MAX_COORDINATE_PX):
        raise InputRejected("invalid_coordinates")
    return x, y


def _parse_wheel(event: UserInput, payload: dict[str, Any]) -> UserInput:
    across, down = _parse_number(payload.get("delta_x", 0)), _parse_number(payload.get("delta_y", 0))
    if not (abs(across) <= MAX_WHEEL_DELTA_PX and abs(down) <= MAX_WHEEL_DELTA_PX):
        raise InputRejected("invalid_wheel_delta")
    event.delta = (across, down)
    return event


def _parse_press(event: UserInput, payload: dict[str, Any]) -> UserInput:
    """Add button, click count and modifiers; modifiers are names or CDP bits (Alt 1, Control 2, Meta 4, Shift 8)."""
    button, count, modifiers = payload.get("button", "left"), payload.get("click_count", 1), payload.get("modifiers", 0)
    if button not in ("left", "middle", "right"):
        raise InputRejected("invalid_button")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_CLICK_COUNT:
        raise InputRejected("invalid_click_count")
    if isinstance(modifiers, list) and all(isinstance(name, str) and name in MODIFIER_BITS for name in modifiers):
        modifiers = sum(MODIFIER_BITS[name] for name in set(modifiers))
    if isinstance(modifiers, bool) or not isinstance(modifiers, int):
        raise InputRejected("invalid_payload")
    if not 0 <= modifiers <= sum(MODIFIER_BITS.values()):
        raise InputRejected("invalid_payload")
    event.button, event.count, event.modifiers = button, count, modifiers
    return event


def _parse_key(payload: dict[str, Any]) -> Key:
    max_name_chars = 32
    name, code = payload.get("key"), payload.get("code", "")
    if not isinstance(name, str) or not isinstance(code, str) or not name or max(len(name), len(code)) > max_name_chars:
        raise InputRejected("invalid_key")
    try:
        key = find_key(name)
    except InvalidInput:
        raise InputRejected("invalid_key") from None
    return key if not code else Key(key.name, key.code_number, code, key.text)
