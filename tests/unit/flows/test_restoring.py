"""An interrupted run repeats the steps that lead back to its page."""

from outrider.flows.flow import FlowStep
from outrider.flows.journal import StepRecord
from outrider.flows.restoring import PassedStep, plan_restore

SHOP_URL = "http://shop.example"


def build_passed_step(url: str = SHOP_URL, *, turns_page: bool = False, **step: object) -> PassedStep:
    return PassedStep(FlowStep.model_validate(step), StepRecord("1", "done", url=url), turns_page=turns_page)


def describe_plan(*passed: PassedStep) -> list[str]:
    return [str(each.step) for each in plan_restore(passed)]


def test_fields_are_filled_again_and_presses_are_not_repeated():
    opened, filled = build_passed_step(open=SHOP_URL), build_passed_step(fill="Name", text="Ada")
    pressed = build_passed_step(f"{SHOP_URL}/thanks", click="Send")
    signed_in = [opened, filled, build_passed_step(click="Sign in", repeat=True)]
    turned = build_passed_step(f"{SHOP_URL}?page=2", click="Next", turns_page=True)
    scripted = build_passed_step(click="Next", turns_page=True)
    field, send = 'fill element "Name"', 'click element "Sign in"'
    cases = {
        "nothing had an effect": ([opened, filled], [f"open {SHOP_URL}", field]),
        "the last press led elsewhere": ([opened, filled, pressed], [f"open {SHOP_URL}/thanks"]),
        "a field of the next page": ([opened, pressed, filled], [f"open {SHOP_URL}/thanks", field]),
        "a later address": ([opened, pressed, opened, filled], [f"open {SHOP_URL}", field]),
        "a sign-in is repeated": ([*signed_in, pressed], [f"open {SHOP_URL}", field, send, f"open {SHOP_URL}/thanks"]),
        "a page with an address": ([opened, turned], [f"open {SHOP_URL}?page=2"]),
        "a page that a script shows": (
            [opened, scripted, scripted],
            [f"open {SHOP_URL}", *['click element "Next"'] * 2],
        ),
    }
    for name, (passed, expected) in cases.items():
        assert describe_plan(*passed) == expected, name
