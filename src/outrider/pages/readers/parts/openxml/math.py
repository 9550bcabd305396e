r"""Formulas of Office documents as LaTeX (Office Math, ISO/IEC 29500-1 section 22.1)."""

from collections.abc import Callable

from outrider.pages.readers.parts.xml import Element

OPERATORS = {
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint",
    "⋃": r"\bigcup", "⋂": r"\bigcap", "⋁": r"\bigvee", "⋀": r"\bigwedge",
}  # fmt: skip
SYMBOLS = OPERATORS | {
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "ϵ": r"\epsilon",
    "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta", "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu",
    "ν": r"\nu", "ξ": r"\xi", "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "υ": r"\upsilon",
    "φ": r"\varphi", "ϕ": r"\phi", "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma", "Δ": r"\Delta",
    "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi", "Σ": r"\Sigma", "Φ": r"\Phi", "Ψ": r"\Psi",
    "Ω": r"\Omega", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "±": r"\pm", "∓": r"\mp", "×": r"\times",
    "÷": r"\div", "⋅": r"\cdot", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx", "≡": r"\equiv",
    "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq", "∪": r"\cup", "∩": r"\cap", "∅": r"\emptyset",
    "→": r"\to", "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "↔": r"\leftrightarrow", "∀": r"\forall",
    "∃": r"\exists", "¬": r"\neg", "∧": r"\land", "∨": r"\lor", "…": r"\dots", "⋯": r"\cdots", "−": "-",
    "#": r"\#", "%": r"\%", "&": r"\&", "_": r"\_", "{": r"\{", "}": r"\}",
}  # fmt: skip
ACCENTS = {
    "̂": r"\hat", "̃": r"\tilde", "̅": r"\bar", "̄": r"\bar", "⃗": r"\vec", "̇": r"\dot", "̈": r"\ddot", "́": r"\acute",
    "̀": r"\grave", "̆": r"\breve", "̌": r"\check",
}  # fmt: skip
FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh exp log ln lim max min sup inf det gcd".split()  # noqa: SIM905
)
FENCES = {"{": r"\{", "}": r"\}", "‖": r"\|", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil",
          "⟨": r"\langle", "⟩": r"\rangle", "": "."}  # fmt: skip
PROPERTIES = "Pr"


def latex(element: Element) -> str:
    """The LaTeX of a formula, without dollar signs."""
    return " ".join(_inside(element).split())


def _inside(element: Element | None) -> str:
    return "".join(_one(child) for child in element.elements()) if element else ""


def _one(element: Element) -> str:
    local = element.name.removeprefix("m:")
    if local in WAYS:
        return WAYS[local](element)
    if local == "r":
        return _run(element)
    return "" if local.endswith(PROPERTIES) or element.name == "w:rPr" else _inside(element)


def _run(element: Element) -> str:
    text = "".join(each.text for each in element.each("m:t"))
    if text in FUNCTIONS:
        return f"\\{text} "
    return "".join(f"{SYMBOLS[letter]} " if letter in SYMBOLS else letter for letter in text)


def _of(element: Element, name: str) -> str:
    return _inside(element.find(f"m:{name}")).strip()


def _property(element: Element, group: str, name: str, default: str) -> str:
    value = element.value(f"m:{group}", f"m:{name}", attribute="m:val")
    return default if value is None else value


def _fraction(element: Element) -> str:
    above, below = _of(element, "num"), _of(element, "den")
    if _property(element, "fPr", "type", "") == "noBar":
        return rf"\binom{{{above}}}{{{below}}}"
    return rf"\frac{{{above}}}{{{below}}}"


def _root(element: Element) -> str:
    degree = _of(element, "deg")
    return rf"\sqrt[{degree}]{{{_of(element, 'e')}}}" if degree else rf"\sqrt{{{_of(element, 'e')}}}"


def _scripts(element: Element) -> str:
    below, above = _of(element, "sub"), _of(element, "sup")
    return "{" + _of(element, "e") + "}" + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _before(element: Element) -> str:
    return f"{{}}_{{{_of(element, 'sub')}}}^{{{_of(element, 'sup')}}}{{{_of(element, 'e')}}}"


def _sum(element: Element) -> str:
    sign = _property(element, "naryPr", "chr", "∫")
    below, above = _of(element, "sub"), _of(element, "sup")
    bounds = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    return f"{OPERATORS.get(sign, sign)}{bounds} {_of(element, 'e')}"


def _fenced(element: Element) -> str:
    opening, closing = _property(element, "dPr", "begChr", "("), _property(element, "dPr", "endChr", ")")
    between = _property(element, "dPr", "sepChr", "|")
    body = f" {between} ".join(_inside(each).strip() for each in element.each("m:e"))
    return rf"\left{FENCES.get(opening, opening)} {body} \right{FENCES.get(closing, closing)}"


def _accent(element: Element) -> str:
    return f"{ACCENTS.get(_property(element, 'accPr', 'chr', '̂'), chr(92) + 'hat')}{{{_of(element, 'e')}}}"


def _bar(element: Element) -> str:
    line = r"\underline" if _property(element, "barPr", "pos", "bot") == "bot" else r"\overline"
    return f"{line}{{{_of(element, 'e')}}}"


def _function(element: Element) -> str:
    return f"{_of(element, 'fName')} {_of(element, 'e')}"


def _below(element: Element) -> str:
    return f"{_of(element, 'e')}_{{{_of(element, 'lim')}}}"


def _above(element: Element) -> str:
    return f"{_of(element, 'e')}^{{{_of(element, 'lim')}}}"


def _matrix(element: Element) -> str:
    rows = [" & ".join(_inside(each).strip() for each in row.each("m:e")) for row in element.each("m:mr")]
    return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"


def _lines(element: Element) -> str:
    rows = [_inside(each).strip() for each in element.each("m:e")]
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


WAYS: dict[str, Callable[[Element], str]] = {
    "f": _fraction,
    "rad": _root,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "sPre": _before,
    "nary": _sum,
    "d": _fenced,
    "acc": _accent,
    "bar": _bar,
    "func": _function,
    "limLow": _below,
    "limUpp": _above,
    "m": _matrix,
    "eqArr": _lines,
}
