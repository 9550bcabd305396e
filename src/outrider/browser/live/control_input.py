"""What a person's mouse and keyboard may send to a page: read strictly, and turned into the browser's own events.

Kinds, fields and error codes are those of the `/ctrl` namespace of gsd-browser's dashboard, with two kinds more:
`input_down` and `input_up`, a mouse button pressed and let go apart, without which nothing can be dragged.
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
MAX_COORDINATE_PX = 10_000  # CSS pixels: the longest side of a viewport (`emulate.Look`)
MAX_WHEEL_DELTA_PX = 10_000  # CSS pixels of one turn of the wheel
MAX_CLICK_COUNT = 10
MAX_TEXT_CHARS = 2_000  # characters of one text


class InputRejected(Exception):
    """An input that is not sent on. `code` is one of the contract's words."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class UserInput:
    """One thing that a person did."""

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
class InputState:
    """What a person holds down: sent with what follows, and let go when they lose control."""

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
        """The browser's commands for an input; what it holds or lets go is remembered."""
        if event.kind == "type":
            return [("Input.insertText", {"text": event.text})]
        if event.key is not None:
            return [self._build_key_command(event.kind, event.key, repeat=event.repeat)]
        self.position = (event.x, event.y)
        return self._build_mouse_commands(event)

    def build_release_commands(self) -> list[tuple[str, dict[str, Any]]]:
        """The commands that let everything go."""
        buttons = [UserInput("up", *self.position, button=name) for name in list(self.buttons)]
        keys = [UserInput("keyup", key=key) for key in list(self.keys.values())]
        return [command for event in (*buttons, *keys) for command in self.build_commands(event)]

    def _build_key_command(self, kind: str, key: Key, *, repeat: bool) -> tuple[str, dict[str, Any]]:
        down = kind == "keydown"
        self.keys.pop(key.name, None)
        if down:
            self.keys[key.name] = key
        event = key.build_event("down" if down else "up", self.modifiers)
        return "Input.dispatchKeyEvent", event | ({"autoRepeat": True} if repeat else {})

    def _build_mouse_commands(self, event: UserInput) -> list[tuple[str, dict[str, Any]]]:
        where = {"x": event.x, "y": event.y, "modifiers": event.modifiers | self.modifiers}
        if event.kind == "wheel":
            turned = {"type": "mouseWheel", "deltaX": event.delta[0], "deltaY": event.delta[1]}
            return [_to_mouse_command(where | turned)]
        if event.kind == "move":
            held = {"button": self.buttons[0] if self.buttons else "none", "buttons": self.button_bits}
            return [_to_mouse_command(where | held | {"type": "mouseMoved"})]
        if event.kind == "click":
            return [_to_mouse_command(where | {"type": "mouseMoved"}), *self._clicks(where, event)]
        return [self._build_button_command(where, event.kind, event.button, event.count)]

    def _clicks(self, where: dict[str, Any], event: UserInput) -> list[tuple[str, dict[str, Any]]]:
        return [
            self._build_button_command(where, kind, event.button, number)
            for number in range(1, event.count + 1)
            for kind in ("down", "up")
        ]

    def _build_button_command(
        self, where: dict[str, Any], kind: str, button: str, count: int
    ) -> tuple[str, dict[str, Any]]:
        self.buttons = [name for name in self.buttons if name != button]
        if kind == "down":
            self.buttons.append(button)
        what = "mousePressed" if kind == "down" else "mouseReleased"
        return _to_mouse_command(
            where | {"type": what, "button": button, "buttons": self.button_bits, "clickCount": count}
        )


def _to_mouse_command(params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "Input.dispatchMouseEvent", params


def parse_input(kind: str, payload: object) -> UserInput:
    """An input as it came over the wire.

    Args:
        kind: With or without `input_`.
        payload: An object with the fields of the kind; CSS pixels of the page's viewport.

    Raises Rejected with `invalid_payload`, `invalid_coordinates`, `invalid_wheel_delta`, `invalid_button`,
    `invalid_click_count`, `invalid_key`, `invalid_text` or `text_too_long`.
    """
    name = kind.removeprefix("input_")
    if name not in PAYLOAD_FIELDS or not isinstance(payload, dict) or payload.keys() - PAYLOAD_FIELDS[name]:
        raise InputRejected("invalid_payload")
    if name == "type":
        return UserInput("type", text=_parse_text(payload.get("text")))
    if name in ("keydown", "keyup"):
        repeat = payload.get("repeat", False)
        if not isinstance(repeat, bool):
            raise InputRejected("invalid_payload")
        return UserInput(INPUT_KINDS[name], key=_parse_key(payload), repeat=repeat)
    event = UserInput(INPUT_KINDS[name], *_parse_point(payload))
    if name == "wheel":
        event.delta = _parse_wheel_delta(payload)
    elif name != "move":
        event.button, event.count = _parse_button(payload), _parse_click_count(payload)
        event.modifiers = _parse_modifiers(payload.get("modifiers", 0))
    return event


def _parse_number(value: object) -> float:
    """A number, else not-a-number, which lies in no range."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    return value


def _parse_point(payload: dict[str, Any]) -> tuple[float, float]:
    x, y = _parse_number(payload.get("x")), _parse_number(payload.get("y"))
    if not (0 <= x <= MAX_COORDINATE_PX and 0 <= y <= MAX_COORDINATE_PX):
        raise InputRejected("invalid_coordinates")
    return x, y


def _parse_wheel_delta(payload: dict[str, Any]) -> tuple[float, float]:
    across, down = _parse_number(payload.get("delta_x", 0)), _parse_number(payload.get("delta_y", 0))
    if not (abs(across) <= MAX_WHEEL_DELTA_PX and abs(down) <= MAX_WHEEL_DELTA_PX):
        raise InputRejected("invalid_wheel_delta")
    return across, down


def _parse_button(payload: dict[str, Any]) -> str:
    mouse_buttons = ("left", "middle", "right")
    button = payload.get("button", "left")
    if button not in mouse_buttons:
        raise InputRejected("invalid_button")
    return button


def _parse_click_count(payload: dict[str, Any]) -> int:
    count = payload.get("click_count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_CLICK_COUNT:
        raise InputRejected("invalid_click_count")
    return count


def _parse_modifiers(given: object) -> int:
    """Names of modifiers, or the protocol's bits: Alt 1, Control 2, Meta 4, Shift 8."""
    if isinstance(given, list) and all(isinstance(name, str) and name in MODIFIER_BITS for name in given):
        return sum(MODIFIER_BITS[name] for name in set(given))
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= sum(MODIFIER_BITS.values()):
        return given
    raise InputRejected("invalid_payload")


def _parse_key(payload: dict[str, Any]) -> Key:
    max_name_chars = 32  # characters of a key's name
    name, code = payload.get("key"), payload.get("code", "")
    if not isinstance(name, str) or not isinstance(code, str) or not name or max(len(name), len(code)) > max_name_chars:
        raise InputRejected("invalid_key")
    try:
        found = find_key(name)
    except InvalidInput:
        raise InputRejected("invalid_key") from None
    return found if not code else Key(found.name, found.code_number, code, found.text)


def _parse_text(text: object) -> str:
    if not isinstance(text, str) or not text:
        raise InputRejected("invalid_text")
    if len(text) > MAX_TEXT_CHARS:
        raise InputRejected("text_too_long")
    return text
