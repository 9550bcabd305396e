"""Keyboard keys as CDP input events.

The layout is US; `key` and `code` follow W3C UI Events.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from outrider.core.errors import InvalidInput

MODIFIER_BITS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
KEY_ALIASES = {
    "alt": "Alt", "option": "Alt", "control": "Control", "ctrl": "Control", "meta": "Meta", "cmd": "Meta",
    "command": "Meta", "super": "Meta", "shift": "Shift", "return": "Enter", "esc": "Escape", "del": "Delete",
    "ins": "Insert", "space": "Space", "up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft",
    "right": "ArrowRight", "pgup": "PageUp", "pgdn": "PageDown", "plus": "+",
}  # fmt: skip
# name: (Windows virtual key code, code, text)
NAMED_KEYS: dict[str, tuple[int, str, str]] = {
    "Backspace": (8, "Backspace", ""), "Tab": (9, "Tab", ""), "Enter": (13, "Enter", "\r"),
    "Shift": (16, "ShiftLeft", ""), "Control": (17, "ControlLeft", ""), "Alt": (18, "AltLeft", ""),
    "Pause": (19, "Pause", ""), "CapsLock": (20, "CapsLock", ""), "Escape": (27, "Escape", ""),
    "PageUp": (33, "PageUp", ""), "PageDown": (34, "PageDown", ""), "End": (35, "End", ""), "Home": (36, "Home", ""),
    "ArrowLeft": (37, "ArrowLeft", ""), "ArrowUp": (38, "ArrowUp", ""), "ArrowRight": (39, "ArrowRight", ""),
    "ArrowDown": (40, "ArrowDown", ""), "Insert": (45, "Insert", ""), "Delete": (46, "Delete", ""),
    "Meta": (91, "MetaLeft", ""), "ContextMenu": (93, "ContextMenu", ""),
    **{f"F{number}": (111 + number, f"F{number}", "") for number in range(1, 13)},
}  # fmt: skip
# character without and with Shift: (virtual key code, code)
PUNCTUATION_KEYS: dict[str, tuple[int, str]] = {
    "`~": (192, "Backquote"), "-_": (189, "Minus"), "=+": (187, "Equal"), "[{": (219, "BracketLeft"),
    "]}": (221, "BracketRight"), "\\|": (220, "Backslash"), ";:": (186, "Semicolon"), "'\"": (222, "Quote"),
    ",<": (188, "Comma"), ".>": (190, "Period"), "/?": (191, "Slash"),
    **{f"{digit}{sign}": (48 + digit, f"Digit{digit}") for digit, sign in enumerate(")!@#$%^&*(")},
}  # fmt: skip


@dataclass(frozen=True)
class Key:
    """One key: its name, Windows virtual key code, position on the keyboard, and the text that it types."""

    name: str
    code_number: int
    code: str
    text: str

    def build_event(self, kind: str, modifiers: int) -> dict[str, Any]:
        """Return the parameters of `Input.dispatchKeyEvent`; `kind` is `down` or `up`."""
        # On macOS the system handles these shortcuts, so headless Chromium needs the editing command as well.
        editing_commands = {"a": "selectAll", "c": "copy", "v": "paste", "x": "cut", "z": "undo"}
        typed = self.text if not modifiers & ~MODIFIER_BITS["Shift"] else ""
        down = "keyDown" if typed else "rawKeyDown"
        event: dict[str, Any] = {
            "type": down if kind == "down" else "keyUp",
            "key": self.name,
            "code": self.code,
            "windowsVirtualKeyCode": self.code_number,
            "modifiers": modifiers,
            "location": 1 if self.name in MODIFIER_BITS else 0,
        }
        if kind == "down" and typed:
            event |= {"text": typed, "unmodifiedText": typed}
        if kind == "down" and modifiers & (MODIFIER_BITS["Control"] | MODIFIER_BITS["Meta"]):
            command = editing_commands.get(self.name.lower())
            event |= {"commands": [command]} if command else {}
        return event


def parse_chord(text: str) -> tuple[list[Key], Key]:
    """Parse `Control+Shift+a` into the keys to hold and the key to press. Raises InvalidInput."""
    parts = [*text[:-2].split("+"), "+"] if text.endswith("++") else text.split("+") if text != "+" else ["+"]
    names = [KEY_ALIASES.get(part.lower(), part) if len(part) > 1 else part for part in parts if part]
    *modifiers, last = names or [""]
    wrong = [name for name in modifiers if name not in MODIFIER_BITS]
    if not last or wrong:
        raise InvalidInput(f"keys: {text!r} is not a key", hint="write Enter, Tab, a, Control+a, Shift+ArrowDown")
    shift = "Shift" in modifiers
    return [find_key(name) for name in modifiers], find_key(last, shift=shift)


def parse_modifiers(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of modifier keys as events have them (`ctrl` is `Control`). Raises InvalidInput."""
    modifiers = tuple(KEY_ALIASES.get(name.lower(), name) for name in names)
    if wrong := [name for name in modifiers if name not in MODIFIER_BITS]:
        raise InvalidInput(f"modifiers: {wrong[0]!r} is not a modifier key", hint=f"use {', '.join(MODIFIER_BITS)}")
    return modifiers


def find_key(name: str, *, shift: bool = False) -> Key:
    """Return the key of that name or character. Raises InvalidInput."""
    if name in {"Space", " "}:
        return Key(" ", 32, "Space", " ")
    if named := NAMED_KEYS.get(name):
        return Key(name, named[0], named[1], named[2])
    if len(name) != 1:
        hint = "write Enter, Tab, Escape, ArrowDown, F5, a, Control+a"
        raise InvalidInput(f"keys: unknown key {name!r}", hint=hint)
    if name.isascii() and name.isalpha():
        typed = name.upper() if shift else name
        return Key(typed, ord(name.upper()), f"Key{name.upper()}", typed)
    for pair, (number, code) in PUNCTUATION_KEYS.items():
        if name in pair:
            typed = pair[1] if shift else name
            return Key(typed, number, code, typed)
    return Key(name, 0, "", name)  # not on a US keyboard: typed as text
