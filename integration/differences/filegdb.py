"""File Geodatabases, as .gdb.zip. The files are those of the reader's own tests."""
import datetime
import io
import pathlib
import zipfile

from .case import ERROR, UTC, Difference

FILES = pathlib.Path(__file__).parent.parent.parent / "readers/filegdb/testdata"
NOON = datetime.datetime(1969, 12, 31, 12)
LOCAL = [datetime.datetime(2023, 3, 15 + i, 6) for i in range(4)]  # with offsets of -1, 0, 1 and 2 hours
TEXTS = ["", "é 😀", "plain", None]


def file(name, stem, ours, gdal, change=lambda name, content: content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as z:
        for f in sorted((FILES / f"{stem}.gdb").iterdir()):
            content = change(f.name, f.read_bytes())
            if content is not None:
                z.writestr(f"{stem}.gdb/{f.name}", content)
    return Difference(name, buffer.getvalue(), ours, gdal, "gdb.zip", columns=True)


def hours(n):
    return datetime.timedelta(hours=n)


DIFFERENCES = [
    file("times in UTC", "types", {"at": ("timestamp[ms, tz=UTC]", [None if i % 3 == 1 else (NOON + hours(i)).replace(tzinfo=UTC) for i in range(7)])},
         {"at": ("timestamp[ms]", [None if i % 3 == 1 else NOON + hours(i) for i in range(7)])}),
    file("offset from UTC", "sparse", {"offset": ("timestamp[ms, tz=UTC]", [*((t - hours(i - 1)).replace(tzinfo=UTC) for i, t in enumerate(LOCAL)), None])},
         {"offset": ("timestamp[ms]", [*LOCAL, None])}),
    file("surrogates", "wide", {"text": ("string", TEXTS)}, "error: .*utf-8"),
    file("curves without the option", "curves", ERROR, "error: .*[Nn]onlinear"),
    file("MultiPatch with triangles", "multipatch",
         {"geometry": ["MULTIPOLYGON Z (((0 0 0, 1 0 0, 1 1 0, 0 0 0)), ((1 0 0, 1 1 0, 2 1 0, 1 0 0)), ((2 1 0, 3 1 0, 3 2 0, 2 2 0, 2 1 0, 2 1 0)))"]},
         {"geometry": [None]}),  # shapely does not read a TIN
    file("no index", "points", "error: .*no file a00000009.gdbtablx", {"n": ("int32", [*range(7)])},
         lambda name, content: None if name == "a00000009.gdbtablx" else content),
    file("text that is not UTF-8", "types", ERROR, "error: .*utf-8", lambda name, content: content.replace("é 2".encode(), b"\xff\xff 2")),
    file("row that is cut", "points", ERROR, {"n": ("int32", [*range(6)])}, lambda name, content: content[:-1] if name == "a00000009.gdbtable" else content),
]
