"""Extraction, loops, conditions and nested flows, through a client and a real browser."""

import csv
import json
from collections.abc import AsyncGenerator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

from support.apps import loopback_app
from support.apps.orders_site import OrdersSite
from support.results import read_error, read_first_text
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio


@dataclass
class FlowLab:
    """A client, the shop that its flows act on, and the folder of its project."""

    client: Client
    site: OrdersSite
    url: str
    folder: Path

    def write(self, name: str, steps: str, more: str = "") -> None:
        file = self.folder / ".outrider" / "flows" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"flow: 1\nname: {name}\norigins: [{self.url}]\n{more}steps:\n{steps.replace('SITE', self.url)}"
        )

    def read_saved(self, path: str) -> str:
        return next(self.folder.rglob(path)).read_text()

    async def run(self, name: str, parameters: Any = None, **options: Any) -> CallToolResult:
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
            return await self.client.call_tool("runFlow", {"name": name, "parameters": parameters, **options})

    async def run_right(self, name: str, parameters: Any = None) -> dict[str, Any]:
        result = await self.run(name, parameters)
        assert not result.is_error, read_first_text(result)
        return result.structured_content or {}

    async def stop(self, name: str, parameters: Any = None, **options: Any) -> dict[str, Any]:
        result = await self.run(name, parameters, **options)
        assert result.is_error, read_first_text(result)
        return read_error(result)


