"""Passwords: hashed with argon2id in a thread of their own, as that takes much time and memory on purpose."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.requests import HTTPConnection
from starlette.types import Scope

from hubbub.core.people import auth_attempts, users
from hubbub.core.transaction import Transactions
from hubbub.model.errors import Invalid, Unauthorized
from hubbub.model.people.accounts import User
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Project

SHORTEST, LONGEST = 8, 1_000
COMMON = frozenset(
    """00000000 11111111 11223344 12121212 12341234 12344321 12345678 123456789 1234567890 123123123 1q2w3e4r
    1qaz2wsx 22222222 55555555 66666666 77777777 87654321 88888888 987654321 99999999 a1234567 aa123456 abc12345
    abcd1234 abcdefgh adminadmin admin123 administrator asdfasdf asdfghjk asdfghjkl baseball changeme computer football
    iloveyou internet letmein1 liverpool michelle passw0rd password password! password1 password12 password123
    princess q1w2e3r4 qazwsxedc qwer1234 qwerty12 qwerty123 qwertyui qwertyuiop starwars sunshine superman trustno1
    welcome1 welcome123 whatever zaq12wsx zxcvbnm1""".split()  # noqa: SIM905  # a list of words reads best as a text
)


def check(password: str, username: str) -> None:
    """Raise `Invalid` for a password that is easy to guess."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise Invalid(f"a password has {SHORTEST} to {LONGEST} characters")
    if password.casefold() in COMMON or password.casefold() == username.casefold():
        raise Invalid("that password is too common; choose another")


class Passwords:
    """Hashes and verifies, one at a time, without holding up the event loop."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hubbub-passwords")
        self._nobodys: str | None = None

    async def hash(self, password: str) -> str:
        """Return the hash of a password for storing."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._hasher.hash, password)

    async def verify(self, kept: str | None, password: str) -> bool:
        """Tell whether `password` is the stored one. Without a stored one the answer is no, after the same time."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._verify, kept, password)

    def _verify(self, kept: str | None, password: str) -> bool:
        if self._nobodys is None:
            self._nobodys = self._hasher.hash("nobody's password")
        try:
            self._hasher.verify(kept or self._nobodys, password)
        except (VerificationError, InvalidHashError):
            return False
        return kept is not None


class WrongPassword(Unauthorized):
    """The person does not exist, or the password is not theirs; the caller is not told which."""

    def __str__(self) -> str:
        return "the username or the password is wrong"


class PasswordLogin:
    """Admits people by name and password or by invitation, at all doors, since their attempts count together."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions
        self.passwords = Passwords()

    async def admit(self, scope: Scope, name: str, password: str, browsers: Sequence[str] = ()) -> User:
        """Return the person who has proved their identity. Raises `TooMany` and `WrongPassword`.

        `browsers` are the secrets by which a known browser shows itself.
        """
        address, write = client_address(scope), self.transactions.store.write
        counted = await write(SYSTEM, lambda tx: auth_attempts.begin_login(tx, name, address, browsers))
        user = await self.transactions.read(SYSTEM, lambda tx: users.by_name(tx, name))
        if not await self.passwords.verify(user.password if user else None, password) or user is None:
            raise WrongPassword
        await write(SYSTEM, lambda tx: auth_attempts.take_back(tx, counted))
        return user

    async def invited(self, scope: Scope, code: str) -> Project:
        """Return the project that an invitation is for, without using it up; only wrong codes count.

        Raises `TooMany` and `BadInvitation`.
        """
        address, write = client_address(scope), self.transactions.store.write
        counted = await write(SYSTEM, lambda tx: auth_attempts.begin_invitation(tx, address))
        project = await self.transactions.read(SYSTEM, lambda tx: users.invited_to(tx, code))
        await write(SYSTEM, lambda tx: auth_attempts.take_back(tx, counted))
        return project


def client_address(scope: Scope) -> str:
    """Return the address that a request comes from."""
    client = HTTPConnection(scope).client
    return client.host if client else ""
