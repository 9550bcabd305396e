"""A workflow's problems are found before it is followed."""

from typing import Any

from outrider.playbooks import Workflow, list_problems
from outrider.playbooks.validation import assign_step_ids, list_inputs


def build_workflow(*steps: dict[str, Any], **more: Any) -> Workflow:
    plain = {"description": "do it", "action": {"toolName": "web_search", "purpose": "find"}}
    return Workflow.model_validate({"goal": "check prices", "workflow": [plain | step for step in steps]} | more)


def test_a_sound_workflow_has_no_problems():
    assert (
        list_problems(build_workflow({"outputVariable": "offers"}, {"requiredData": ["offers"]}), ["web_search"]) == []
    )


def test_names_given_twice_are_problems():
    found = list_problems(
        build_workflow({"stepId": "a", "outputVariable": "x"}, {"stepId": "a", "outputVariable": "x"})
    )
    assert found == ["workflow.stepId: 'a' is used 2 times", "workflow.outputVariable: 'x' is used 2 times"]


def test_an_unknown_tool_is_a_problem_where_the_tools_are_known():
    assert list_problems(build_workflow({}), ["web_fetch"]) == [
        "workflow.1.action.toolName: unknown tool 'web_search' here; did you mean web_fetch?"
    ]
    assert list_problems(build_workflow({}), ["web_search"]) == []


def test_undeclared_data_is_a_problem_once_inputs_are_declared():
    steps = ({"requiredData": ["product", "shop"], "outputVariable": "offers"}, {"requiredData": ["offers", "later"]})
    found = list_problems(build_workflow(*steps, inputs=["product"]))
    assert [each.split(":")[0] for each in found] == ["workflow.1.requiredData", "workflow.2.requiredData"]
    assert list_problems(build_workflow(*steps)) == []


def test_data_that_no_step_produces_is_an_input():
    steps = ({"requiredData": ["product"], "outputVariable": "offers"}, {"requiredData": ["offers", "budget"]})
    assert list_inputs(build_workflow(*steps)) == ["product", "budget"]


def test_steps_without_an_id_get_one_that_is_free():
    found = assign_step_ids(build_workflow({"stepId": "step-2"}, {}, {}))
    assert [step.stepId for step in found.workflow] == ["step-2", "step-2x", "step-3"]
