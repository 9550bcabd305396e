"""Describe the outcome of an action, as text for models and as data for programs."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from outrider.browser.snapshot.outline import find_refs

if TYPE_CHECKING:
    from outrider.browser.actions.locate import ElementLocation


@dataclass
class ActionOutcome:
    """The outcome of an action that was done.

    Attributes:
        action: `click`, `type` …
        element: The element, for instance `e5 <button#save> "Save"`.
        ref: The element's reference.
        note: Anything else worth knowing: nothing had to be done, the value is not valid.
        navigated: Whether the page shows another document now.
        url: The address afterwards.
        moved: Whether the address has changed, with or without another document.
        new_pages: Addresses of pages that were opened.
        dialogs: Dialogs that opened: type, message.
        downloads: Suggested file names of downloads that started.
        errors: Exceptions that the page threw and requests that failed meanwhile.
        focused: The element that has got the focus.
        value: The field's value now; never a secret.
        changes: The difference since the last snapshot, or a new one; empty where nothing changed.
        facts: The element's rect and viewport, for programs.
        location: Where the element was found.
        selector: The caller's selector.
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
    errors: list[str] = field(default_factory=list)
    focused: str = ""
    value: str | None = None
    changes: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    location: "ElementLocation | None" = None
    selector: str = ""

    @property
    def short_element(self) -> str:
        """The element as beside changes: without its tag if it has a name; empty if the caller named its reference."""
        if not self.changes:
            return self.element
        return "" if self.ref and self.selector == self.ref else _shorten_element(self.element)

    @property
    def has_effect(self) -> bool:
        """Whether anything is known that the action caused."""
        effects = (self.navigated, self.moved, self.new_pages, self.dialogs, self.downloads, self.errors, self.changes)
        return any(effects) or bool(self.focused)

    @property
    def new_focus(self) -> str:
        """The other element that has got the focus, by its reference alone where the changes show it."""
        ref = self.focused.partition(" ")[0]
        if self.focused == self.element or (ref and ref == self.ref):
            return ""
        if ref in find_refs(self.changes):
            return ref
        name = self.focused.partition("> ")[2]
        if name and self.element.endswith(f"> {name}"):  # the field in the label or box that was pressed
            return ""
        return _shorten_element(self.focused)

    @property
    def new_address(self) -> str:
        """The address if it has changed; without the site, which only another document can change."""
        if self.navigated:
            return self.url
        return self.url[len(urljoin(self.url, "/")) - 1 :] or self.url if self.moved else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON; `ok` and `navigated` are always there, other empty fields are left out."""
        known = {"ok": True, "action": self.action, "clicked" if self.action == "click" else "element": self.element}
        rest = {
            "ref": self.ref,
            "note": self.note,
            "newPages": self.new_pages,
            "dialogs": self.dialogs,
            "downloads": self.downloads,
            "errors": self.errors,
            "focused": self.focused,
            "value": self.value,
            "changes": self.changes,
        }
        return (
            known | {"navigated": self.navigated, "url": self.url} | {k: v for k, v in rest.items() if v} | self.facts
        )

    def __str__(self) -> str:
        past_tenses = {
            "click": "clicked",
            "hover": "hovering over",
            "drag": "dragged",
            "type": "typed into",
            "check": "checked",
            "uncheck": "unchecked",
            "select": "selected in",
            "upload": "gave files to",
            "press": "pressed",
            "fill": "filled",
            "down": "holding down",
            "up": "released",
            "move": "moved",
            "wheel": "turned the wheel",
            "scroll": "scrolled",
        }
        done = past_tenses.get(self.action, self.action)
        head = f"{done} {self.short_element}" if self.short_element else done.partition(" ")[0]
        lines = [head + (f": {self.note}" if self.note else "")]
        if self.moved and not self.navigated:
            lines.append(f"the address is now {self.new_address[:300]}")
        lines += _limit_lines([f"opened a new page: {url[:300]}" for url in self.new_pages])
        dialogs = [
            f"{'an' if dialog['type'] == 'alert' else 'a'} {dialog['type']} dialog says: {dialog['message'][:500]}"
            for dialog in self.dialogs
        ]
        lines += _limit_lines(dialogs)
        lines += _limit_lines([f"download: {name}" for name in self.downloads])
        lines += _limit_lines(self.errors)
        lines += [f"focus: {self.new_focus}"] if self.new_focus else []
        lines += [f"value: {self.value}"] if self.value is not None and (self.note or not self.changes) else []
        lines += [self.changes] if self.changes else []
        return "\n".join(lines)


def _shorten_element(text: str) -> str:
    """Return `e5 "Save"` for `e5 <button#save> "Save"`, and a target without a name unchanged."""
    head, _, name = text.partition("> ")
    return f"{head.partition(' ')[0]} {name}" if name.startswith('"') else text


def _limit_lines(lines: list[str]) -> list[str]:
    """Return at most five lines of one kind, and how many more there are."""
    max_lines = 5
    return lines if len(lines) <= max_lines else [*lines[:max_lines], f"… and {len(lines) - max_lines} more"]
