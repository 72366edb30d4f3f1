"""Running operations: one call, one transaction, after everything overdue is settled."""

from collections.abc import Awaitable
from typing import TypeVar

from hubbub.core import expiry
from hubbub.core.people import access
from hubbub.core.people.quotas import Limits, Quotas
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.store.tx import MustWrite, Operation, Store, Tx

T = TypeVar("T")


class _Overdue(Exception):
    """The snapshot has something overdue, which must be settled before anybody looks."""


class Transactions:
    """The way from an edge to the core."""

    def __init__(self, store: Store, quotas: Quotas | None = None) -> None:
        self.store = store
        self.quotas = quotas or Quotas(Limits())

    def write(self, actor: Actor, operation: Operation[T], *, short: bool = False) -> Awaitable[T]:
        """Run `operation` in a writing transaction, which first settles everything overdue by now.

        A `short` one takes few steps, however large the store. Raises `TooMany` at once if the actor
        has stored its full amount today.
        """
        self.quotas.require_room(actor)

        def settled(tx: Tx) -> T:
            tx.actor = SYSTEM  # expiry is nobody's act
            expiry.settle(tx)
            tx.actor, before = actor, tx.stored
            result = operation(tx)
            self.quotas.note(actor, tx.stored - before)
            return result

        return self.store.write(actor, settled, short=short)

    async def read(self, actor: Actor, operation: Operation[T], *, long: bool = False) -> T:
        """Run `operation` on a snapshot in which nothing is overdue.

        An expired task or an absent agent is thus never shown as it was, however rarely the sweep runs. An
        operation that turns out to have to write (`MustWrite`) is run again, as a write.
        """

        def settled(tx: Tx) -> T:
            if self._is_due(tx):
                raise _Overdue
            return operation(tx)

        while True:
            try:
                return await self.store.read(actor, settled, long=long)
            except _Overdue:
                await self.store.write(SYSTEM, expiry.settle)
            except MustWrite:
                return await self.write(actor, operation)

    def _is_due(self, tx: Tx) -> bool:
        """Tell whether anything is overdue, before an operation looks."""
        return expiry.is_due(tx)


class VouchedTransactions(Transactions):
    """The way to the core for one call, with a caller known from an earlier look-up.

    Each of its transactions first checks that the token still stands for the caller, so that a call costs one look-up
    and not two, and none gets through after its token was revoked. Both raise `access.StaleToken`.
    """

    def __init__(self, inner: Transactions, mark: str) -> None:
        """`mark` is the fingerprint of the token."""
        super().__init__(inner.store, inner.quotas)
        self._mark = mark
        self._is_confirmed = False

    def write(self, actor: Actor, operation: Operation[T], *, short: bool = False) -> Awaitable[T]:
        return super().write(actor, self._after_a_look(operation), short=short)

    async def confirm(self, actor: Actor) -> None:
        """Check the token, unless a transaction of the call has. For answers without any transaction."""
        if not self._is_confirmed:
            await self.store.read(actor, self._after_a_look(lambda _tx: None))

    def _is_due(self, tx: Tx) -> bool:
        is_due = expiry.is_due_for(tx, self._mark)
        self._is_confirmed = True
        return is_due

    def _after_a_look(self, operation: Operation[T]) -> Operation[T]:
        def looked(tx: Tx) -> T:
            access.require_same(tx, self._mark)
            self._is_confirmed = True
            return operation(tx)

        return looked
