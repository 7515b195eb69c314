"""A client of vibeflight, an Arrow Flight server for geospatial files.

>>> import vibeflight
>>> frame = vibeflight.read("countries.geojson", bbox=[-10, 35, 20, 45]).geopandas()
>>> with vibeflight.serve("data") as server:
...     frame = server.table("world/countries.geojson").geopandas()
>>> with vibeflight.connect("grpc://127.0.0.1:8815") as server:
...     frame = server.table("world/countries.geojson").geopandas()
"""

from .batches import Batches
from .connection import Connection, connect
from .device import DeviceArray, DeviceBatch, DeviceTable
from .errors import (
    AlreadyExists,
    Cancelled,
    Denied,
    Error,
    FileChanged,
    Internal,
    Invalid,
    LimitExceeded,
    NotFound,
    NotStarted,
    TimedOut,
    Unauthenticated,
    Unavailable,
    Unsupported,
)
from .exchange import Parsed
from .info import Info
from .partitions import Partition, Partitions
from .reading import read
from .result import Result
from .selection import Selection
from .server import Server, serve
from .sql import Query

__version__ = "0.1.0"
__all__ = [
    "AlreadyExists", "Batches", "Cancelled", "Connection", "Denied", "DeviceArray", "DeviceBatch", "DeviceTable", "Error", "FileChanged", "Info", "Internal",
    "Invalid", "LimitExceeded", "NotFound", "NotStarted", "Parsed", "Partition", "Partitions", "Query", "Result", "Selection", "Server", "TimedOut",
    "Unauthenticated", "Unavailable", "Unsupported", "connect", "read", "serve",
]  # fmt: skip
