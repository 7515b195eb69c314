"""Reads files with GDAL, and compares columns with ours."""
import json

import numpy as np
import pyarrow as pa
import shapely


GEOMETRY = "wkb_geometry"  # GDAL's name for a column without a name in the file


def plain(column):
    """A column without extension type, for values."""
    return column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column


def is_json(column):
    return isinstance(column.type, pa.BaseExtensionType) and column.type.extension_name == "arrow.json"


def assert_same_column(name, ours, theirs):
    """Types, nulls and values, floats bit for bit; nested values as JSON."""
    if is_json(ours):
        assert is_json(theirs), name
        parse = lambda c: [None if v is None else json.loads(v) for v in plain(c).to_pylist()]
        assert parse(ours) == parse(theirs), name
        return
    ours, theirs = plain(ours).combine_chunks(), plain(theirs).combine_chunks()
    if pa.types.is_list(ours.type):  # names and nullability of list items may differ, their types may not
        assert ours.type.value_type == theirs.type.value_type, name
        assert ours.to_pylist() == theirs.to_pylist(), name
    elif pa.types.is_floating(ours.type):
        assert ours.type == theirs.type, name
        assert ours.is_null().equals(theirs.is_null()) and (bits(ours.fill_null(0)) == bits(theirs.fill_null(0))).all(), name
    else:
        assert ours.type == theirs.type, name
        assert ours.equals(theirs), name


def bits(floats):
    return np.asarray(floats).view(np.uint64)


def assert_same_geometry(ours, theirs):
    """Two columns of WKB: kinds, nulls, parts and every ordinate, bit for bit."""
    if plain(ours).combine_chunks().equals(plain(theirs).cast(pa.binary()).combine_chunks()):
        return
    # WKB may spell one geometry in two ways (ISO and EWKB codes of Z); shapely reads both.
    ours, theirs = (shapely.from_wkb(column.to_numpy()) for column in (ours, theirs))
    assert (shapely.get_type_id(ours) == shapely.get_type_id(theirs)).all()
    position = lambda shapes: bits(shapely.get_coordinates(shapes, include_z=True))
    assert (position(ours) == position(theirs)).all()
    for row, (a, b) in enumerate(zip(ours, theirs)):
        assert a is b or shapely.equals_identical(a, b), f"row {row}: got {a}, GDAL has {b}"
