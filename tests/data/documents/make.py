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
