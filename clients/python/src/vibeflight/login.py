"""How a client logs in to a server: a user and a password, a token, or a client certificate."""

from __future__ import annotations

import base64
import os
import pathlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Login:
    """A credential. It can be pickled, so that the workers of a distributed engine log in too; its text does not have the secrets.

    authorization  the header of each call; None: none
    certificate    the client's certificate and its key, PEM; None: none
    """

    authorization: str | None = None
    certificate: tuple[bytes, bytes] | None = None

    def __repr__(self) -> str:
        return "Login(...)"

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of each call."""
        return [] if self.authorization is None else [(b"authorization", self.authorization.encode())]


Path = str | os.PathLike[str]


def login(user: str | None, password: str | None, token: str | None, cert: Path | None, key: Path | None) -> Login:
    """Returns the credential that the arguments of connect describe, or raises a ValueError."""
    if token is not None and user is not None:
        raise ValueError("want either user and password, or token")
    if (user is None) != (password is None):
        raise ValueError("want both of user and password")
    if (cert is None) != (key is None):
        raise ValueError("want both of tls_client_cert and tls_client_key")
    authorization = None
    if token is not None:
        authorization = f"Bearer {token}"
    elif user is not None:
        authorization = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    if authorization is not None and not (authorization.isascii() and authorization.isprintable()):
        raise ValueError("token: want printable ASCII characters")
    certificate = None if cert is None or key is None else (pathlib.Path(cert).read_bytes(), pathlib.Path(key).read_bytes())
    return Login(authorization, certificate)
