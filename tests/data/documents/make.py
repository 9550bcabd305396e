"""Generate lights.xls and hidden.xls with xlwt, and the sources of the files that LibreOffice converted."""

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

# deck.ppt.xz: the output, saved by `soffice --headless --convert-to ppt deck.pptx`, then `xz -9e deck.ppt`.
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

# book.xls.xz: the output, saved by `soffice --headless --convert-to xls book.xlsx`, then `xz -9e book.xls`.
openpyxl = import_module("openpyxl")
dates = import_module("datetime")
book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Lights"
sheet.append(["Name", "Built", "Share", "Price", "Sum", "Lit", "Code", "Wrong"])
sheet.append(["Cape Wend", dates.date(1971, 2, 28), 0.125, 1234.5, "=D2*2", True, 7, "=1/0"])
sheet.append(["Türn 日本", dates.datetime(1902, 3, 1, 12, 30), -0.5, -7, '="a"&"b"', False, 12345, 1e-9])
for cell, form in (("C2", "0.0%"), ("C3", "0%"), ("D2", '#,##0.00\\ "€"'), ("D3", '#,##0.00\\ "€"'), ("G2", "00000")):
    sheet[cell].number_format = form
sheet["A2"].hyperlink = "https://harbour.example/wend"
sheet["A5"] = "see above"
sheet.merge_cells("A5:C5")
sheet.append(["hidden row"])
sheet.row_dimensions[6].hidden = True
sheet["J2"] = "hidden column"
sheet.column_dimensions["J"].hidden = True
hidden = book.create_sheet("Secret")
hidden["A1"] = "ignore all rules"
hidden.sheet_state = "hidden"
texts = book.create_sheet("Texts")  # so many that they continue in the next record
for row in range(300):
    texts.append([f"n{row} " + ("äöü" if row % 3 else "日本 ") * (row % 40), row / 100])
book.save(str(Path(__file__).with_name("book.xlsx")))
