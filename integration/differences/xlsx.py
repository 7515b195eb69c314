"""Workbooks, made of their rows."""
import datetime
import io
import zipfile

from .case import NEW_YEAR, Difference

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = {"number": 0, "date": 14, "time": 21, "datetime": 22}  # and their built-in number formats


def cell(value):
    """A cell of a value: None, a text, a number, a boolean, an error "#…", a number with the name of a style, or the element "<c…" itself."""
    style = ""
    if isinstance(value, tuple):
        value, name = value
        style = f' s="{list(STYLES).index(name)}"'
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str) and value.startswith("<c"):
        return value
    if isinstance(value, str) and value.startswith("#"):
        return f'<c t="e"><v>{value}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c{style}><v>{value!r}</v></c>"


def workbook(rows, name="Sheet1", properties="", shared=""):
    """The bytes of a workbook of one sheet, whose rows are lists of values. shared is the elements of its shared strings."""
    sheet = "".join(f'<row r="{i + 1}">{"".join(map(cell, row))}</row>' for i, row in enumerate(rows))
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    related = [("rId1", "worksheet", "worksheets/sheet1.xml"), ("rId2", "styles", "styles.xml"), ("rId3", "sharedStrings", "sharedStrings.xml")]
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
                               '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                               f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{DOCUMENT}">{properties}<sheets><sheet name="{name}" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
                                      + "".join(f'<Relationship Id="{i}" Type="{DOCUMENT}/{kind}" Target="{to}"/>' for i, kind, to in related) + "</Relationships>",
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs>' + "".join(f'<xf numFmtId="{n}"/>' for n in STYLES.values()) + "</cellXfs></styleSheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{shared}</sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{sheet}</sheetData></worksheet>',
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, text in parts.items():
            archive.writestr(path, text)
    return out.getvalue()


def book(name, rows, ours, gdal, columns=False, **how):
    return Difference(name, workbook(rows, **how), ours, gdal, "xlsx", columns=columns)


DAY, NOON = 43831, 43831.5  # of 2020-01-01

DIFFERENCES = [
    book("all texts", [["a", "b"], ["x", "y"]], {"a": ("string", ["x"]), "b": ("string", ["y"])}, {"Field1": ("string", ["a", "x"]), "Field2": ("string", ["b", "y"])}),
    book("longitude and latitude", [["lon", "lat"], [1, 2]], {"geometry": ["POINT (1 2)"]}, {"lon": ("int32", [1]), "lat": ("int32", [2])}),
    book("last rows without a value", [["a"], [1], [None], [None]], {"a": ("int32", [1])}, {"a": ("int32", [1, None, None])}),
    book("time of a date", [["a"], [(NOON, "date")]], {"a": ("timestamp[ms]", [NEW_YEAR.replace(hour=12)])}, {"a": ("date32[day]", [NEW_YEAR.date()])}),
    book("date in a column of texts", [["a", "n"], [(DAY, "date"), 1], ["x", 1]], {"a": ("string", ["2020-01-01", "x"]), "n": ("int32", [1, 1])}, {"a": ("string", ["2020/01/01", "x"])}, columns=True),
    book("boolean in a column of texts", [["a", "n"], [True, 1], ["x", 1]], {"a": ("string", ["true", "x"])}, {"a": ("string", ["1", "x"])}, columns=True),
    book("phonetic hint", [["a", "n"], ['<c t="s"><v>0</v></c>', 1]],
         {"a": ("string", ["\u592a\u90ce"])}, {"a": ("string", ["\u592a\u90ce\u30bf\u30ed\u30a6"])}, columns=True,
         shared='<si><t>\u592a\u90ce</t><rPh sb="0" eb="2"><t>\u30bf\u30ed\u30a6</t></rPh></si>'),
    book("column without a value", [["a"], [1, '<c s="1"/>']], {"a": ("int32", [1])}, {"Field1": ("string", ["a", "1"]), "Field2": ("date32[day]", [None, None])}),
    book("error value", [["a"], [1], ["#N/A"]], {"a": ("int32", [1, None])}, {"a": ("string", ["1", "#N/A"])}),
    book("first days of 1900", [["a"], [(1, "date")], [(60, "date")], [(61, "date")]],
         {"a": ("date32[day]", [datetime.date(1900, 1, 1), None, datetime.date(1900, 3, 1)])},
         {"a": ("date32[day]", [datetime.date(1899, 12, 31), datetime.date(1900, 2, 28), datetime.date(1900, 3, 1)])}),
    book("system of 1904", [["a"], [(0, "date")]], {"a": ("date32[day]", [datetime.date(1904, 1, 1)])}, {"a": ("date32[day]", [datetime.date(1899, 12, 30)])},
         properties='<workbookPr date1904="1"/>'),
    book("duration", [["a"], [(1.5, "time")]], {"a": ("double", [1.5])}, {"a": ("time32[ms]", [datetime.time(12)])}),
]
