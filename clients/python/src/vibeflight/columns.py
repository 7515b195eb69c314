"""What a column of a table is in other libraries."""

from __future__ import annotations

import functools
from typing import Any

import pyarrow as pa


def is_geometry(field: pa.Field[Any]) -> bool:
    """Whether a column is one of GeoArrow's: by its metadata, or by its type where a package has registered the types."""
    if isinstance(field.type, pa.BaseExtensionType):
        return field.type.extension_name.startswith("geoarrow.")
    return (field.metadata or {}).get(b"ARROW:extension:name", b"").startswith(b"geoarrow.")


@functools.cache
def nullable_types() -> dict[pa.DataType, Any]:
    """The types of pandas that hold integers and booleans of which some are missing."""
    import pandas

    return {
        pa.int8(): pandas.Int8Dtype(), pa.int16(): pandas.Int16Dtype(), pa.int32(): pandas.Int32Dtype(), pa.int64(): pandas.Int64Dtype(),
        pa.uint8(): pandas.UInt8Dtype(), pa.uint16(): pandas.UInt16Dtype(), pa.uint32(): pandas.UInt32Dtype(), pa.uint64(): pandas.UInt64Dtype(),
        pa.bool_(): pandas.BooleanDtype(),
    }  # fmt: skip
