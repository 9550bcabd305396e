"""The browser has one clipboard, but no session may paste what another one has copied."""

import pytest

from outrider.browser.actions.page_tools import get_page_tools
from outrider.browser.session.session import Session


async def type_text(session: Session, text: str) -> None:
    async with session.acquire_page() as page:
        await get_page_tools(page).forms.type("input[name=name]", text)


async def press_in_field(session: Session, *chords: str) -> str:
    """Clicks the field, presses these keys, and returns its value."""
    async with session.acquire_page() as page:
        hands = get_page_tools(page).pointer
        await hands.click("input[name=name]")
        for chord in chords:
            await hands.press_keys(chord)
        return await page.evaluate_in("", "() => document.querySelector('input[name=name]').value")


async def test_a_session_cannot_paste_what_another_has_copied(open_session) -> None:
    one, other = await open_session("/form"), await open_session("/form")
    await type_text(one, "between us")
    await press_in_field(one, "Control+a", "Control+c")
    pasted = {
        chord: await press_in_field(other, chord)
        for chord in ("Control+v", "Shift+Insert", "Control+Shift+v", "Meta+v")
    }
    assert set(pasted.values()) == {""}, pasted


async def test_a_session_cannot_middle_click_paste_the_selection_of_another(open_session) -> None:
    one, other = await open_session("/form"), await open_session("/form")
    await type_text(one, "between us")
    await press_in_field(one, "Control+a")
    async with other.acquire_page() as page:
        await get_page_tools(page).pointer.click("input[name=name]", button="middle")
    assert await press_in_field(other) == ""


async def test_a_session_cannot_paste_what_a_script_of_another_has_copied(open_session) -> None:
    one, other = await open_session("/form"), await open_session("/form")
    async with one.acquire_page() as page:
        await page.evaluate_in("", "() => navigator.clipboard.writeText('between us')")
    assert await press_in_field(other, "Control+v") == ""


@pytest.mark.nightly
async def test_each_session_pastes_what_it_has_copied_itself(open_session) -> None:
    one, other = await open_session("/form"), await open_session("/form")
    await type_text(one, "mine")
    await type_text(other, "yours")
    await press_in_field(one, "Control+a", "Control+c")
    await press_in_field(other, "Control+a", "Control+x")
    assert await press_in_field(one, "End", "Control+v") == "minemine"
    assert await press_in_field(other, "Control+v", "Control+v") == "yoursyours"


async def test_copying_without_a_selection_copies_nothing(open_session) -> None:
    one, other = await open_session("/form"), await open_session("/form")
    await type_text(one, "between us")
    await press_in_field(one, "Control+a", "Control+c")
    assert await press_in_field(other, "Control+c", "Control+v") == ""
