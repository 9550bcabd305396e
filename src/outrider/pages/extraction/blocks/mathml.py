"""Convert MathML Core elements to LaTeX."""

from typing import Any

SYMBOL_COMMANDS = {
    "\u2211": r"\sum", "\u220f": r"\prod", "\u222b": r"\int", "\u221e": r"\infty", "\u2264": r"\le",
    "\u2265": r"\ge", "\u2260": r"\ne", "\u2248": r"\approx", "\u00d7": r"\times", "\u22c5": r"\cdot",
    "\u00b7": r"\cdot", "\u00b1": r"\pm", "\u2212": "-", "\u2192": r"\to", "\u21d2": r"\Rightarrow",
    "\u2208": r"\in", "\u2209": r"\notin", "\u2282": r"\subset", "\u2286": r"\subseteq", "\u222a": r"\cup",
    "\u2229": r"\cap", "\u2200": r"\forall", "\u2203": r"\exists", "\u2202": r"\partial", "\u2207": r"\nabla",
    "\u2026": r"\dots", "\u22ef": r"\cdots", "\u2032": "'", "\u2061": "", "\u2062": "", "\u2063": "", "\u00a0": " ",
    "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "\u2016": r"\|", "\u2261": r"\equiv", "\u223c": r"\sim",
    "\u221d": r"\propto", "\u2227": r"\wedge", "\u2228": r"\vee", "\u00ac": r"\neg", "\u27e8": r"\langle",
    "\u27e9": r"\rangle", "\u2205": r"\emptyset", "\u211d": r"\mathbb{R}", "\u2115": r"\mathbb{N}",
    "\u2124": r"\mathbb{Z}", "\u211a": r"\mathbb{Q}", "\u2102": r"\mathbb{C}", "\u210f": r"\hbar",
    "\u2113": r"\ell",
}  # fmt: skip
GREEK_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau "  # noqa: SIM905
    "upsilon phi chi psi omega".split()
)
SYMBOL_COMMANDS |= {chr(0x3B1 + at): "\\" + name for at, name in enumerate(GREEK_LETTERS)}
SYMBOL_COMMANDS |= {chr(0x391 + at): "\\" + name.capitalize() for at, name in enumerate(GREEK_LETTERS) if name in (
    "gamma", "delta", "theta", "lambda", "xi", "pi", "sigma", "upsilon", "phi", "psi", "omega"
)}  # fmt: skip
FUNCTION_NAMES = frozenset(
    "sin cos tan cot sec csc log ln exp lim max min sup inf det arg gcd sinh cosh tanh deg dim ker".split()  # noqa: SIM905
)
ACCENT_COMMANDS = {
    "^": "hat", "\u02c6": "hat", "\u00af": "overline", "\u203e": "overline", "_": "underline", "~": "tilde",
    "\u02dc": "tilde", "\u2192": "vec", "\u20d7": "vec", "\u02d9": "dot", ".": "dot", "\u00a8": "ddot",
    "\u23de": "overbrace", "\u23df": "underbrace",
}  # fmt: skip
LIMIT_OPERATORS = (r"\sum", r"\prod", r"\int", r"\lim", r"\max", r"\min", r"\sup", r"\inf", r"\bigcup", r"\bigcap")


def mathml_to_latex(node: Any, depth: int = 0) -> str:
    """Return the LaTeX of an element and its content, or the plain text of elements nested too deep."""
    max_depth = 60
    if depth > max_depth:
        return " ".join((node.text() or "").split())
    tag = node.tag
    if tag in ("annotation", "annotation-xml", "mphantom", "none", "mprescripts"):
        return ""
    if tag in LEAF_RULES:
        return LEAF_RULES[tag](" ".join((node.text() or "").split()))
    if tag == "mspace":
        return " "
    parts = [mathml_to_latex(child, depth + 1) for child in node.iter()]
    min_parts, convert = ELEMENT_RULES.get(tag, (0, None))
    if convert and len(parts) >= min_parts:
        return convert(parts, node.attributes)
    return _join_parts(parts)


