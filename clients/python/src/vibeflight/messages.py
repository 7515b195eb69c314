"""The Protobuf messages of Flight SQL that a query needs. All their fields here hold bytes, so that few lines write and read them."""

from __future__ import annotations

_TYPES = b"type.googleapis.com/arrow.flight.protocol.sql."


def command(name: str, value: bytes) -> bytes:
    """An Any that holds the message of that name, whose field 1 is value: the text of a query, or the handle of a statement."""
    return field(1, _TYPES + name.encode()) + field(2, field(1, value))


def field(number: int, value: bytes) -> bytes:
    """A field of a message: its number, with wire type 2, the length as a varint, the bytes."""
    size, length = len(value), bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    length.append(size)
    return bytes([number << 3 | 2]) + bytes(length) + value


def first(message: bytes, number: int) -> bytes:
    """The first field of that number in a message of such fields. Another message, or one without it, is a ValueError."""
    at = 0
    while at < len(message):
        key, at = message[at], at + 1
        size = shift = 0
        while at < len(message):
            size |= (message[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 0x80:
                break
        if key & 7 != 2 or at + size > len(message):
            break
        if key >> 3 == number:
            return message[at : at + size]
        at += size
    raise ValueError(f"a message of the server's has no field {number}")
