r"""Render formulas of Office documents as LaTeX.

Office Math, ISO/IEC 29500-1 section 22.1.
"""

from collections.abc import Callable

from outrider.pages.readers.parsing.xml import XmlElement

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
    "–": "-", "∗": r"\ast", "∘": r"\circ", "∝": r"\propto", "≪": r"\ll", "≫": r"\gg", "∼": r"\sim", "≅": r"\cong",
    "⊥": r"\perp", "∥": r"\parallel", "∠": r"\angle", "⊕": r"\oplus", "⊗": r"\otimes", "⊃": r"\supset",
    "⊇": r"\supseteq", "←": r"\leftarrow", "⇐": r"\Leftarrow", "↦": r"\mapsto", "ℏ": r"\hbar", "ℓ": r"\ell",
    "⋮": r"\vdots", "⋱": r"\ddots",
    "#": r"\#", "%": r"\%", "&": r"\&", "_": r"\_", "{": r"\{", "}": r"\}",
}  # fmt: skip
ACCENTS = {
    "̂": r"\hat", "̃": r"\tilde", "̅": r"\bar", "̄": r"\bar", "⃗": r"\vec", "̇": r"\dot", "̈": r"\ddot", "́": r"\acute",
    "̀": r"\grave", "̆": r"\breve", "̌": r"\check",
}  # fmt: skip
FUNCTION_NAMES = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh exp log ln lim max min sup inf det gcd".split()  # noqa: SIM905
)
DELIMITERS = {"{": r"\{", "}": r"\}", "‖": r"\|", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil",
          "⟨": r"\langle", "⟩": r"\rangle", "": "."}  # fmt: skip


def render_latex(element: XmlElement) -> str:
    """Return the LaTeX of a formula, without dollar signs."""
    return " ".join(_render_children(element).split())


def _render_children(element: XmlElement | None) -> str:
    pieces: list[str] = []
    for child in element.iter_children() if element else ():
        local = child.name.removeprefix("m:")
        if local in ELEMENT_RENDERERS:
            pieces.append(ELEMENT_RENDERERS[local](child))
        elif not local.endswith("Pr"):  # properties are not shown
            pieces.append(_render_children(child))
    return "".join(pieces)


def _render_text(element: XmlElement) -> str:
    text = "".join(piece.text for piece in element.iter_named("m:t"))
    if text in FUNCTION_NAMES:
        return f"\\{text} "
    return "".join(f"{SYMBOLS[letter]} " if letter in SYMBOLS else letter for letter in text)


def _render_child(element: XmlElement, name: str) -> str:
    return _render_children(element.find(f"m:{name}")).strip()


def _read_property(element: XmlElement, group: str, name: str, default: str) -> str:
    value = element.get_value(f"m:{group}", f"m:{name}", attribute="m:val")
    return default if value is None else value


def _render_fraction(element: XmlElement) -> str:
    above, below = _render_child(element, "num"), _render_child(element, "den")
    if _read_property(element, "fPr", "type", "") == "noBar":
        return rf"\binom{{{above}}}{{{below}}}"
    return rf"\frac{{{above}}}{{{below}}}"


def _render_root(element: XmlElement) -> str:
    degree, body = _render_child(element, "deg"), _render_child(element, "e")
    return rf"\sqrt[{degree}]{{{body}}}" if degree else rf"\sqrt{{{body}}}"


def _render_scripts(element: XmlElement) -> str:
    return f"{{{_render_child(element, 'e')}}}{_render_bounds(element)}"


def _render_bounds(element: XmlElement) -> str:
    below, above = _render_child(element, "sub"), _render_child(element, "sup")
    return (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _render_prescripts(element: XmlElement) -> str:
    below, above = _render_child(element, "sub"), _render_child(element, "sup")
    return f"{{}}_{{{below}}}^{{{above}}}{{{_render_child(element, 'e')}}}"


def _render_nary(element: XmlElement) -> str:
    sign = _read_property(element, "naryPr", "chr", "∫")
    return f"{OPERATORS.get(sign, sign)}{_render_bounds(element)} {_render_child(element, 'e')}"


def _render_delimited(element: XmlElement) -> str:
    opening, closing = _read_property(element, "dPr", "begChr", "("), _read_property(element, "dPr", "endChr", ")")
    between = _read_property(element, "dPr", "sepChr", "|")
    body = f" {between} ".join(_render_rows(element))
    return rf"\left{DELIMITERS.get(opening, opening)} {body} \right{DELIMITERS.get(closing, closing)}"


def _render_mark(element: XmlElement) -> str:
    """Render a base with an accent, or with a line below or above it."""
    if element.name == "m:acc":
        mark = ACCENTS.get(_read_property(element, "accPr", "chr", "̂"), r"\hat")
    else:
        mark = r"\underline" if _read_property(element, "barPr", "pos", "bot") == "bot" else r"\overline"
    return f"{mark}{{{_render_child(element, 'e')}}}"


def _render_function(element: XmlElement) -> str:
    """Render a function with its argument, or a base with limits."""
    if element.name == "m:func":
        return f"{_render_child(element, 'fName')} {_render_child(element, 'e')}"
    sign = "_" if element.name == "m:limLow" else "^"
    return f"{_render_child(element, 'e')}{sign}{{{_render_child(element, 'lim')}}}"


def _render_rows(element: XmlElement) -> list[str]:
    return [_render_children(row).strip() for row in element.iter_named("m:e")]


def _render_matrix(element: XmlElement) -> str:
    """Render the rows of a matrix, or lines that are aligned with one another."""
    if element.name == "m:eqArr":
        return r"\begin{aligned} " + r" \\ ".join(_render_rows(element)) + r" \end{aligned}"
    rows = [" & ".join(_render_rows(row)) for row in element.iter_named("m:mr")]
    return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"


ELEMENT_RENDERERS: dict[str, Callable[[XmlElement], str]] = {
    "r": _render_text,
    "f": _render_fraction,
    "rad": _render_root,
    "sSup": _render_scripts,
    "sSub": _render_scripts,
    "sSubSup": _render_scripts,
    "sPre": _render_prescripts,
    "nary": _render_nary,
    "d": _render_delimited,
    "acc": _render_mark,
    "bar": _render_mark,
    "func": _render_function,
    "limLow": _render_function,
    "limUpp": _render_function,
    "m": _render_matrix,
    "eqArr": _render_matrix,
}
