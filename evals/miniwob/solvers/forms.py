"""Tasks that are solved by filling in fields."""

import asyncio
import re

from evals.miniwob.player import Player, View, quotes, solves


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer", "click-option")
async def tick_names(player: Player, goal: str) -> None:
    names = re.search(r"Select (.*) and click", goal).group(1)
    view = await player.look()
    for name in [] if names == "nothing" else names.split(", "):
        await player.tick(view.one(name))
    await player.submit()


@solves("choose-list", "click-scroll-list")
async def from_a_list(player: Player, goal: str) -> None:
    names = re.search(r"Select (.*) from", goal).group(1)
    await player.choose((await player.look()).things[0], *names.split(", "))
    await player.submit()


@solves("copy-paste", "copy-paste-2")
async def copy(player: Player, goal: str) -> None:
    view = await player.look()
    sources = view.all(re.compile("^#(to-copy|text-)"))
    source = sources[int(found.group(1)) - 1 if (found := re.search(r"(\d)(?:st|nd|rd) text", goal)) else 0]
    value = next(each["value"] for each in await player.elements("#area") if each["ref"] == source.ref)
    await player.type(view.one("#answer-input"), value)
    await player.submit()


@solves("enter-text", "enter-text-dynamic")
async def quoted_text(player: Player, goal: str) -> None:
    await player.type((await player.look()).one(role="textbox"), quotes(goal)[0])
    await player.submit()


@solves("enter-text-2")
async def in_letters_of_a_kind(player: Player, goal: str) -> None:
    text = quotes(goal)[0]
    await player.type((await player.look()).one(role="textbox"), text.upper() if "upper case" in goal else text.lower())
    await player.submit()


@solves("text-transform")
async def transformed(player: Player, _: str) -> None:
    view = await player.look()
    box = view.one(role="textbox")
    await player.type(box, view.lines[box.line - 1].replace(" ", ""))
    await player.submit()


@solves("enter-password")
async def password_twice(player: Player, goal: str) -> None:
    for box in (await player.look()).all(role="password"):
        await player.type(box, quotes(goal)[0])
    await player.submit()


@solves("login-user", "login-user-popup")
async def sign_in(player: Player, goal: str) -> None:
    for role, text in zip(("textbox", "password"), quotes(goal), strict=True):
        await player.click((await player.look()).one(role=role))
        await _past_the_popup(player)
        await player.type((await player.look()).one(role=role), text)
    await _past_the_popup(player)
    view = await player.look()
    await player.click(view.one(re.compile("Login|OK"), "button"))


async def _past_the_popup(player: Player) -> None:
    view = await player.look()
    if "session is about to" in view.text.lower() or view.has("Cancel", "button"):
        await player.click(view.one("Cancel", "button"))


@solves("enter-date")
async def date(player: Player, goal: str) -> None:
    month, day, year = re.search(r"(\d\d)/(\d\d)/(\d{4})", goal).groups()
    box = (await player.look()).things[0]
    await player.type(box, f"{year}-{month}-{day}" if box.role == "date" else f"{month}/{day}/{year}")
    await player.submit()


@solves("enter-time")
async def time(player: Player, goal: str) -> None:
    hour, minute, half = re.search(r"(\d+):(\d\d) ([AP]M)", goal).groups()
    box = (await player.look()).things[0]
    await player.type(box, f"{int(hour) % 12 + (12 if half == 'PM' else 0):02}:{minute}")
    await player.submit()


@solves("find-word")
async def word(player: Player, goal: str) -> None:
    view = await player.look()
    box = view.one(role="textbox")
    words = re.findall(r"[\w']+", " ".join(view.lines[1 : box.line]))
    await player.type(box, words[int(re.search(r"(\d+)(?:st|nd|rd|th)", goal).group(1)) - 1])
    await player.submit()


@solves("focus-text", "focus-text-2")
async def focus(player: Player, goal: str) -> None:
    found = re.search(r"(\d)(?:st|nd|rd)", goal)
    await player.click((await player.look()).all(role="textbox")[int(found.group(1)) - 1 if found else 0])


@solves("form-sequence")
async def slider_then_checkbox(player: Player, goal: str) -> None:
    await _slide(player, 0, int(re.search(r"Select (-?\d+)", goal).group(1)))
    which = int(re.search(r"(\d)(?:st|nd|rd) checkbox", goal).group(1))
    await player.tick((await player.look()).all(role="checkbox")[which - 1])
    await player.submit()


