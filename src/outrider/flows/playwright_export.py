"""Write a flow as a Playwright test.

It is Python for pytest, or TypeScript.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from outrider.flows.evidence import PIECE_MARK
from outrider.flows.flow import Flow, FlowCondition, FlowStep, Target
from outrider.flows.values import PLACEHOLDER_PATTERN

# Roles that snapshots name differently from WAI-ARIA, which has none for date and file inputs.
ARIA_ROLES = {"nav": "navigation", "header": "banner", "footer": "contentinfo", "aside": "complementary"}
ROLELESS = ("file", "date", "time", "month", "week", "datetime", "color", "")
TYPESCRIPT_ESCAPE = "escapePattern"  # a function that the standard library lacks
ID_ATTRIBUTES = ("data-testid", "data-test", "data-test-id", "data-cy", "data-qa", "id", "name")


@dataclass(frozen=True)
class Dialect:
    """How one language writes Playwright's calls.

    Attributes:
        await_word: The keyword before a call.
        name: Turns a method's name into the language's style.
        template: Writes a text with placeholders.
        options: Writes the named argument of a call.
        pattern: Writes a regular expression.
        labels: Writes the argument that chooses options by their labels alone, never by their values.
    """

    await_word: str
    name: Callable[[str], str]
    template: Callable[[str], str]
    options: Callable[[str, str], str]
    pattern: Callable[[str], str]
    labels: Callable[[list[str]], str]


def format_python_test(flow: Flow) -> str:
    """Return a test for pytest with the plugin pytest-playwright."""
    names = _list_values(flow)
    lines = [f'"""Flow {flow.name}, exported by Outrider. Run it with pytest and pytest-playwright."""', ""]
    lines += ["import os", "import re", "", "from playwright.sync_api import Page, expect", ""]
    for name, (variable, default) in names:
        value = f"os.environ.get({variable!r}, {default!r})" if default else f"os.environ[{variable!r}]"
        lines.append(f"{name.upper()} = {value}")
    lines += ["", "", f"def test_{re.sub(r'[^a-z0-9]', '_', flow.name)}(page: Page) -> None:"]
    body = _write_flow(flow, PYTHON)
    return "\n".join(lines + [f"    {line}" for line in body]) + "\n"


def format_typescript_test(flow: Flow) -> str:
    """Return a test for Playwright's own runner."""
    names = _list_values(flow)
    lines = [f"// Flow {flow.name}, exported by Outrider. Run it with: npx playwright test", ""]
    lines += ['import { expect, test } from "@playwright/test";', ""]
    lines += [f"const {name.upper()} = process.env.{value[0]} ?? {json.dumps(value[1])};" for name, value in names]
    body = [f"  {line};" for line in _write_flow(flow, TYPESCRIPT)]
    if any(f"{TYPESCRIPT_ESCAPE}(" in line for line in body):
        escaped = r'text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")'
        lines += ["", f"const {TYPESCRIPT_ESCAPE} = (text: string) => {escaped};"]
    lines += ["", f"test({json.dumps(flow.name)}, async ({{ page }}) => {{"]
    return "\n".join([*lines, *body, "});"]) + "\n"


def _list_values(flow: Flow) -> list[tuple[str, tuple[str, str]]]:
    """Return the parameters and secrets with their variable in the environment and their default."""
    parameters = [(name, (f"FLOW_{name.upper()}", each.default or "")) for name, each in flow.parameters.items()]
    secrets = [(name, (each.env or f"OUTRIDER_FLOW_{name.upper()}", "")) for name, each in flow.secrets.items()]
    return parameters + secrets


def write_python_text(text: str) -> str:
    if not PLACEHOLDER_PATTERN.search(text):
        return json.dumps(text, ensure_ascii=False)
    pieces = PLACEHOLDER_PATTERN.split(text)
    inner = "".join(
        f"{{{piece.upper()}}}" if index % 2 else json.dumps(piece)[1:-1].replace("{", "{{").replace("}", "}}")
        for index, piece in enumerate(pieces)
    )
    return f'f"{inner}"'


def write_typescript_text(text: str) -> str:
    if not PLACEHOLDER_PATTERN.search(text):
        return json.dumps(text, ensure_ascii=False)
    pieces = PLACEHOLDER_PATTERN.split(text)
    escape = str.maketrans({"`": "\\`", "\\": "\\\\", "$": "\\$"})
    inner = [f"${{{each.upper()}}}" if index % 2 else each.translate(escape) for index, each in enumerate(pieces)]
    return f"`{''.join(inner)}`"


def write_python_pattern(wanted: str) -> str:
    pieces = [_escape_piece(piece, lambda name: f'" + re.escape({name.upper()}) + r"') for piece in wanted.split("*")]
    pattern = ".*".join(pieces)
    return f're.compile(r"{pattern}", re.IGNORECASE)'.replace(' + r""', "")


