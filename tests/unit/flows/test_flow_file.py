"""A flow's file can be read back, and keeps people's additions."""

from pathlib import Path

import pytest

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotConfigured, Refused
from outrider.flows.conditions import PageView, find_unmet
from outrider.flows.flow import Flow, FlowCondition, FlowStep, Target
from outrider.flows.flow_file import format_flow, parse_flow
from outrider.flows.flow_store import FlowStore, SecretStore
from outrider.flows.origins import is_named_origin
from outrider.flows.program import format_program, load_program
from outrider.flows.values import fill_step, resolve_parameters

FLOW_YAML = """# Of the whole team
flow: 1
name: tea
origins: [http://shop.example]
parameters:
  kind: {default: Green}   # as it is drunk
secrets:
  pin: {file: pin}
steps:
  # the first page
  - open: http://shop.example/${kind}
  - fill: PIN
    secret: pin
  - click: {role: button, name: "Order ${kind}", row: "${kind} tea"}
    expect: {text: "${kind} * ordered"}
"""


def test_a_flow_that_is_saved_again_keeps_its_comments():
    flow = parse_flow(FLOW_YAML, "tea")
    flow.description = "Order"
    again = format_flow(flow, FLOW_YAML)
    for comment in ("# Of the whole team", "# as it is drunk", "# the first page"):
        assert comment in again
    assert parse_flow(again, "tea") == flow
    assert parse_flow(format_flow(flow), "tea") == flow


def test_parameters_are_filled_in_everywhere_and_secrets_come_from_the_operator(tmp_path: Path):
    flow = parse_flow(FLOW_YAML, "tea")
    values = resolve_parameters(flow, {"kind": "Black"}).texts
    click = fill_step(flow.steps[2], values)
    assert fill_step(flow.steps[0], values).open == "http://shop.example/Black"
    assert (click.target.name, click.target.row) == ("Order Black", "Black tea")
    with pytest.raises(NotConfigured, match="secret pin has no value"):
        SecretStore(tmp_path).resolve_secrets(flow)
    (tmp_path / "pin").write_text("1234\n")
    assert SecretStore(tmp_path).resolve_secrets(flow) == {"pin": "1234"}
    with pytest.raises(InvalidInput, match="does not declare"):
        fill_step(FlowStep(open="http://shop.example/${size}"), values)


@pytest.mark.parametrize(
    ("condition", "is_met"),
    [
        (FlowCondition(url="/orders/*"), True),
        (FlowCondition(url="/orders"), False),
        (FlowCondition(url="http://shop.example/orders/7?x=1"), True),
        (FlowCondition(url="/orders/7?x=1"), True),
        (FlowCondition(text="order * is  SENT"), True),
        (FlowCondition(text="order is sent"), False),
        (FlowCondition(gone="sent"), False),
        (FlowCondition(url="/*/7"), True),
        (FlowCondition(url="/orders/7*7"), False),
        (FlowCondition(text="order*7*7"), False),
        (FlowCondition(gone="lost", title="Shop"), True),
    ],
)
def test_conditions_compare_addresses_and_text_leniently(condition: FlowCondition, is_met: bool):
    view = PageView("http://shop.example/orders/7?x=1", "My shop", "Your Order 7\nis sent.")
    assert (find_unmet(condition, view) == "") is is_met


def test_names_cannot_leave_the_folder_and_links_are_not_followed(tmp_path: Path):
    store = FlowStore(tmp_path, tmp_path / "data")
    flow = Flow(name="tea", origins=["http://x"], steps=[FlowStep(click=Target(name="Save"))])
    path = Path(store.save_flow(Call(), flow).place)
    assert path == tmp_path / ".outrider" / "flows" / "tea.yaml"
    for name in ("../tea", "a/b", ".hidden", "", "x" * 65):
        with pytest.raises(InvalidInput):
            store.load_flow(Call(), name)
    path.with_name("link.yaml").symlink_to(path)
    with pytest.raises(Refused, match="leads out"):
        store.load_flow(Call(), "link")
    elsewhere = tmp_path / "strange"
    (elsewhere / ".outrider").mkdir(parents=True)
    (elsewhere / ".outrider" / "flows").symlink_to(path.parent)
    strange = FlowStore(elsewhere, tmp_path / "data")
    for use in (strange.load_flow, strange.delete_flow):
        with pytest.raises(Refused, match="leads out"):
            use(Call(), "tea")
    assert path.is_file()