def _join_parts(parts: list[str]) -> str:
    """Join parts, with a space between a command's name and a following letter."""
    ascii_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    latex = ""
    for part in parts:
        if part and part[0].isalpha():
            stem = latex.rstrip(ascii_letters)
            latex += " " if stem.endswith("\\") and stem != latex else ""
        latex += part
    return latex


def _convert_symbols(text: str) -> str:
    return _join_parts([SYMBOL_COMMANDS.get(letter, letter) for letter in text])


def _convert_identifier(text: str) -> str:
    if text in FUNCTION_NAMES:
        return "\\" + text
    return _convert_symbols(text) if len(text) < 2 else rf"\mathrm{{{_convert_symbols(text)}}}"


def _convert_operator(text: str) -> str:
    if text in FUNCTION_NAMES:
        return "\\" + text
    return rf" {text} " if text in ("=", "<", ">") else _convert_symbols(text)


def _wrap_braces(text: str) -> str:
    return "{" + text.strip() + "}"


def _wrap_base(text: str) -> str:
    return text if len(text) < 2 or (text[0] == "\\" and text[1:].isalpha()) else _wrap_braces(text)


def _convert_over(parts: list[str], _given: Any) -> str:
    base, mark = parts[0], parts[1].strip()
    name = ACCENT_COMMANDS.get(mark) or {r"\to": "vec"}.get(mark)
    if name:
        return rf"\{name}{_wrap_braces(base)}"
    if base.strip() in LIMIT_OPERATORS:
        return base + "^" + _wrap_braces(mark)
    return rf"\overset{_wrap_braces(mark)}{_wrap_braces(base)}"


def _convert_under(parts: list[str], _given: Any) -> str:
    base, mark = parts[0], parts[1].strip()
    if mark in ("_", "\u23df"):
        return rf"\{ACCENT_COMMANDS[mark]}{_wrap_braces(base)}"
    if base.strip() in LIMIT_OPERATORS:
        return base + "_" + _wrap_braces(mark)
    return rf"\underset{_wrap_braces(mark)}{_wrap_braces(base)}"


ELEMENT_RULES: dict[str, tuple[int, Any]] = {  # the least number of parts, and the function that converts them
    "mfrac": (2, lambda p, _g: rf"\frac{_wrap_braces(p[0])}{_wrap_braces(p[1])}"),
    "msqrt": (1, lambda p, _g: rf"\sqrt{_wrap_braces(_join_parts(p))}"),
    "mroot": (2, lambda p, _g: rf"\sqrt[{p[1].strip()}]{_wrap_braces(p[0])}"),
    "msup": (2, lambda p, _g: _wrap_base(p[0]) + (p[1] if p[1].strip("'") == "" else "^" + _wrap_braces(p[1]))),
    "msub": (2, lambda p, _g: _wrap_base(p[0]) + "_" + _wrap_braces(p[1])),
    "msubsup": (3, lambda p, _g: _wrap_base(p[0]) + "_" + _wrap_braces(p[1]) + "^" + _wrap_braces(p[2])),
    "munderover": (3, lambda p, _g: p[0] + "_" + _wrap_braces(p[1]) + "^" + _wrap_braces(p[2])),
    "mover": (2, _convert_over),
    "munder": (2, _convert_under),
    "mtd": (0, lambda p, _g: _join_parts(p).strip()),
    "mtr": (0, lambda p, _g: " & ".join(p)),
    "mtable": (0, lambda p, _g: r"\begin{matrix} " + r" \\ ".join(p) + r" \end{matrix}"),
    "mfenced": (
        0,
        lambda p, g: (g.get("open") or "(") + (g.get("separators") or ",")[:1].join(p) + (g.get("close") or ")"),
    ),
    "semantics": (1, lambda p, _g: p[0]),
}
LEAF_RULES: dict[str, Any] = {
    "mi": _convert_identifier,
    "mn": _convert_symbols,
    "mo": _convert_operator,
    "mtext": lambda text: rf"\text{{{text}}}" if text else " ",
    "ms": lambda text: rf"\text{{{text}}}",
}