def write_typescript_pattern(wanted: str) -> str:
    pieces = [
        _escape_piece(piece, lambda name: f"${{{TYPESCRIPT_ESCAPE}({name.upper()})}}") for piece in wanted.split("*")
    ]
    pattern = ".*".join(pieces)
    return f'new RegExp(String.raw`{pattern}`, "i")'


def _escape_piece(text: str, write_name: Callable[[str], str]) -> str:
    """Escape a text for use in a regular expression literal.

    No quotation mark or line break in it can end the literal.
    """
    pieces = PLACEHOLDER_PATTERN.split(re.sub(r"\s+", " ", text))
    quotes = {'"': r"\x22", "`": r"\x60"}
    quoted = [re.sub('["`]', lambda mark: quotes[mark[0]], re.escape(piece)) for piece in pieces]
    return "".join(write_name(pieces[index]) if index % 2 else each for index, each in enumerate(quoted))


PYTHON = Dialect(
    "",
    lambda name: re.sub(r"([A-Z])", r"_\1", name).lower(),
    write_python_text,
    "{}={}".format,
    write_python_pattern,
    lambda labels: f"label=[{', '.join(labels)}]",
)
TYPESCRIPT = Dialect(
    "await ",
    str,
    write_typescript_text,
    "{{ {}: {} }}".format,
    write_typescript_pattern,
    lambda labels: f"[{', '.join(f'{{ label: {each} }}' for each in labels)}]",
)


def _write_flow(flow: Flow, dialect: Dialect) -> list[str]:
    lines: list[str] = []
    # Playwright has no page tools, so write the presses that replace them.
    steps = [inner for step in flow.steps for inner in ((step.steps or []) if step.tool is not None else [step])]
    for number, step in enumerate(steps, 1):
        if step.when:
            comment = "#" if dialect is PYTHON else "//"
            lines.append(f"{comment} step {number} is only for pages with {step.when}")
        written = _write_element_step(step, step.target, dialect) if step.target else _write_step(step, dialect)
        # Playwright must know the answer before the press that opens the dialog.
        place = max(len(lines) - 1, 0) if step.kind == "dialog" else len(lines)
        lines[place:place] = written
        lines += _write_condition(step.expect, dialect) if step.expect else []
    for condition in flow.check:
        lines += _write_condition(condition, dialect)
    return lines


def _write_step(step: FlowStep, dialect: Dialect) -> list[str]:
    """Write a step without an element."""
    call, text = dialect.await_word + "page.", dialect.template
    sign = -1 if step.scroll in ("up", "left") else 1
    match step.kind:
        case "open":
            line = f"{call}goto({text(step.open or '')})"
        case "press":
            line = f"{call}keyboard.press({text(step.press or '')})"
        case "scroll":
            delta = f"{sign * step.amount:g}"
            line = f"{call}mouse.wheel({f'0, {delta}' if step.scroll in ('up', 'down') else f'{delta}, 0'})"
        case "dialog":
            arrow = "lambda dialog: " if dialect is PYTHON else "(dialog) => "
            line = f'page.once("dialog", {arrow}dialog.{step.dialog}({text(step.text) if step.text else ""}))'
        case "wait" if step.wait is not None:
            return _write_condition(step.wait, dialect)
        case "tab":
            context = "page.context" if dialect is PYTHON else "page.context()"
            pages = f"{context}.pages" if dialect is PYTHON else f"{context}.pages()"
            opened = f"{dialect.await_word}{context}.{dialect.name('newPage')}()"
            line = f"page = {pages}[{step.tab - 1}]" if isinstance(step.tab, int) else f"page = {opened}"
        case kind:
            method = {"back": "goBack", "forward": "goForward"}.get(kind, kind)
            line = f"{call}{dialect.name(method)}()"
    return [line]


def _write_element_step(step: FlowStep, target: Target, dialect: Dialect) -> list[str]:
    is_field = step.kind in ("fill", "select", "upload", "check", "uncheck")
    locator, text = _write_locator(target, dialect, is_pressed=not is_field), dialect.template
    call = f"{dialect.await_word}{locator}."
    if step.press is not None:
        return [f"{call}press({text(step.press)})"]
    secret = f"${{{step.secret}}}" if step.secret else ""
    match step.kind:
        case "fill":
            value = text(secret or step.text or "")
            lines = [f"{call}fill({value})"]
            if step.append:
                lines = [f'{call}press("End")', f"{call}{dialect.name('pressSequentially')}({value})"]
        case "select":
            lines = [f"{call}{dialect.name('selectOption')}({dialect.labels([text(each) for each in step.options])})"]
        case "upload":
            lines = [f"{call}{dialect.name('setInputFiles')}([{', '.join(map(text, step.files))}])"]
        case "drag" if step.to is not None:
            lines = [f"{call}{dialect.name('dragTo')}({_write_locator(step.to, dialect)})"]
        case "click":
            lines = [f"{call}click({_write_click_options(step, dialect)})"]
        case kind:
            lines = [f"{call}{kind}()"]
    return [*lines, *([f'{call}press("Enter")'] if step.submit else [])]