@solves("form-sequence-2")
async def radio_then_number(player: Player, goal: str) -> None:
    radio = int(re.search(r"(\d)(?:st|nd|rd) radio", goal).group(1))
    box = int(re.search(r"(\d)(?:st|nd|rd) textbox", goal).group(1))
    view = await player.look()
    await player.tick(view.all(role="radio")[radio - 1])
    await player.type(view.all(role="textbox")[box - 1], quotes(goal)[0])
    await player.submit()


@solves("form-sequence-3")
async def dropdown_then_button(player: Player, goal: str) -> None:
    await player.click((await player.look()).one("▾"))
    await player.click(await player.look_for(re.search(r"Choose (.*) from", goal).group(1)))
    await player.click(await player.look_for(quotes(goal)[0]))


@solves("use-slider")
async def slider(player: Player, goal: str) -> None:
    await _slide(player, 0, int(re.search(r"Select (-?\d+)", goal).group(1)))
    await player.submit()


@solves("use-slider-2")
async def sliders(player: Player, goal: str) -> None:
    for number, value in enumerate(re.findall(r"\d+", goal.partition("[")[2])):
        await _slide(player, number, int(value))
    await player.submit()


async def _slide(player: Player, number: int, wanted: int) -> None:
    """Moves the handle with the arrow keys; its value stands in a line of its own below it."""
    await player.click((await player.look()).all(HANDLE)[number])
    while (now := _value(await player.look(), number)) != wanted:
        keys = ["ArrowRight" if now < wanted else "ArrowLeft"] * abs(wanted - now)
        await player.key(*keys)


HANDLE = re.compile(r"^\.ui-state-")


def _value(view: View, number: int) -> int:
    handle = view.all(HANDLE)[number]
    return int(next(line for line in view.lines[handle.line + 1 :] if re.fullmatch(r"\s*-?\d+", line)))


@solves("use-spinner")
async def spinner(player: Player, goal: str) -> None:
    wanted = int(re.search(r"Select (-?\d+)", goal).group(1))
    more, less, _ = (await player.look()).all(role="button")
    for _ in range(abs(wanted)):
        await player.click(more if wanted > 0 else less)
    await player.submit()


@solves("multi-layouts", "multi-orderings")
async def search_for_movies(player: Player, goal: str) -> None:
    genre, director, year = re.search(r"for (\w+) movies directed by (\w+) from year (\d+)", goal).groups()
    view = await player.look()
    for label, text in (("genre", genre), ("director", director), ("year|date", year)):
        line = next(at for at, each in enumerate(view.lines) if at and re.search(label, each.lower()))
        await player.type(view.below(line, role="textbox"), text)
    await player.submit()


@solves("read-table", "read-table-2")
async def values_of_a_table(player: Player, goal: str) -> None:
    view = await player.look()
    told = {key.strip(): value.strip() for key, bar, value in (line.partition(" | ") for line in view.lines) if bar}
    for box in view.all(role="textbox"):
        asked = view.lines[box.line].partition(":")[0].strip()
        key = asked if asked in told else view.lines[box.line - 1].strip(" <").partition(":")[0]
        await player.type(box, told[key if key in told else re.search(r"value of (.*) into", goal).group(1)])
    await player.submit()


@solves("scroll-text")
async def last_word(player: Player, _: str) -> None:
    view = await player.look()
    source, answer = view.all(role="textbox")
    text = re.search(r' = "(.*)"', (await player.look(root=source.ref)).text).group(1)
    await player.type(answer, re.findall(r"\w+", text)[-1])
    await player.submit()


@solves("scroll-text-2")
async def scroll_to_the_end(player: Player, goal: str) -> None:
    await player.scroll((await player.look()).one(role="textbox"), "up" if "top" in goal else "down")
    await player.submit()


@solves("sign-agreement")
async def sign(player: Player, goal: str) -> None:
    named = quotes(goal)
    if not named:
        await player.press_button("Cancel")
        return
    await player.scroll("#text-area")
    view = await player.look()
    if len(named) > 1:
        await player.type(view.one("Name", "textbox"), named[0])
    await player.press_button(named[-1])


@solves("simple-arithmetic")
async def arithmetic(player: Player, _: str) -> None:
    view = await player.look()
    first, sign, second = re.search(r"(-?\d+) ([-+x/*÷]) (-?\d+) =", view.text).groups()
    a, b = int(first), int(second)
    answer = {"+": a + b, "-": a - b, "x": a * b, "*": a * b}[sign]
    await player.type(view.one(role="textbox"), str(answer))
    await player.submit()


