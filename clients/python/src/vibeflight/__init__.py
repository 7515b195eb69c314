"""A client of vibeflight, an Arrow Flight server for geospatial files.

>>> import vibeflight
>>> with vibeflight.connect("grpc://127.0.0.1:8815") as server:
...     frame = server.table("world/countries.geojson", bbox=[-10, 35, 20, 45]).geopandas()
"""

from .batches import Batches
from .connection import Connection, connect
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
    TimedOut,
    Unauthenticated,
    Unavailable,
    Unsupported,
)
from .exchange import Parsed
from .info import Info
from .partitions import Partition, Partitions
from .result import Result
from .selection import Selection
from .sql import Query

__version__ = "0.1.0"
__all__ = [
    "AlreadyExists", "Batches", "Cancelled", "Connection", "Denied", "Error", "FileChanged", "Info", "Internal", "Invalid", "LimitExceeded", "NotFound",
    "Parsed", "Partition", "Partitions", "Query", "Result", "Selection", "TimedOut", "Unauthenticated", "Unavailable", "Unsupported", "connect",
]  # fmt: skip