def test_hostile_files_are_refused_cheaply(tmp_path: Path):
    head = "flow: 1\nname: tea\norigins: [http://x]\n"
    nine = "  - {when: {text: a}, steps: *s0}\n" * 9
    cases = {
        "steps: " + "[" * 5_000: "nested too deeply",
        "".join("  " * depth + "- steps:\n" for depth in range(1, 200)): "not valid YAML",
        "steps:\n" + "".join("  " * depth + "- steps:\n" for depth in range(1, 200)): "nested too deeply",
        f"x: &s0\n  - back: true\nsteps:\n{nine}": "line 7: \\*s0 is an alias",
        "steps: [{tab: " + "9" * 5_000 + "}]": "cannot be read",
        "steps: [{tab: 2026-02-31}]": "cannot be read",
        "steps: [{open: !!python/object:os.system x}]": "line 4 has a tag",
        "parameters: !!omap [a: 1]": "line 4 has a tag",
        "steps: [{scroll: down, amount: .nan}]": "amount: Input should be a finite number",
        "steps: [{tool: pay, arguments: {on: 2026-01-31}}]": "not a valid JSON value",
        "steps:\n" + "- back: true\n" * 25_000: "too long",
        "steps:\n" + "\n" * 1_000_000: "has 1,000,045 characters, more than 500,000",
    }
    for text, problem in cases.items():
        with pytest.raises(InvalidInput, match=problem):
            parse_flow(head + text, "tea")
    with pytest.raises(InvalidInput, match="line 2: name: is tea, but its file has another name"):
        parse_flow(f"{head}steps: [{{back: true}}]", "coffee")
    store, file = FlowStore(tmp_path, tmp_path / "data"), tmp_path / ".outrider" / "flows" / "tea.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(head + "steps: [{back: true}]\n#" + "x" * 1_000_000 + "\n")
    assert "larger than 1,000,000 bytes" in store.list_flows(Call())[0].problem
    store.delete_flow(Call(), "tea")
    assert store.list_names(Call()) == []


def test_flows_that_run_one_another_many_times_are_each_read_once():
    texts = {
        f"f{number}": f"flow: 1\nname: f{number}\norigins: [http://x]\nsteps:\n" + f"  - flow: f{number + 1}\n" * 9
        for number in range(12)
    }
    texts["f12"] = "flow: 1\nname: f12\norigins: [http://x]\nsteps: [{back: true}]\n"
    assert len(load_program("f0", texts.__getitem__).flows) == 13
    texts["f12"] = texts["f12"].replace("back: true", "flow: f3")
    with pytest.raises(InvalidInput, match="f12 > f3"):
        load_program("f0", texts.__getitem__)


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        (r"https://evil.example\@shop.example", "https://evil.example"),
        ("https://shop.example@evil.example/shop.example", "https://evil.example"),
        ("HTTPS://Shop.Example:443/tea", "https://shop.example"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
    ],
)
def test_sites_are_parsed_as_browsers_parse_addresses(written: str, seen: str):
    flow = parse_flow(f"flow: 1\nname: tea\norigins: ['{written}']\nsteps: [{{back: true}}]\n", "tea")
    assert flow.origins == [seen]
    assert is_named_origin(written, [seen])
    assert not is_named_origin(written, ["https://shop.example"]) or seen == "https://shop.example"
    with pytest.raises(InvalidInput, match="'about:blank' is not a site"):
        parse_flow("flow: 1\nname: tea\norigins: ['about:blank']\nsteps: [{back: true}]\n", "tea")


def test_a_person_who_approves_a_flow_is_shown_everything_its_steps_do():
    head = "flow: 1\nname: {}\norigins: [http://x]\n"
    steps = f"""steps:
  - tool: pay
    arguments: {{note: {"x" * 5_000}, to: Mallory}}
  - fill: Search
    text: tea
    submit: true
  - drag: Invoice
    to: Bin
  - click: Save
    modifiers: [Control]
    when: {{title: Admin}}
  - flow: send
    parameters: {{to: Eve}}
"""
    texts = {"tea": head.format("tea") + steps}
    texts["send"] = f"{head.format('send')}parameters: {{to: {{}}}}\nsteps: [{{back: true}}]\n"
    shown = format_program(load_program("tea", texts.__getitem__))
    for part in (
        '"to": "Mallory"',
        "'tea'; submit",
        'to element "Bin"',
        "modifiers Control; when title 'Admin'",
        "Eve",
    ):
        assert part in shown


def test_a_handwritten_file_is_saved_unchanged_except_for_its_version(tmp_path: Path):
    store = FlowStore(tmp_path, tmp_path / "data")
    head, steps = "flow: 1\nname: tea\n", "origins: ['http://x']\nsteps:\n  - click: Save  # at last\n"
    for number, version in enumerate(["", "version: 7   # ours\n", '"version": 3\n'], 1):
        file = f"{head}{version}{steps}"
        saved = store.save_flow(Call(), parse_flow(file, "tea"), replace=True, file=file)
        assert saved.version == number
        assert parse_flow(saved.text, "tea").version == number
        assert "- click: Save  # at last" in saved.text or version.startswith('"')
    assert "version: 2   # ours\n" in (tmp_path / ".outrider" / "flows" / "tea.v2.yaml").read_text()
    assert [each.version for each in store.list_versions(Call(), "tea")] == [3, 2, 1]


def test_a_flow_that_is_recorded_again_keeps_its_description_and_earlier_version(tmp_path: Path):
    store, steps = FlowStore(tmp_path, tmp_path / "data"), [FlowStep(click=Target(name="Save"))]
    flow = Flow(name="tea", description="Order tea", origins=["http://x"], steps=steps)
    first = store.save_flow(Call(), flow)
    again = flow.model_copy(update={"description": "", "steps": steps * 2})
    second = store.save_flow(Call(), again, replace=True)
    named = store.save_flow(Call(), flow.model_copy(update={"description": "Tea"}), replace=True)
    assert "description: Order tea" in second.text
    assert "description: Tea" in named.text
    assert [each.text for each in store.list_versions(Call(), "tea")] == [named.text, second.text, first.text]
    store.delete_flow(Call(), "tea")
    assert list((tmp_path / ".outrider" / "flows").iterdir()) == []