def _write_click_options(step: FlowStep, dialect: Dialect) -> str:
    """Write the differences from a plain click as named arguments."""
    usual = {"button": "left", "clickCount": 1, "modifiers": [], "delay": 0}
    wanted = {"button": step.button, "clickCount": step.count, "modifiers": step.modifiers, "delay": step.hold_ms}
    given = [(dialect.name(name), json.dumps(value)) for name, value in wanted.items() if value != usual[name]]
    if dialect is PYTHON:
        return ", ".join(f"{name}={value}" for name, value in given)
    return f"{{ {', '.join(f'{name}: {value}' for name, value in given)} }}" if given else ""


def _write_locator(target: Target, dialect: Dialect, *, is_pressed: bool = True) -> str:
    scope = "page"
    about = target.near.split(PIECE_MARK)[0] or target.under
    attribute = next((each for each in ID_ATTRIBUTES if each in target.attributes), "")
    if target.equals > 1 and not target.row and attribute:
        return _write_attribute_locator(target, attribute, scope, dialect)
    if target.equals > 1 and not target.row and about:
        return _write_inner_locator(target.model_copy(update={"equals": 1}), about, dialect)
    if target.row:
        rows = 'page.locator("tr,li,article,[role=row],[role=listitem],[role=article]").filter('
        argument = "has_text" if dialect is PYTHON else "hasText"
        scope = f"{rows}{dialect.options(argument, dialect.template(target.row))})"
    role = ARIA_ROLES.get(target.role, target.role)
    if target.name:
        return _write_name_locator(target, role, scope, dialect, is_pressed=is_pressed)
    if not attribute and target.role not in ROLELESS:
        return f"{scope}.{dialect.name('getByRole')}({json.dumps(role)})"
    return _write_attribute_locator(target, attribute or next(iter(target.attributes), "id"), scope, dialect)


def _write_attribute_locator(target: Target, name: str, scope: str, dialect: Dialect) -> str:
    value = json.dumps(target.attributes.get(name, ""), ensure_ascii=False)
    return f"{scope}.locator({dialect.template(f'[{name}={value}]')})"


def _write_name_locator(target: Target, role: str, scope: str, dialect: Dialect, *, is_pressed: bool) -> str:
    """Write the locator of a named element; without a role it is a box, or any control in a handwritten file."""
    is_password = target.attributes.get("type") == "password"
    if target.role not in ROLELESS and not is_password:
        return _write_role_locator(role, target.name, scope, dialect)
    if target.role or not is_pressed:
        return f"{scope}.{dialect.name('getByLabel')}({dialect.template(target.name)})"
    if target.path:
        exact = "exact=True" if dialect is PYTHON else "{ exact: true }"
        return f"{scope}.{dialect.name('getByText')}({dialect.template(target.name)}, {exact})"
    roles = ("button", "link", "tab", "menuitem", "checkbox", "radio", "option")
    first, *others = (_write_role_locator(each, target.name, scope, dialect) for each in roles)
    word = "or_" if dialect is PYTHON else "or"
    return first + "".join(f".{word}({each})" for each in others)


def _write_role_locator(role: str, name: str, scope: str, dialect: Dialect) -> str:
    options = dialect.options("name", dialect.template(name))
    exact = f"{options}, exact=True" if dialect is PYTHON else f"{options[:-2]}, exact: true }}"
    return f"{scope}.{dialect.name('getByRole')}({json.dumps(role)}, {exact})"


def _write_inner_locator(target: Target, about: str, dialect: Dialect) -> str:
    """Write the locator of one of several namesakes, within a box with a text."""
    inner = _write_locator(target, dialect)
    argument = "has_text" if dialect is PYTHON else "hasText"
    filters = [dialect.options(argument, dialect.template(about)), dialect.options("has", inner)]
    box = 'page.locator("section,fieldset,form,div,li,tr,article")' + "".join(f".filter({each})" for each in filters)
    return f"{box}.{'last' if dialect is PYTHON else 'last()'}{inner.removeprefix('page')}"


def _write_condition(condition: FlowCondition, dialect: Dialect) -> list[str]:
    lines: list[str] = []
    body = 'page.locator("body")'
    expect = f"{dialect.await_word}expect"
    if condition.url:
        method = "to_have_url" if dialect is PYTHON else "toHaveURL"
        lines.append(f"{expect}(page).{method}({dialect.pattern(condition.url)})")
    if condition.title:
        lines.append(f"{expect}(page).{dialect.name('toHaveTitle')}({dialect.pattern(condition.title)})")
    if condition.text:
        lines.append(f"{expect}({body}).{dialect.name('toContainText')}({dialect.pattern(condition.text)})")
    if condition.gone:
        method = "not_to_contain_text" if dialect is PYTHON else "not.toContainText"
        lines.append(f"{expect}({body}).{method}({dialect.pattern(condition.gone)})")
    return lines
