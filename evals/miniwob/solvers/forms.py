"""Solve tasks by filling in fields."""

import asyncio
import re

from evals.miniwob.player import Player, View, find_quotes, solves


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer", "click-option")
async def tick_names(player: Player, goal: str) -> None:
    names = re.search(r"Select (.*) and click", goal).group(1)
    view = await player.take_snapshot()
    for name in [] if names == "nothing" else names.split(", "):
        await player.set_checked(view.find_one(name))
    await player.press_submit()


@solves("choose-list", "click-scroll-list")
async def choose_from_list(player: Player, goal: str) -> None:
    names = re.search(r"Select (.*) from", goal).group(1)
    await player.choose_options((await player.take_snapshot()).things[0], *names.split(", "))
    await player.press_submit()


@solves("copy-paste", "copy-paste-2")
async def copy_text(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    sources = view.find_all(re.compile("^#(to-copy|text-)"))
    source = sources[int(found.group(1)) - 1 if (found := re.search(r"(\d)(?:st|nd|rd) text", goal)) else 0]
    value = next(each["value"] for each in await player.list_elements("#area") if each["ref"] == source.ref)
    await player.type_text(view.find_one("#answer-input"), value)
    await player.press_submit()


@solves("enter-text", "enter-text-dynamic")
async def type_quoted_text(player: Player, goal: str) -> None:
    await player.type_text((await player.take_snapshot()).find_one(role="textbox"), find_quotes(goal)[0])
    await player.press_submit()


@solves("enter-text-2")
async def type_in_letter_case(player: Player, goal: str) -> None:
    text = find_quotes(goal)[0]
    await player.type_text(
        (await player.take_snapshot()).find_one(role="textbox"), text.upper() if "upper case" in goal else text.lower()
    )
    await player.press_submit()


@solves("text-transform")
async def type_transformed_text(player: Player, _: str) -> None:
    view = await player.take_snapshot()
    box = view.find_one(role="textbox")
    await player.type_text(box, view.lines[box.line - 1].replace(" ", ""))
    await player.press_submit()


@solves("enter-password")
async def type_password_twice(player: Player, goal: str) -> None:
    for box in (await player.take_snapshot()).find_all(role="password"):
        await player.type_text(box, find_quotes(goal)[0])
    await player.press_submit()


@solves("login-user", "login-user-popup")
async def sign_in(player: Player, goal: str) -> None:
    for role, text in zip(("textbox", "password"), find_quotes(goal), strict=True):
        await player.click_control((await player.take_snapshot()).find_one(role=role))
        await _close_popup(player)
        await player.type_text((await player.take_snapshot()).find_one(role=role), text)
    await _close_popup(player)
    view = await player.take_snapshot()
    await player.click_control(view.find_one(re.compile("Login|OK"), "button"))


async def _close_popup(player: Player) -> None:
    view = await player.take_snapshot()
    if "session is about to" in view.text.lower() or view.has_control("Cancel", "button"):
        await player.click_control(view.find_one("Cancel", "button"))


@solves("enter-date")
async def type_date(player: Player, goal: str) -> None:
    month, day, year = re.search(r"(\d\d)/(\d\d)/(\d{4})", goal).groups()
    box = (await player.take_snapshot()).things[0]
    await player.type_text(box, f"{year}-{month}-{day}" if box.role == "date" else f"{month}/{day}/{year}")
    await player.press_submit()


@solves("enter-time")
async def type_time(player: Player, goal: str) -> None:
    hour, minute, half = re.search(r"(\d+):(\d\d) ([AP]M)", goal).groups()
    box = (await player.take_snapshot()).things[0]
    await player.type_text(box, f"{int(hour) % 12 + (12 if half == 'PM' else 0):02}:{minute}")
    await player.press_submit()


@solves("find-word")
async def find_word(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    box = view.find_one(role="textbox")
    words = re.findall(r"[\w']+", " ".join(view.lines[1 : box.line]))
    await player.type_text(box, words[int(re.search(r"(\d+)(?:st|nd|rd|th)", goal).group(1)) - 1])
    await player.press_submit()


@solves("focus-text", "focus-text-2")
async def focus_field(player: Player, goal: str) -> None:
    found = re.search(r"(\d)(?:st|nd|rd)", goal)
    await player.click_control(
        (await player.take_snapshot()).find_all(role="textbox")[int(found.group(1)) - 1 if found else 0]
    )


@solves("form-sequence")
async def set_slider_and_checkbox(player: Player, goal: str) -> None:
    await _move_slider(player, 0, int(re.search(r"Select (-?\d+)", goal).group(1)))
    which = int(re.search(r"(\d)(?:st|nd|rd) checkbox", goal).group(1))
    await player.set_checked((await player.take_snapshot()).find_all(role="checkbox")[which - 1])
    await player.press_submit()


@solves("form-sequence-2")
async def choose_radio_and_number(player: Player, goal: str) -> None:
    radio = int(re.search(r"(\d)(?:st|nd|rd) radio", goal).group(1))
    box = int(re.search(r"(\d)(?:st|nd|rd) textbox", goal).group(1))
    view = await player.take_snapshot()
    await player.set_checked(view.find_all(role="radio")[radio - 1])
    await player.type_text(view.find_all(role="textbox")[box - 1], find_quotes(goal)[0])
    await player.press_submit()


@solves("form-sequence-3")
async def choose_and_press(player: Player, goal: str) -> None:
    await player.click_control((await player.take_snapshot()).find_one("▾"))
    await player.click_control(await player.wait_for_control(re.search(r"Choose (.*) from", goal).group(1)))
    await player.click_control(await player.wait_for_control(find_quotes(goal)[0]))


@solves("use-slider")
async def set_slider(player: Player, goal: str) -> None:
    await _move_slider(player, 0, int(re.search(r"Select (-?\d+)", goal).group(1)))
    await player.press_submit()


@solves("use-slider-2")
async def set_all_sliders(player: Player, goal: str) -> None:
    for number, value in enumerate(re.findall(r"\d+", goal.partition("[")[2])):
        await _move_slider(player, number, int(value))
    await player.press_submit()


async def _move_slider(player: Player, number: int, wanted: int) -> None:
    """Move the handle with the arrow keys; the line below it shows its value."""
    await player.click_control((await player.take_snapshot()).find_all(HANDLE_PATTERN)[number])
    while (now := _read_slider_value(await player.take_snapshot(), number)) != wanted:
        keys = ["ArrowRight" if now < wanted else "ArrowLeft"] * abs(wanted - now)
        await player.press_keys(*keys)


HANDLE_PATTERN = re.compile(r"^\.ui-state-")


def _read_slider_value(view: View, number: int) -> int:
    handle = view.find_all(HANDLE_PATTERN)[number]
    return int(next(line for line in view.lines[handle.line + 1 :] if re.fullmatch(r"\s*-?\d+", line)))


@solves("use-spinner")
async def set_spinner(player: Player, goal: str) -> None:
    wanted = int(re.search(r"Select (-?\d+)", goal).group(1))
    more, less, _ = (await player.take_snapshot()).find_all(role="button")
    for _ in range(abs(wanted)):
        await player.click_control(more if wanted > 0 else less)
    await player.press_submit()


@solves("multi-layouts", "multi-orderings")
async def search_for_movies(player: Player, goal: str) -> None:
    genre, director, year = re.search(r"for (\w+) movies directed by (\w+) from year (\d+)", goal).groups()
    view = await player.take_snapshot()
    for label, text in (("genre", genre), ("director", director), ("year|date", year)):
        line = next(at for at, each in enumerate(view.lines) if at and re.search(label, each.lower()))
        await player.type_text(view.find_below(line, role="textbox"), text)
    await player.press_submit()


@solves("read-table", "read-table-2")
async def type_table_values(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    told = {key.strip(): value.strip() for key, bar, value in (line.partition(" | ") for line in view.lines) if bar}
    for box in view.find_all(role="textbox"):
        asked = view.lines[box.line].partition(":")[0].strip()
        key = asked if asked in told else view.lines[box.line - 1].strip(" <").partition(":")[0]
        await player.type_text(box, told[key if key in told else re.search(r"value of (.*) into", goal).group(1)])
    await player.press_submit()


@solves("scroll-text")
async def type_last_word(player: Player, _: str) -> None:
    view = await player.take_snapshot()
    source, answer = view.find_all(role="textbox")
    text = re.search(r' = "(.*)"', (await player.take_snapshot(root=source.ref)).text).group(1)
    await player.type_text(answer, re.findall(r"\w+", text)[-1])
    await player.press_submit()


@solves("scroll-text-2")
async def scroll_to_the_end(player: Player, goal: str) -> None:
    await player.scroll_control(
        (await player.take_snapshot()).find_one(role="textbox"), "up" if "top" in goal else "down"
    )
    await player.press_submit()


@solves("sign-agreement")
async def sign_agreement(player: Player, goal: str) -> None:
    named = find_quotes(goal)
    if not named:
        await player.press_button("Cancel")
        return
    await player.scroll_control("#text-area")
    view = await player.take_snapshot()
    if len(named) > 1:
        await player.type_text(view.find_one("Name", "textbox"), named[0])
    await player.press_button(named[-1])


@solves("simple-arithmetic")
async def solve_arithmetic(player: Player, _: str) -> None:
    view = await player.take_snapshot()
    first, sign, second = re.search(r"(-?\d+) ([-+x/*÷]) (-?\d+) =", view.text).groups()
    a, b = int(first), int(second)
    answer = {"+": a + b, "-": a - b, "x": a * b, "*": a * b}[sign]
    await player.type_text(view.find_one(role="textbox"), str(answer))
    await player.press_submit()


@solves("simple-algebra")
async def solve_algebra(player: Player, _: str) -> None:
    view = await player.take_snapshot()
    left, sign, right, result = re.search(r"(x|-?\d+) ([-+]) (x|-?\d+) = (-?\d+)", view.text).groups()
    total = int(result)
    if left == "x":
        answer = total - int(right) if sign == "+" else total + int(right)
    else:
        answer = total - int(left) if sign == "+" else int(left) - total
    await player.type_text(view.find_one(role="textbox"), str(answer))
    await player.press_submit()


@solves("terminal")
async def use_terminal(player: Player, goal: str) -> None:
    await player.click_control((await player.take_snapshot()).find_one(re.compile("^terminal")))
    await _run_command(player, "ls")
    listing = (await player.take_snapshot()).text
    ending = re.search(r"extension (\.\w+)", goal)
    files = re.findall(r"[\w.]+", re.search(r"ls (.*) user\$", listing, re.DOTALL).group(1))
    name = next(each for each in files if (each.endswith(ending.group(1)) if ending else "." not in each))
    await _run_command(player, f"rm {name}")


async def _run_command(player: Player, text: str) -> None:
    await player.press_keys(*text, "Enter")


@solves("use-autocomplete", "use-autocomplete-nodelay")
async def choose_suggestion(player: Player, goal: str) -> None:
    named = find_quotes(goal)
    box = (await player.take_snapshot()).find_one(role="textbox")
    await player.type_text(box, named[0], delayMs=20)
    ending = named[-1] if len(named) > 1 else ""
    await player.click_control(
        await player.wait_for_control(re.compile(f"^{re.escape(named[0])}.*{re.escape(ending)}$"), "listitem")
    )
    await player.press_submit()


@solves("use-colorwheel")
async def choose_color(player: Player, goal: str) -> None:
    name = re.search(r"Select (\w+)", goal).group(1)
    await player.type_text((await player.take_snapshot()).find_one(role="textbox"), COLOR_VALUES[name])
    await player.press_keys("Tab")
    await player.press_submit()


COLOR_VALUES = {
    "black": "000000", "white": "FFFFFF", "aqua": "00FFFF", "blue": "0000FF", "gray": "808080", "green": "008000",
    "lime": "00FF00", "maroon": "800000", "navy": "000080", "olive": "808000", "purple": "800080", "red": "FF0000",
    "silver": "C0C0C0", "teal": "008080", "yellow": "FFFF00", "pink": "FFC0CB", "magenta": "FF00FF", "gold": "FFD700",
    "orange": "FFA500",
}  # fmt: skip


@solves("highlight-text", "highlight-text-2")
async def highlight_text(player: Player, goal: str) -> None:
    found = re.search(r"(\d)(?:st|nd|rd)", goal)
    number = int(found.group(1)) if found else 1
    place = f"p:nth-of-type({number})" if found else "div"
    await player.click_control(f"#area {place}", clicks=3)
    await player.press_submit()


@solves("text-editor")
async def style_text(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    editor = view.find_one(role="editor")
    words = re.search(r"give the text (.*) the (?:style|color)", goal)
    await player.click_control(editor)
    if words:
        text = re.search(r' = "(.*)"', view.lines[editor.line]).group(1)
        start = text.index(words.group(1))
        await player.press_keys("Control+Home", *["ArrowRight"] * start, *["Shift+ArrowRight"] * len(words.group(1)))
    else:
        await player.press_keys("Control+a")
    await player.take_snapshot()  # the editor notices a selection only after a moment
    if "color" in goal:
        await player.click_control(view.find_one(".ql-picker-label"))
        await asyncio.sleep(0.2)
        await _pick_color(player, re.search(r"color (\w+)", goal).group(1))
    else:
        name = {"bold": ".ql-bold", "italics": ".ql-italic", "underlined": ".ql-underline"}
        await player.click_control(view.find_one(name[re.search(r"style (\w+)", goal).group(1)]))
    await player.press_submit()


async def _pick_color(player: Player, name: str) -> None:
    """Pick the brightest shade of a color in the palette."""
    shades = {
        "red": "#e60000",
        "orange": "#ff9900",
        "yellow": "#ffff00",
        "green": "#008a00",
        "blue": "#0066cc",
        "purple": "#9933ff",
    }
    await player.click_control(f'.ql-picker-options [data-value="{shades[name]}"]')


@solves("visual-addition")
async def count_blocks(player: Player, _: str) -> None:
    counts = [len(re.findall(r"addition-block", await player.read_html(each))) for each in ("#visual-1", "#visual-2")]
    await player.type_text((await player.take_snapshot()).find_one(role="textbox"), str(sum(counts)))
    await player.press_submit()
