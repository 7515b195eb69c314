"""One file that GDAL and vibeflight read differently, and both answers."""
import datetime
import typing

UTC = datetime.timezone.utc
NEW_YEAR = datetime.datetime(2020, 1, 1)
ERROR = "error: .*byte [0-9]+"


class Difference(typing.NamedTuple):
    name: str
    content: str | bytes
    ours: dict | str  # columns as (type, values), geometry as WKT, crs where it matters; or a pattern of the error
    gdal: dict | str
    extension: str
    siblings: dict = {}  # contents of the sibling files, by extension
    columns: bool = False  # whether there are other columns, which are not compared
    settings: dict = {}  # GDAL's open options

    @property
    def file(self):
        return f"{self.name.replace(' ', '_')}.{self.extension}"

    def write(self, folder):
        for extension, content in {self.extension: self.content, **self.siblings}.items():
            path = folder / (self.file.removesuffix(self.extension) + extension)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
