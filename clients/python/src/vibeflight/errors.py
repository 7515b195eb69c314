"""What goes wrong, as exceptions: each is an Error, and pyarrow's own exception for that status too, so code written for pyarrow catches them as before."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator

import pyarrow as pa
from pyarrow import flight


class Error(Exception):
    """An error that the server reported, or that came up on the way to it. Its text is the server's, without what gRPC puts around it."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # KeyError would show the text in quotes


class NotFound(Error, KeyError):
    """There is no such entry, or no such layer of it.

    closest: up to three names of entries that are most like the one asked for, the best first; empty where the server names none
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.closest = _quoted(message.partition("; the closest ")[2])


class Invalid(Error, pa.ArrowInvalid):
    """A malformed file, a ticket that means nothing, or a mistake in SQL: the text says where and what was expected."""


class FileChanged(Invalid):
    """The file is no longer the one that the rows so far came from. Ask again, from the start."""


class LimitExceeded(Error, pa.ArrowException):
    """The file, or what was asked for, is beyond a limit of the server: the text names its flag and value."""


class Unsupported(Error, pa.ArrowNotImplementedError):
    """This server does not answer that call."""


class Unavailable(Error, flight.FlightUnavailableError):
    """There is no server at the address, or it went away, also after a second try."""


class AlreadyExists(Error, pa.ArrowException):
    """There is an entry of that name."""


class Denied(Error, flight.FlightUnauthorizedError):
    """The server does not let this client do that."""


class Unauthenticated(Error, flight.FlightUnauthenticatedError):
    """The server wants to know who asks."""


class TimedOut(Error, flight.FlightTimedOutError):
    """The call took longer than the connection's timeout."""


class Cancelled(Error, flight.FlightCancelledError):
    """The call was cancelled, here or by the server."""


class Internal(Error, flight.FlightInternalError):
    """A defect of the server, which goes on; its log has the details."""


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
    return kind(match["text"])


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raises exceptions of ours where its body raises pyarrow's."""
    try:
        yield
    except pa.ArrowException as e:
        ours = translate(e)
        if ours is e:
            raise
        raise ours from None  # pyarrow's has the same text once more


def _quoted(text: str) -> list[str]:
    """The strings in a text as Go quotes them, whose escapes are Python's too."""
    return [str(ast.literal_eval(quoted)) for quoted in _QUOTED.findall(text)]