@solves("simple-algebra")
async def algebra(player: Player, _: str) -> None:
    view = await player.look()
    left, sign, right, result = re.search(r"(x|-?\d+) ([-+]) (x|-?\d+) = (-?\d+)", view.text).groups()
    total = int(result)
    if left == "x":
        answer = total - int(right) if sign == "+" else total + int(right)
    else:
        answer = total - int(left) if sign == "+" else int(left) - total
    await player.type(view.one(role="textbox"), str(answer))
    await player.submit()


@solves("terminal")
async def terminal(player: Player, goal: str) -> None:
    await player.click((await player.look()).one(re.compile("^terminal")))
    await _command(player, "ls")
    listing = (await player.look()).text
    ending = re.search(r"extension (\.\w+)", goal)
    files = re.findall(r"[\w.]+", re.search(r"ls (.*) user\$", listing, re.DOTALL).group(1))
    name = next(each for each in files if (each.endswith(ending.group(1)) if ending else "." not in each))
    await _command(player, f"rm {name}")


async def _command(player: Player, text: str) -> None:
    await player.key(*text, "Enter")


@solves("use-autocomplete", "use-autocomplete-nodelay")
async def autocomplete(player: Player, goal: str) -> None:
    named = quotes(goal)
    box = (await player.look()).one(role="textbox")
    await player.type(box, named[0], delayMs=20)
    ending = named[-1] if len(named) > 1 else ""
    await player.click(await player.look_for(re.compile(f"^{re.escape(named[0])}.*{re.escape(ending)}$"), "listitem"))
    await player.submit()


@solves("use-colorwheel")
async def color(player: Player, goal: str) -> None:
    name = re.search(r"Select (\w+)", goal).group(1)
    await player.type((await player.look()).one(role="textbox"), COLOURS[name])
    await player.key("Tab")
    await player.submit()


COLOURS = {
    "black": "000000", "white": "FFFFFF", "aqua": "00FFFF", "blue": "0000FF", "gray": "808080", "green": "008000",
    "lime": "00FF00", "maroon": "800000", "navy": "000080", "olive": "808000", "purple": "800080", "red": "FF0000",
    "silver": "C0C0C0", "teal": "008080", "yellow": "FFFF00", "pink": "FFC0CB", "magenta": "FF00FF", "gold": "FFD700",
    "orange": "FFA500",
}  # fmt: skip


@solves("highlight-text", "highlight-text-2")
async def highlight(player: Player, goal: str) -> None:
    found = re.search(r"(\d)(?:st|nd|rd)", goal)
    number = int(found.group(1)) if found else 1
    place = f"p:nth-of-type({number})" if found else "div"
    await player.click(f"#area {place}", clicks=3)
    await player.submit()


@solves("text-editor")
async def style(player: Player, goal: str) -> None:
    view = await player.look()
    editor = view.one(role="editor")
    words = re.search(r"give the text (.*) the (?:style|color)", goal)
    await player.click(editor)
    if words:
        text = re.search(r' = "(.*)"', view.lines[editor.line]).group(1)
        start = text.index(words.group(1))
        await player.key("Control+Home", *["ArrowRight"] * start, *["Shift+ArrowRight"] * len(words.group(1)))
    else:
        await player.key("Control+a")
    await player.look()  # the editor learns of a selection a moment after it is made
    if "color" in goal:
        await player.click(view.one(".ql-picker-label"))
        await asyncio.sleep(0.2)
        await _pick(player, re.search(r"color (\w+)", goal).group(1))
    else:
        name = {"bold": ".ql-bold", "italics": ".ql-italic", "underlined": ".ql-underline"}
        await player.click(view.one(name[re.search(r"style (\w+)", goal).group(1)]))
    await player.submit()


async def _pick(player: Player, name: str) -> None:
    """The brightest of each colour in the palette."""
    shades = {
        "red": "#e60000",
        "orange": "#ff9900",
        "yellow": "#ffff00",
        "green": "#008a00",
        "blue": "#0066cc",
        "purple": "#9933ff",
    }
    await player.click(f'.ql-picker-options [data-value="{shades[name]}"]')


@solves("visual-addition")
async def blocks(player: Player, _: str) -> None:
    counts = [len(re.findall(r"addition-block", await player.html(each))) for each in ("#visual-1", "#visual-2")]
    await player.type((await player.look()).one(role="textbox"), str(sum(counts)))
    await player.submit()
