"""Exported tests keep the texts of a flow unchanged, with any characters."""

import ast

import pytest
from pydantic import ValidationError

from outrider.flows.flow import Flow, FlowCondition, FlowStep, Parameter, Target
from outrider.flows.playwright_export import format_python_test, format_typescript_test

HOSTILE = 'it\'s `${page}` "quoted" {x} \\ $& */ é'


def build_flow() -> Flow:
    return Flow(
        name="tea",
        origins=["http://127.0.0.1:1"],
        parameters={"page": Parameter(default="Ada"), "class": Parameter(default="b")},
        steps=[
            FlowStep(open="http://127.0.0.1:1/"),
            FlowStep(fill=Target(role="textbox", name='It\'s "yours"'), text=HOSTILE),
            FlowStep(click=Target(role="button", name="Order"), count=3, modifiers=["Shift"], hold_ms=50),
            FlowStep(dialog="accept", text="yes"),
            FlowStep(tab="new"),
        ],
        check=[FlowCondition(text='${page} said "it\'s\n`done`" * ${class}')],
    )


def test_python_reads_every_text_as_it_was():
    source = format_python_test(build_flow())
    tree = ast.parse(source)
    values = {"PAGE": "Ada", "CLASS": "b"}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    assert HOSTILE.replace("${page}", "Ada") in {eval(ast.unparse(each), {}, values) for each in texts}
    assert 'click(click_count=3, modifiers=["Shift"], delay=50)' in source
    assert "page = page.context.new_page()" in source
    assert source.index("page.once(") < source.index(".click(")


def test_typescript_names_shadow_nothing_and_quotes_are_escaped():
    source = format_typescript_test(build_flow())
    assert 'const PAGE = process.env.FLOW_PAGE ?? "Ada";' in source
    assert 'it\'s \\`${PAGE}\\` "quoted" {x} \\\\ \\$& */' in source
    assert "page = await page.context().newPage();" in source
    assert "\\x60done\\x60" in source


def test_values_are_escaped_in_expected_patterns():
    source = format_typescript_test(build_flow())
    assert "${escapePattern(PAGE)}" in source
    assert r'const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");' in source


def test_a_control_written_by_hand_without_a_role_is_pressed_whatever_its_role():
    steps = [FlowStep(fill=Target(name="User"), text="ada"), FlowStep(click=Target(name="Log in"))]
    flow = Flow(name="sign-in", origins=["http://x"], steps=steps)
    assert 'page.get_by_label("User").fill("ada")' in format_python_test(flow)
    pressed = 'page.get_by_role("button", name="Log in", exact=True).or_(page.get_by_role("link", name="Log in"'
    assert pressed in format_python_test(flow)
    assert 'page.getByRole("button", { name: "Log in", exact: true }).or(' in format_typescript_test(flow)


def test_an_option_is_chosen_by_its_label_as_the_flow_does():
    choice = FlowStep(select=Target(role="combobox", name="Size"), options=["Large", "${page}"])
    flow = build_flow().model_copy(update={"steps": [choice]})
    assert '.select_option(label=["Large", f"{PAGE}"])' in format_python_test(flow)
    assert '.selectOption([{ label: "Large" }, { label: `${PAGE}` }])' in format_typescript_test(flow)


def test_a_flow_name_cannot_contain_code():
    with pytest.raises(ValidationError, match="pattern"):
        Flow(name='tea"""\nimport os', origins=["http://x"], steps=[FlowStep(open="http://x")])


def test_a_control_without_a_name_is_found_by_its_role_in_its_box():
    tick = FlowStep(check=Target(role="checkbox", near="Brew tea", attributes={"type": "checkbox"}, equals=2))
    only = FlowStep(click=Target(role="button", attributes={"type": "button"}, equals=1))
    source = format_python_test(Flow(name="todo", origins=["http://x"], steps=[tick, only]))
    inner = 'get_by_role("checkbox")'
    assert f'.filter(has_text="Brew tea").filter(has=page.{inner}).last.{inner}' in source
    assert 'page.get_by_role("button").click()' in source
