"""LaTeX: what Markdown has a sign for becomes that."""

from support.documents.office_files import read_document


def latex(body: str) -> str:
    source = rf"\documentclass{{article}}\begin{{document}}{chr(10)}{body}{chr(10)}\end{{document}}"
    return read_document(source.encode(), "a.tex").markdown


def test_footnotes_over_several_lines_are_notes_at_the_end():
    text = "The light\\footnote{Built in \\emph{1871},\nof $x$ and \\href{https://a.example/~b}{stone}.} burns.\nAll."
    assert (
        latex(text) == "The light[^1] burns.\nAll.\n\n[^1]: Built in *1871*, of $x$ and [stone](https://a.example/~b)."
    )


def test_tables_have_rows_and_what_spans_stands_in_each_cell():
    rows = (
        "\\toprule\nName & Port & Height \\\\\n\\midrule\n\\multirow{2}{*}{Wend} & \\textbf{North} & 41 \\\\\n"
        " & South \\& West & 12\\\\[2pt]\n\\multicolumn{2}{c}{Both} & 53 \\\\\n\\bottomrule\n"
    )
    expected = (
        "| Name | Port | Height |\n| --- | --- | --- |\n| Wend | **North** | 41 |\n| Wend | South & West | 12 |\n"
        "| Both | Both | 53 |"
    )
    assert latex(f"\\begin{{tabularx}}{{\\textwidth}}{{lXr}}\n{rows}\\end{{tabularx}}") == expected
    assert latex(f"\\begin{{tabular}}{{@{{}}l|p{{3cm}}r@{{}}}}\n{rows}\\end{{tabular}}") == expected


def test_a_long_table_has_its_head_once():
    source = (
        "\\begin{longtable}{lr}\n\\caption{Lights}\\label{t}\\\\\n\\hline Name & Height \\\\ \\endfirsthead\n"
        "Name & Height (continued) \\\\ \\endhead\n\\multicolumn{2}{r}{goes on} \\\\ \\endfoot\n\\endlastfoot\n"
        "Wend & 41 \\\\\n\\end{longtable}"
    )
    assert latex(source) == "Table 1: Lights\n\n| Name | Height |\n| --- | --- |\n| Wend | 41 |"


def test_listings_say_their_language_and_keep_their_signs():
    source = (
        "\\begin{lstlisting}[language=Python, caption={A \\emph{b}}]\nx = 1 % 2\n\\end{lstlisting}\n"
        "\\begin{minted}[linenos]{rust}\nfn main() {}\n\\end{minted}\n"
        "Inline \\verb|a_b%c|, \\lstinline!x--y! and \\texttt{--flag}."
    )
    assert latex(source) == (
        "```python\nx = 1 % 2\n```\n\n```rust\nfn main() {}\n```\n\nInline `a_b%c`, `x--y` and `--flag`."
    )


def test_pictures_captions_citations_and_references():
    source = (
        "\\section{One}\\label{one}\nSee Figure~\\ref{f} in Section \\ref{one} "
        "\\cite{ida,tom}, \\citep[p.~3]{jo}; \\ref{no}.\n"
        "\\begin{figure}[ht]\n\\centering\n\\includegraphics[width=.5\\linewidth]{a/light.png}\n"
        "\\caption{The \\emph{old}\nlight.}\\label{f}\n\\end{figure}"
    )
    assert latex(source) == (
        "## One\n\nSee Figure 1 in Section 1 [@ida; @tom], [@jo]; [no].\n\n![](a/light.png)\n\n"
        "Figure 1: The *old* light."
    )


def test_lists_nest_and_count():
    source = (
        "\\begin{enumerate}\n\\item One\n\\item\n  Two\n\\begin{itemize}\n\\item deep\n\\end{itemize}\n\\item Three\n"
        "\\end{enumerate}\n\\begin{quote}\nSaid he.\n\\end{quote}"
    )
    assert latex(source) == "1. One\n2. Two\n    - deep\n3. Three\n\n> Said he."


def test_letters_signs_and_formulas():
    source = (
        "``Caf\\'e'' --- na\\\"{\\i}ve \\\"Uber Stra\\ss e 10\\textsuperscript{6}~\\% \\(x\\) \\st{no}\n\n"
        "\\begin{align*}\nx &= 1 \\\\\ny &= 2\n\\end{align*}"
    )
    assert latex(source) == (
        "“Café” — naïve Über Straße 10⁶ % $x$ ~~no~~\n\n$$\n\\begin{aligned}\nx &= 1 \\\\\ny &= 2\n\\end{aligned}\n$$"
    )


def test_what_never_ends_is_read_as_far_as_it_goes():
    assert "burns" in latex("\\footnote{never {closed\n\nThe light burns.")
    assert "41" in latex("\\begin{tabular}{ll}\nWend & 41")
    assert "x = 1" in latex("\\begin{equation}\nx = 1")


def test_hostile_braces_take_no_longer_than_their_length():
    assert read_document(b"\\begin{document}" + b"\\emph{" * 50_000 + b"x", "a.tex").text
    assert (
        read_document(b"\\begin{document}\\begin{tabular}{l}" + b"\\multirow{2}{*}{" * 20_000, "a.tex").kind == "text"
    )
