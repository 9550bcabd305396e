"""What an action did, as a model reads it and as a program does."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ActionOutcome:
    """A done action.

    Attributes:
        action: `click`, `type` …
        element: On what, for instance `e5 <button#save> "Save"`.
        ref: Its reference.
        note: What else is worth knowing: that it was so already, that a value is not valid.
        navigated: There is another document now.
        url: The address afterwards.
        moved: The address has changed, with or without another document.
        new_pages: Addresses of pages that were opened.
        dialogs: Dialogs that were opened: type, message.
        downloads: Suggested names of files that began to load.
        focused: What has the focus now, if that has changed.
        value: What the field holds now; never a secret.
        changes: The difference since the last look, or the whole outline; empty where nothing changed.
        facts: The element's rect and viewport, for programs.
    """

    action: str
    element: str
    ref: str = ""
    note: str = ""
    navigated: bool = False
    url: str = ""
    moved: bool = False
    new_pages: list[str] = field(default_factory=list)
    dialogs: list[dict[str, Any]] = field(default_factory=list)
    downloads: list[str] = field(default_factory=list)
    focused: str = ""
    value: str | None = None
    changes: str = ""
    facts: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The facts that programs want; what is empty is left out, `ok` and `navigated` never are."""
        known = {"ok": True, "action": self.action, "clicked" if self.action == "click" else "element": self.element}
        rest = {
            "ref": self.ref,
            "note": self.note,
            "newPages": self.new_pages,
            "dialogs": self.dialogs,
            "downloads": self.downloads,
            "focused": self.focused,
            "value": self.value,
            "changes": self.changes,
        }
        return (
            known | {"navigated": self.navigated, "url": self.url} | {k: v for k, v in rest.items() if v} | self.facts
        )

    def __str__(self) -> str:
        lines = [
            f"{PAST_TENSES.get(self.action, self.action)} {self.element}".strip()
            + (f": {self.note}" if self.note else "")
        ]
        if self.moved and not self.navigated:
            lines.append(f"the address is now {self.url[:300]}")
        lines += [f"opened a new page: {url[:300]}" for url in self.new_pages]
        lines += _limit_lines(
            [
                f"{'an' if each['type'] == 'alert' else 'a'} {each['type']} dialog says: {each['message'][:500]}"
                for each in self.dialogs
            ]
        )
        lines += _limit_lines([f"download: {name}" for name in self.downloads])
        lines += [f"focus: {self.focused}"] if self.focused and self.focused != self.element else []
        lines += [f"value: {self.value}"] if self.value is not None and (self.note or not self.changes) else []
        lines += [self.changes] if self.changes else []
        return "\n".join(lines)


def _limit_lines(lines: list[str]) -> list[str]:
    """At most the first lines of one kind, and how many more there are."""
    max_lines = 5  # lines of one kind
    return lines if len(lines) <= max_lines else [*lines[:max_lines], f"… and {len(lines) - max_lines} more"]


PAST_TENSES = {
    "click": "clicked",
    "hover": "hovering over",
    "drag": "dragged",
    "type": "typed into",
    "check": "checked",
    "uncheck": "unchecked",
    "select": "selected in",
    "upload": "gave files to",
    "press": "pressed",
    "scroll": "scrolled",
}