@pytest.fixture(scope="module")
async def lab(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[FlowLab]:
    folder, site = tmp_path_factory.mktemp("language"), OrdersSite()
    more = {"toolsets": ["browser", "flows"]}
    with chdir(folder):
        async with (
            loopback_app.open_loopback_app(folder, site, more=more) as service,
            Client(service.app.build_server()) as client,
        ):
            yield FlowLab(client, site, service.site_url, folder)


async def test_a_table_over_several_pages_becomes_typed_rows_and_a_file(lab: FlowLab):
    lab.write(
        "orders",
        """  - open: SITE/orders
  - pages: Next
    steps:
      - extract:
          table: Orders
          columns:
            number: {label: No., type: integer}
            customer: Customer
            page: {label: Customer, type: address}
            total: {label: Total, type: number}
          into: orders
          file: out/orders.csv
""",
    )
    ran = await lab.run_right("orders")
    rows = ran["data"]["orders"]
    saved = list(csv.DictReader(lab.read_saved("out/orders.csv").splitlines()))
    first = {"number": 1, "customer": "Ada", "page": f"{lab.url}/order/1", "total": 1_000.5}
    assert rows[0] == first
    assert [row["customer"] for row in rows] == ["Ada", "Bob", "Cid", "Dan", "Eve"]
    assert saved[4] == {"number": "5", "customer": "Eve", "page": f"{lab.url}/order/5", "total": "5000.5"}
    assert ran["files"] == ["out/orders.csv"]


async def test_scripted_pages_are_each_read_once_until_the_button_is_disabled(lab: FlowLab):
    steps = """  - open: SITE/stock
  - pages: {role: button, name: Next}
    steps:
      - extract: {table: "*", columns: {tea: Tea, left: {label: Left, type: integer}}, file: stock.json}
"""
    lab.write("stock", steps)
    lab.write("two", steps.replace("    steps", "    max_pages: 2\n    steps"))
    ran = await lab.run_right("stock")
    saved = json.loads(lab.read_saved("stock.json"))
    bounded = await lab.run("two")
    rows = [{"tea": "Green", "left": 3}, {"tea": "Black", "left": 5}, {"tea": "White", "left": 1}]
    assert ran["data"]["rows"] == rows
    assert saved == rows
    assert bounded.structured_content["data"]["rows"] == rows[:2]
    assert "there are more pages than max_pages" in read_first_text(bounded)


async def test_lists_and_labelled_values_are_extracted_by_structure(lab: FlowLab):
    lab.write(
        "news",
        """  - open: SITE/news
  - extract:
      list: News
      columns:
        title: {part: heading}
        address: {part: link, type: address}
        price: {label: Price, type: number}
        stars: {label: Stars, optional: true}
      into: news
  - open: SITE/account
  - extract:
      page: true
      columns: {customer: Customer, city: City, mail: Mail, points: {label: Points, type: integer}, since: Since}
      into: account
""",
    )
    data = (await lab.run_right("news"))["data"]
    assert data["news"] == [
        {"title": "Oolong is here", "address": f"{lab.url}/news/7", "price": 12.5, "stars": None},
        {"title": "Sencha is back", "address": f"{lab.url}/news/8", "price": 8.0, "stars": None},
    ]
    account = {"customer": "Ada", "city": "London", "mail": "ada@tea.example", "points": 1234, "since": "2024"}
    assert data["account"] == [account]


ORDER = """  - open: SITE/order
  - fill: Name
    text: ${name}
  - click: {role: button, name: Send}
    expect: {text: "Thanks, ${name}"}
"""


async def test_another_flow_is_run_for_each_row_of_a_parameter(lab: FlowLab):
    lab.write("one-order", ORDER, "parameters: {name: {}}\n")
    steps = """  - each: people
    steps:
      - flow: one-order
        parameters: {name: "${row.name}"}
  - when: {text: no such text}
    steps:
      - click: Nothing
  - when: {url: /thanks*}
    steps:
      - extract: {items: h1, columns: {title: {part: text}, who: {value: all}}}
"""
    lab.write("all-orders", steps, "parameters: {people: {columns: [name]}}\n")
    lab.site.ordered.clear()
    given = {"list": ["Ada", {"name": "Bob"}], "json": '[{"name": "Cid"}]', "csv": "name,age\nDan,7\n"}
    for people in given.values():
        ran = await lab.run_right("all-orders", {"people": people})
        assert ran["data"]["rows"] == [{"title": "Thanks", "who": "all"}]
        assert ran["skipped"] == [2]
    assert lab.site.ordered == {"Ada": 1, "Bob": 1, "Cid": 1, "Dan": 1}


@pytest.mark.nightly
async def test_a_run_that_stopped_in_a_loop_continues_there(lab: FlowLab):
    steps = """  - each: people
    steps:
      - open: SITE/order
      - fill: ${row.field}
        text: ${row.name}
      - click: {role: button, name: Send}
"""
    lab.write("loop", steps, "parameters: {people: {columns: [name, field]}}\n")
    lab.site.ordered.clear()
    people = [{"name": "Ada", "field": "Name"}, {"name": "Bob", "field": "Nick"}, {"name": "Cid", "field": "Name"}]
    error = await lab.stop("loop", {"people": people}, waitSeconds=1)
    details = error["details"]
    people[1]["field"] = "Name"
    onward = await lab.run("loop", {"people": people}, sessionId=details["sessionId"], fromStep=details["fromStep"])
    assert (error["code"], details["step"], details["line"]) == ("not_found", "1.2.2", 9)
    assert "line 9 of loop.yaml" in error["message"]
    assert not onward.is_error, read_first_text(onward)
    assert lab.site.ordered == {"Ada": 1, "Bob": 1, "Cid": 1}


async def test_data_that_differs_from_the_flow_stops_it_with_the_reason(lab: FlowLab):
    columns = {
        "{tea: Tee}": "has no column 'Tee'",
        "{left: {label: Tea, type: number}}": "'Green' is not a number",
        "{tea: Tea, none: {selector: i}}": "no value found",
    }
    for column, expected in columns.items():
        lab.write("strict", f"  - open: SITE/stock\n  - extract: {{table: '*', columns: {column}}}\n")
        error = await lab.stop("strict", waitSeconds=0)
        assert error["code"] == "data_mismatch"
        assert expected in error["message"], column
    lab.write("strict", "  - open: SITE/stock\n  - extract: {table: '*', min_rows: 2, columns: {tea: Tea}}\n")
    assert "there are 1 rows; min_rows is 2" in (await lab.stop("strict", waitSeconds=0))["message"]


async def test_mistakes_in_blocks_are_named_with_step_and_line(lab: FlowLab):
    block = "  - each: people\n    steps:\n"
    declared = "parameters: {people: {columns: [name]}}\n"
    cases = {
        f"{block}      - clik: Save\n": "line 8: step 1.1, clik",
        f"{block}      - fill: Name\n        text: ${{row.size}}\n": "step 1.1: ${row.size} has no value",
        f"{block}      - each: people\n        steps:\n          - back: true\n": "cannot be inside another",
        "  - each: persons\n    steps:\n      - back: true\n": "persons is neither a parameter",
        "  - pages: Next\n": "pages needs steps",
        "  - when: {text: x}\n    ask: true\n    steps:\n      - back: true\n": "ask belongs to a step inside",
        "  - flow: wrong\n": "wrong > wrong",
        "  - flow: nowhere\n": "no flow 'nowhere'",
        "  - extract: {table: x, list: y, columns: {a: b}}\n": "exactly one of table, list",
    }
    for steps, expected in cases.items():
        lab.write("wrong", steps, declared)
        error = await lab.stop("wrong", {"people": "name\n"})
        assert expected in error["message"], (steps, error["message"])
    lab.write("abroad", "  - back: true\n")
    file = lab.folder / ".outrider" / "flows" / "abroad.yaml"
    file.write_text(file.read_text().replace(lab.url, "http://other.example"))
    lab.write("wrong", "  - flow: abroad\n")
    assert "acts on http://other.example" in (await lab.stop("wrong"))["message"]
