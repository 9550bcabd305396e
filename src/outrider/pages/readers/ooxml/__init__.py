"""Parts of Office Open XML: packages, runs, styles, formulas, charts."""
