"""A handwritten client over a plain socket, which disconnects in ways that no library does. HTTP/2 is RFC 9113, its headers RFC 7541."""
import socket
import struct

from sql import field

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
ACK = END_STREAM = 1
END_HEADERS = 4
CANCEL = 8


def frame(kind, flags, stream, body=b""):
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def literal(name, value):
    """A header that is neither indexed nor packed (RFC 7541 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


class RawClient:
    """A connection with one DoGet, or another call with one message, with the initial window of HTTP/2: 64 KiB."""

    def __init__(self, address, ticket=b"", method=b"DoGet", message=None):
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        headers = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/arrow.flight.protocol.FlightService/" + method),
                   (b":authority", address.encode()), (b"content-type", b"application/grpc"), (b"te", b"trailers")]
        message = field(1, ticket) if message is None else message
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, b"".join(literal(*h) for h in headers))
                            + frame(DATA, END_STREAM, 1, b"\0" + struct.pack(">I", len(message)) + message))
        self.received = 0  # bytes of DATA

    def read(self, most):
        """Reads frames until the given number of bytes of the answer has arrived, or it ends."""
        while self.received < most:
            head = self._exactly(9)
            size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
            self._exactly(size)
            if kind == DATA:
                self.received += size
            elif kind == SETTINGS and not flags & ACK:
                self.socket.sendall(frame(SETTINGS, ACK, 0))
            elif kind == HEADERS and flags & END_STREAM or kind == RST_STREAM:
                raise RuntimeError(f"the server ended the stream after {self.received} bytes")
        return self

    def answer(self):
        """The message of a call that has one. A call that fails has none, and its status is in trailers that this client can't read."""
        data = b""
        while True:
            head = self._exactly(9)
            size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
            body = self._exactly(size)
            if kind == DATA:
                data += body
            elif kind in (SETTINGS, PING) and not flags & ACK:
                self.socket.sendall(frame(kind, ACK, 0, body if kind == PING else b""))
            elif kind == RST_STREAM or kind == HEADERS and flags & END_STREAM:
                if not data:
                    raise RuntimeError("the call failed")
                return data[5:]

    def _exactly(self, size):
        parts = []
        while size:
            part = self.socket.recv(size)
            if not part:
                raise RuntimeError(f"the server closed the connection after {self.received} bytes")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def reset(self):
        """The connection ends with a TCP reset, as after a reboot of the client's machine."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        """The connection ends as if the process was killed: bytes in the socket are unread."""
        self.socket.close()

    def half_close(self):
        """Half-closes the stream, and disconnects a moment later."""
        self.socket.shutdown(socket.SHUT_WR)
        try:
            while self.socket.recv(1 << 16):
                pass
        except OSError:
            pass
        self.socket.close()

    def cancel(self):
        """Cancels the stream, and disconnects."""
        self.socket.sendall(frame(RST_STREAM, 0, 1, struct.pack(">I", CANCEL)))
        self.socket.close()


def unary(address, method, message):
    """The answer of a call with one message and one answer."""
    client = RawClient(address, method=method, message=message)
    try:
        return client.answer()
    finally:
        client.close()
