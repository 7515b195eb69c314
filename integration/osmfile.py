"""Writes OpenStreetMap files in the PBF format (https://wiki.openstreetmap.org/wiki/PBF_Format)."""
import struct
import zlib

import numpy as np

TYPES = {"node": 0, "way": 1, "relation": 2}


def varints(values):
    """Unsigned 64-bit numbers as varints, one after the other."""
    v = np.atleast_1d(np.asarray(values, dtype=np.uint64))
    if not len(v):
        return b""
    parts = np.empty((len(v), 10), dtype=np.uint8)
    keep = np.empty((len(v), 10), dtype=bool)
    rest = v.copy()
    for k in range(10):
        keep[:, k] = rest != 0 if k else True
        parts[:, k] = rest & np.uint64(0x7F)
        rest >>= np.uint64(7)
    more = np.zeros_like(keep)
    more[:, :-1] = keep[:, 1:]
    parts[more] |= 0x80
    return parts[keep].tobytes()


def varint(value):
    out = bytearray()
    value &= 2**64 - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(values):
    v = np.asarray(values, dtype=np.int64)
    return ((v << 1) ^ (v >> 63)).view(np.uint64)


def deltas(values):
    v = np.asarray(values, dtype=np.int64)
    return zigzag(np.diff(v, prepend=np.int64(0)))


def field(number, content):
    """A field of bytes, or of a number."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


class Strings:
    """The table of strings of a block."""

    def __init__(self):
        self.numbers = {b"": 0}

    def number(self, text):
        text = text if isinstance(text, bytes) else text.encode()
        return self.numbers.setdefault(text, len(self.numbers))

    def message(self):
        return b"".join(field(1, text) for text in self.numbers)

    def tags(self, tags):
        keys, values = [self.number(k) for k, _ in tags], [self.number(v) for _, v in tags]
        return field(2, varints(keys)) + field(3, varints(values)) if tags else b""


def items(tags):
    return list(tags.items()) if isinstance(tags, dict) else list(tags)


def dense_nodes(ids, lons, lats, tags, strings):
    """A group of nodes. tags is a list of one for each node, or None."""
    message = field(1, varints(deltas(ids))) + field(8, varints(deltas(lats))) + field(9, varints(deltas(lons)))
    if tags is not None:
        numbers = []
        for one in tags:
            for key, value in items(one):
                numbers += [strings.number(key), strings.number(value)]
            numbers.append(0)
        message += field(10, varints(numbers))
    return field(2, message)


def node(id, lon, lat, tags, strings):
    z = lambda v: varint(int(zigzag([v])[0]))
    return field(1, varint(1 << 3) + z(id) + strings.tags(items(tags)) + varint(8 << 3) + z(lat) + varint(9 << 3) + z(lon))


def way(id, refs, tags, strings):
    return field(3, field(1, id) + strings.tags(items(tags)) + field(8, varints(deltas(refs))))


def relation(id, members, tags, strings):
    roles = varints([strings.number(role) for _, _, role in members])
    ids, kinds = varints(deltas([ref for _, ref, _ in members])), varints([TYPES[kind] for kind, _, _ in members])
    return field(4, field(1, id) + strings.tags(items(tags)) + field(8, roles) + field(9, ids) + field(10, kinds))


def blob(kind, content, packing="zlib", level=6):
    match packing:
        case "raw":
            data = field(1, content)
        case "zlib":
            data = field(2, len(content)) + field(3, zlib.compress(content, level))
        case "zstd":
            import pyarrow as pa
            data = field(2, len(content)) + field(7, pa.Codec("zstd").compress(content, asbytes=True))
    header = field(1, kind.encode()) + field(3, len(data))
    return struct.pack(">I", len(header)) + header + data


def header(packing="zlib", features=("OsmSchema-V0.6", "DenseNodes")):
    return blob("OSMHeader", b"".join(field(4, f.encode()) for f in features), packing)


def block(groups, strings, packing="zlib", more=b"", level=6):
    return blob("OSMData", field(1, strings.message()) + b"".join(field(2, group) for group in groups) + more, packing, level)


def degrees(v):
    return round(v * 1e7)


def pbf(nodes=(), ways=(), relations=(), dense=True, packing="zlib", each=8000, more=b""):
    """A file of nodes (id, longitude, latitude, tags), ways (id, nodes, tags) and relations (id, members of type, id and role, tags)."""
    out = [header(packing)]
    for of, objects in enumerate([nodes, ways, relations]):
        for at in range(0, len(objects), each):
            part, strings = objects[at:at + each], Strings()
            if of == 1:
                groups = [b"".join(way(*one, strings) for one in part)]
            elif of == 2:
                groups = [b"".join(relation(*one, strings) for one in part)]
            elif dense:
                ids, lons, lats, tags = zip(*part)
                groups = [dense_nodes(ids, [degrees(v) for v in lons], [degrees(v) for v in lats], tags if any(tags) else None, strings)]
            else:
                groups = [b"".join(node(id, degrees(lon), degrees(lat), tags, strings) for id, lon, lat, tags in part)]
            out.append(block(groups, strings, packing, more))
    return b"".join(out)
