"""What goes wrong, as exceptions: each is an Error, and pyarrow's own exception for that status too, so code written for pyarrow catches them as before."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator

import pyarrow as pa
from pyarrow import flight


class Error(Exception):
    """An error that the server reported, or an error of the connection. Its text is that of the server, without the additions of gRPC."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # KeyError would show the text in quotes


class NotFound(Error, KeyError):
    """There is no such entry, or no such layer of it.

    closest: up to three entries with similar names, the closest first; may be empty
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.closest = _quoted(message.partition("; the closest ")[2])


class Invalid(Error, pa.ArrowInvalid):
    """A malformed file, an invalid ticket, or a mistake in SQL. The text says where and what was expected."""


class FileChanged(Invalid):
    """The file changed while its rows were read. Repeat the request from the start."""


class LimitExceeded(Error, pa.ArrowException):
    """The file or the request exceeds a limit of the server. The text names the flag and its value."""


class Unsupported(Error, pa.ArrowNotImplementedError):
    """The server does not support the call."""


class Unavailable(Error, flight.FlightUnavailableError):
    """The server cannot be reached, or the connection was lost, also after a second try."""


class NotStarted(Error):
    """A private server did not start. The text is what it printed, or says that the program vibeflight is missing."""


class AlreadyExists(Error, pa.ArrowException):
    """An entry of this name exists."""


class Denied(Error, flight.FlightUnauthorizedError):
    """The server does not permit the call."""


class Unauthenticated(Error, flight.FlightUnauthenticatedError):
    """The server requires authentication."""


class TimedOut(Error, flight.FlightTimedOutError):
    """The call took longer than the connection's timeout."""


class Cancelled(Error, flight.FlightCancelledError):
    """The call was cancelled, here or by the server."""


class Internal(Error, flight.FlightInternalError):
    """A defect of the server, which keeps running. Its log has the details."""


# pyarrow's text: "Flight returned not found error, with message: …. gRPC client debug context: …". Of several statuses that pyarrow has one exception for,
# the words in front tell which one it is.
_TEXT = re.compile(
    r"(?:Unknown: )?(?:Flight|gRPC) returned (?P<kind>.+?) error, with message: (?P<text>.*?)(?:\. (?:gRPC client debug|Client) context: .*)?$", re.DOTALL
)
_KINDS: dict[str, type[Error]] = {
    "not found": NotFound,
    "invalid argument": Invalid,
    "precondition failed": FileChanged,
    "resource exhausted": LimitExceeded,
    "already exists": AlreadyExists,
    "unauthorized": Denied,
    "unauthenticated": Unauthenticated,
    "unimplemented": Unsupported,
    "unavailable": Unavailable,
    "timeout": TimedOut,
    "cancelled": Cancelled,
    "internal": Internal,
    "unknown": Internal,
}
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def translate(error: BaseException) -> BaseException:
    """The exception of ours for one of pyarrow's, or the same one where there is none: a status that the table does not have, or a mistake in this process."""
    match = _TEXT.match(str(error.args[0])) if error.args and not isinstance(error, Error) else None
    kind = _KINDS.get(match["kind"]) if match else None
    if match is None or kind is None:
        return error
    if kind is FileChanged and "changed" not in match["text"]:
        kind = Invalid  # a file that the server may not open, say
    text = match["text"]
    if kind is Unavailable and "Failed parsing HTTP/2" in text:
        text = "the server answers by HTTP/1: connect to its address of Flight, grpc://host:8815 by default, and not to that of --http"
    return kind(text)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Translates pyarrow's exceptions that its body raises."""
    try:
        yield
    except pa.ArrowException as e:
        ours = translate(e)
        if ours is e:
            raise
        raise ours from None  # pyarrow's has the same text once more


def _quoted(text: str) -> list[str]:
    """Returns the strings in a text that Go quoted. Its escapes are valid in Python."""
    return [str(ast.literal_eval(quoted)) for quoted in _QUOTED.findall(text)]
