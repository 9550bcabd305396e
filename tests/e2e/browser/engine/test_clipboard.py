"""The browser has one clipboard; what one session copies no other one may paste."""

from outrider.browser.actions.page_tools import get_page_tools
from outrider.browser.session.session import Session


async def typed(session: Session, text: str) -> None:
    async with session.acquire_page() as page:
        await get_page_tools(page).forms.type("input[name=name]", text)


async def pressed(session: Session, *chords: str) -> str:
    """What the field holds after it was clicked and these keys were pressed."""
    async with session.acquire_page() as page:
        hands = get_page_tools(page).pointer
        await hands.click("input[name=name]")
        for chord in chords:
            await hands.press_keys(chord)
        return await page.evaluate_in("", "() => document.querySelector('input[name=name]').value")


async def test_nobody_pastes_what_another_session_has_copied(opened) -> None:
    one, other = await opened("/form"), await opened("/form")
    await typed(one, "between us")
    await pressed(one, "Control+a", "Control+c")
    pasted = {
        chord: await pressed(other, chord) for chord in ("Control+v", "Shift+Insert", "Control+Shift+v", "Meta+v")
    }
    assert set(pasted.values()) == {""}, pasted


async def test_nobody_pastes_by_the_middle_button_what_another_session_has_marked(opened) -> None:
    one, other = await opened("/form"), await opened("/form")
    await typed(one, "between us")
    await pressed(one, "Control+a")
    async with other.acquire_page() as page:
        await get_page_tools(page).pointer.click("input[name=name]", button="middle")
    assert await pressed(other) == ""


async def test_nobody_pastes_what_the_script_of_another_session_has_copied(opened) -> None:
    one, other = await opened("/form"), await opened("/form")
    async with one.acquire_page() as page:
        await page.evaluate_in("", "() => navigator.clipboard.writeText('between us')")
    assert await pressed(other, "Control+v") == ""


async def test_each_session_pastes_what_it_has_copied_itself(opened) -> None:
    one, other = await opened("/form"), await opened("/form")
    await typed(one, "mine")
    await typed(other, "yours")
    await pressed(one, "Control+a", "Control+c")
    await pressed(other, "Control+a", "Control+x")
    assert await pressed(one, "End", "Control+v") == "minemine"
    assert await pressed(other, "Control+v", "Control+v") == "yoursyours"


async def test_copying_nothing_copies_from_nobody(opened) -> None:
    one, other = await opened("/form"), await opened("/form")
    await typed(one, "between us")
    await pressed(one, "Control+a", "Control+c")
    assert await pressed(other, "Control+c", "Control+v") == ""
