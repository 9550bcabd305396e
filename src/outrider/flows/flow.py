"""The schema of a flow: its parameters, secrets, steps and checks."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self

from pydantic import Field, JsonValue, model_validator

from outrider.core.errors import InvalidInput
from outrider.flows.extraction import Extraction
from outrider.flows.flow_model import FlowModel, Identifier
from outrider.flows.origins import Site

SCHEMA_VERSION = 1
NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
# The kinds of steps whose value is an element.
ELEMENT_KINDS = ("click", "fill", "select", "check", "uncheck", "hover", "drag", "upload")
STEP_KINDS = (
    *ELEMENT_KINDS,
    "open",
    "press",
    "scroll",
    "tab",
    "back",
    "forward",
    "reload",
    "dialog",
    "wait",
    "extract",
    "each",
    "pages",
    "flow",
    "tool",
)
# The kinds that contain other steps; a step with only `when` and `steps` has the kind `steps`.
BLOCK_KINDS = ("each", "pages", "steps")
# The fields that only some kinds of steps have.
KIND_FIELDS: dict[str, tuple[str, ...]] = {
    "on": ("press",),
    "parameters": ("flow",),
    "max_pages": ("pages",),
    "arguments": ("tool",),
    "steps": (*BLOCK_KINDS, "tool"),
}


class Target(FlowModel):
    """The traits that identify an element; the more are known, the more must agree.

    Attributes:
        role: Its role as snapshots show it.
        name: Its accessible name; `${parameter}` is replaced.
        row: The first text of its row, list item or article.
        near: The other text in the smallest box around it.
        under: The nearest heading before it.
        inside: The landmark, form or dialog around it.
        path: The chain of meaningful tags that leads to it.
        attributes: id, name, test ids, placeholder and the like.
        equals: How many visible elements had its role and name.
        traits: Evidence that remains when texts change: `order` among the controls of its group, `after` and `before`
            (the names of those beside it), `form` (method and path), `sends` (names of its fields), `head` (of its
            column), `caption` (month and year of a calendar), `twins` (how many rows have the name of its row), `icon`,
            `language`, `on` (whether a switch was), `price` (in its row), `costs` (a price in its form), and `choices`
            in fields of its form that no step of the flow sets, as `currency=EUR; gift=false`.
    """

    role: str = ""
    name: str = ""
    row: str = ""
    near: str = ""
    under: str | None = None
    inside: str | None = None
    path: str = ""
    attributes: dict[str, str] = {}
    equals: int = 0
    traits: dict[str, str] = {}

    @model_validator(mode="before")
    @classmethod
    def read_short_form(cls, value: Any) -> Any:
        """Read `click: Save` as `click: {name: Save}`."""
        return {"name": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def require_identity(self) -> Self:
        """Refuse a target that matches everything."""
        if not (self.name or self.attributes or self.traits):
            raise ValueError("needs a name or attributes")
        return self

    def __str__(self) -> str:
        word = self.role or "element"
        named = f'{word} "{self.name}"' if self.name else f"{word} {self.attributes or self.traits}"
        return f'{named} in the row "{self.row}"' if self.row else named


class FlowCondition(FlowModel):
    """A condition to wait for or check; all given parts must hold, and `*` matches any text.

    Attributes:
        url: The path of the address, or the whole address.
        title: The page's title.
        text: A text that the page must show.
        gone: A text that it must not show.
        seconds: How long to wait for it.
    """

    url: str = ""
    title: str = ""
    text: str = ""
    gone: str = ""
    seconds: float = Field(default=10, ge=0, le=300)

    @model_validator(mode="after")
    def require_part(self) -> Self:
        """Refuse a condition that always holds."""
        if not (self.url or self.title or self.text or self.gone):
            raise ValueError("needs url, title, text or gone")
        return self

    def __str__(self) -> str:
        parts = {"address": self.url, "title": self.title, "text": self.text, "no text": self.gone}
        return " and ".join(f"{name} {value!r}" for name, value in parts.items() if value)


class Proof(FlowCondition):
    """A page that shows the effect of this step and of no other.

    Attributes:
        open: The page's address.
    """

    open: str


class FlowStep(FlowModel):
    """One step: exactly one kind, with its fields.

    Attributes:
        text: What `fill` writes; for `dialog` the answer to a prompt.
        secret: The secret that `fill` writes instead.
        append: `fill` keeps the present text and writes after it.
        submit: `fill` presses Enter afterwards.
        options: The labels that `select` chooses; values only for options with equal labels.
        files: The workspace's files to `upload`.
        to: The element on which `drag` ends.
        on: The element to focus before `press`; by default the one that has the focus.
        button: The mouse button of `click`.
        count: The number of clicks.
        modifiers: Keys that are held during the click.
        hold_ms: How long the click holds the button.
        amount: Pixels to scroll.
        extract: Rows to extract from the page.
        each: A parameter with columns, or an extraction; `steps` run once for each row, with its values as
            `${row.COLUMN}`.
        pages: The button or link to the next page; `steps` run on each page, until it is gone or disabled.
        max_pages: The maximum number of pages.
        flow: Another flow to run here.
        parameters: The values of its parameters.
        tool: A tool that the page itself offers (WebMCP).
        arguments: Its arguments.
        steps: The steps of a loop, those to run only `when` something holds, or those to run instead of a `tool` that
            the page does not offer.
        when: The step is skipped unless this holds.
        expect: The condition that must hold afterwards.
        proof: Where an interrupted run can see whether the step was done.
        repeat: The step may be done twice, like a sign-in.
        ask: A person is asked before the step.
        note: For readers.
    """

    open: str | None = None
    click: Target | None = None
    fill: Target | None = None
    select: Target | None = None
    check: Target | None = None
    uncheck: Target | None = None
    hover: Target | None = None
    drag: Target | None = None
    upload: Target | None = None
    press: str | None = None
    scroll: Literal["up", "down", "left", "right"] | None = None
    tab: int | Literal["new"] | None = None
    back: Literal[True] | None = None
    forward: Literal[True] | None = None
    reload: Literal[True] | None = None
    dialog: Literal["accept", "dismiss"] | None = None
    wait: FlowCondition | None = None
    extract: Extraction | None = None
    each: Identifier | None = None
    pages: Target | None = None
    flow: str | None = Field(default=None, pattern=rf"^{NAME_PATTERN.pattern}$")
    tool: str | None = Field(default=None, min_length=1, max_length=200)
    arguments: dict[str, JsonValue] = {}
    steps: list["FlowStep"] | None = Field(default=None, min_length=1, max_length=200)
    parameters: dict[Identifier, str] = {}
    max_pages: int = Field(default=20, ge=1, le=500)
    text: str | None = None
    secret: str | None = None
    append: bool = False
    submit: bool = False
    options: list[str] = []
    files: list[str] = []
    to: Target | None = None
    on: Target | None = None
    button: Literal["left", "right", "middle"] = "left"
    count: int = Field(default=1, ge=1, le=3)
    modifiers: list[str] = []
    hold_ms: int = Field(default=0, ge=0, le=10_000)
    amount: float = 500
    when: FlowCondition | None = None
    expect: FlowCondition | None = None
    proof: Proof | None = None
    repeat: bool = False
    ask: bool = False
    note: str = ""

    @model_validator(mode="after")
    def require_one_kind(self) -> Self:
        """Refuse a step without exactly one kind, or without a field that it needs."""
        kinds = [kind for kind in STEP_KINDS if getattr(self, kind) is not None]
        if len(kinds) > 1 or not (kinds or self.steps):
            raise ValueError(f"needs exactly one of {', '.join(STEP_KINDS)}; it has {', '.join(kinds) or 'none'}")
        needs = {
            "select": ("options",),
            "upload": ("files",),
            "drag": ("to",),
            "each": ("steps",),
            "pages": ("steps",),
            "steps": ("when",),
        }.get(self.kind, ())
        for name in needs:
            if not getattr(self, name):
                raise ValueError(f"{self.kind} needs {name}")
        if self.kind == "fill" and (self.text is None) == (self.secret is None):
            raise ValueError("fill needs text or secret")
        return self

    @model_validator(mode="after")
    def require_own_fields(self) -> Self:
        """Refuse fields of other kinds, and fields that apply to single steps only."""
        for name, kinds in KIND_FIELDS.items():
            if name in self.model_fields_set and self.kind not in kinds:
                raise ValueError(f"{name} belongs to {', '.join(kinds)}, not to {self.kind}")
        for name in ("expect", "proof", "repeat", "ask") if self.kind in (*BLOCK_KINDS, "flow") else ():
            if getattr(self, name):
                raise ValueError(f"{name} belongs to a step inside, not to {self.kind}")
        return self

    @property
    def kind(self) -> str:
        """The kind of the step."""
        return next((kind for kind in STEP_KINDS if getattr(self, kind) is not None), "steps")

    @property
    def target(self) -> Target | None:
        """Its element; None for steps without one."""
        value = getattr(self, self.kind)
        return value if isinstance(value, Target) else self.on

    def __str__(self) -> str:
        value = getattr(self, self.kind)
        if self.kind == "steps":
            return f"{len(value)} steps when the page has {self.when}"
        if self.tool is not None:
            return f"tool {self.tool} with {json.dumps(self.arguments, ensure_ascii=False, default=str)}"
        words = self.kind if value is True else f"{self.kind} {value}"
        return f"{words} on {self.on}" if self.on else words


class Parameter(FlowModel):
    """A value that each run may set, or must set if it lacks a default.

    Attributes:
        default: Its value if a run sets none.
        columns: If given, the value is a list of rows with these columns, as JSON or CSV, for `each`.
        secret: Whether its value is left out of records and answers; a resumed run asks for it again.
        description: For people and models.
    """

    default: str | None = None
    columns: list[Identifier] = Field(default=[], max_length=50)
    secret: bool = False
    description: str = ""

    @model_validator(mode="after")
    def require_hidden_value(self) -> Self:
        """Refuse secrets with a value in the file, and secrets that are rows."""
        if self.secret and (self.default is not None or self.columns):
            raise ValueError("a secret parameter has no default and no columns")
        return self


class Secret(FlowModel):
    """A value that flows never contain; the operator sets it in the environment or a file.

    Attributes:
        env: The variable, or the file of this name.
        file: The file, in the folder of secrets.
        origins: The sites where it may be typed; by default all of the flow's.
        description: For readers.
    """

    env: str = Field(default="", pattern=r"^(OUTRIDER_FLOW_[A-Z0-9_]{1,60})?$")
    file: str = Field(default="", pattern=r"^([a-z0-9][a-z0-9_.-]{0,63})?$")
    origins: list[Site] = Field(default=[], max_length=50)
    description: str = ""

    @model_validator(mode="after")
    def require_source(self) -> Self:
        """Refuse a secret without a source."""
        if bool(self.env) == bool(self.file):
            raise ValueError("needs env or file")
        return self


class Flow(FlowModel):
    """A flow.

    Attributes:
        flow: The version of this schema.
        name: Lower-case letters, digits, `-` and `_`.
        version: Increased each time that it is saved.
        origins: The only sites on which it acts.
        check: The condition that must hold at the end.
    """

    flow: Literal[1] = SCHEMA_VERSION
    name: str = Field(pattern=rf"^{NAME_PATTERN.pattern}$")
    description: str = ""
    version: int = Field(default=1, ge=1)
    origins: list[Site] = Field(min_length=1)
    parameters: dict[Identifier, Parameter] = {}
    secrets: dict[Identifier, Secret] = {}
    steps: list[FlowStep] = Field(min_length=1, max_length=500)
    check: list[FlowCondition] = []

    @model_validator(mode="after")
    def require_known_secrets(self) -> Self:
        """Refuse a step with a secret that the flow does not declare."""
        for place, step in iterate_steps(self.steps):
            if step.secret is not None and step.secret not in self.secrets:
                raise ValueError(f"step {place} uses secret {step.secret!r}, which secrets does not name")
        for name, secret in self.secrets.items():
            if strange := [origin for origin in secret.origins if origin not in self.origins]:
                raise ValueError(f"secret {name} names {strange[0]}, which is not among the flow's origins")
        return self

    @model_validator(mode="after")
    def require_known_rows(self) -> Self:
        """Refuse a loop over unknown rows, and nested loops."""
        known = {name for name, each in self.parameters.items() if each.columns}
        loops: list[str] = []
        for place, step in iterate_steps(self.steps):
            known |= {step.extract.into} if step.extract else set()
            if step.each is None:
                continue
            if step.each not in known:
                names = ", ".join(sorted(known)) or "none"
                raise ValueError(
                    f"step {place}: each: {step.each} is neither a parameter with columns nor an "
                    f"extraction before it (there are {names})"
                )
            if any(place.startswith(f"{loop}.") for loop in loops):
                raise ValueError(f"step {place}: a loop over rows cannot be inside another; use a separate flow")
            loops.append(place)
        return self


def iterate_steps(steps: Sequence[FlowStep], before: str = "") -> Iterator[tuple[str, FlowStep]]:
    """Yield each step with its place (`3.1`), followed by the steps inside it."""
    for number, step in enumerate(steps, 1):
        yield f"{before}{number}", step
        yield from iterate_steps(step.steps or (), f"{before}{number}.")


def require_flow_name(name: str) -> str:
    """Return the stored form of a flow's name. Raises InvalidInput."""
    plain = name.strip().lower().replace(" ", "-")
    if not NAME_PATTERN.fullmatch(plain):
        hint = "use lower-case letters, digits, - and _, at most 64"
        raise InvalidInput(f"name: {name[:80]!r} is not a valid name of a flow", hint=hint)
    return plain
