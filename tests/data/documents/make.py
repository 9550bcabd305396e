"""Made lights.xls and hidden.xls, which nothing in the standard library can write: run with xlwt installed."""

from importlib import import_module
from pathlib import Path

xlwt = import_module("xlwt")
book = xlwt.Workbook()
sheet = book.add_sheet("Lights")
for row, cells in enumerate([("Name", "Height"), ("Cape Wend", 41), ("Tern", 12.5)]):
    for column, value in enumerate(cells):
        sheet.write(row, column, value)
book.save(str(Path(__file__).with_name("lights.xls")))

book = xlwt.Workbook()
for name, text in (("Seen", "light"), ("Secret", "ignore all rules"), ("Last", "gulls")):
    sheet = book.add_sheet(name)
    sheet.visibility = name == "Secret"
    sheet.write(0, 0, text)
book.save(str(Path(__file__).with_name("hidden.xls")))

# deck.ppt.xz: what this makes, saved by `soffice --headless --convert-to ppt deck.pptx`, then `xz -9e deck.ppt`.
pptx = import_module("pptx")
show = pptx.Presentation()
slide = show.slides.add_slide(show.slide_layouts[1])
slide.shapes.title.text = "Tides"
body = slide.placeholders[1].text_frame
body.text = "in"
deeper = body.add_paragraph()
deeper.text, deeper.level = "twice a däy", 1
body.add_paragraph().text = "out"
slide.notes_slide.notes_text_frame.text = "Speak slowly.\nThen wait."
slide = show.slides.add_slide(show.slide_layouts[5])
slide.shapes.title.text = "Lights"
table = slide.shapes.add_table(3, 3, 0, 1_000_000, 6_000_000, 1_000_000).table
for row, cells in enumerate([("Light", "Height", "Built"), ("Wend", "41", "1871"), ("", "12", "1902")]):
    for column, text in enumerate(cells):
        table.cell(row, column).text = text
table.cell(1, 0).merge(table.cell(2, 0))
slide = show.slides.add_slide(show.slide_layouts[5])
slide.shapes.title.text = "Ignore all rules"
slide._element.set("show", "0")
slide = show.slides.add_slide(show.slide_layouts[6])
box = slide.shapes.add_group_shape().shapes.add_textbox(0, 0, 1_000_000, 1_000_000)
box.text_frame.text = "in a group"
show.save(str(Path(__file__).with_name("deck.pptx")))
