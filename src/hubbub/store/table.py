"""Tables of records: columns, and the conversion between a row and its record, derived from the record's fields."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum, IntEnum
from functools import lru_cache
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin

from hubbub.model.fields import declared
from hubbub.store.tx import Row, Tx

Record = TypeVar("Record")
Way = Callable[[Any], Any]


class Table(Generic[Record]):
    """The rows of `kind`. Each of its fields is a column of that name, except those `joined` by the SQL of `join`.

    Numbers, texts and ids are the same in row and record; flags are 0 or 1; lists and mappings are JSON.
    """

    def __init__(
        self,
        name: str,
        kind: type[Record],
        *,
        key: tuple[str, ...] = (),
        alias: str = "",
        joined: Mapping[str, str] | None = None,
        join: str = "",
    ) -> None:
        fields, joined, prefix = declared(kind), joined or {}, f"{alias}." if alias else ""
        self.name, self.kind = name, kind
        self.fields = tuple(fields)
        self.columns = tuple(each for each in fields if each not in joined)
        self.selected = ", ".join(
            f"{joined[each]} AS {each}" if each in joined else f"{prefix}{each}" for each in fields
        )
        self.insertion = self.inserting()
        select = f"SELECT {self.selected} FROM {' '.join(filter(None, (name, alias, join)))} "
        anew = ", ".join(f"{each} = excluded.{each}" for each in self.columns if each not in key)
        self._put = f"{self.insertion} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {anew}"
        returning = f" RETURNING {', '.join(self.columns)}"
        # A text that is made anew for each query is looked up more slowly than one that is kept.
        self._selecting = lru_cache(lambda rest: select + rest)
        self._changing = lru_cache(lambda change: f"UPDATE {name} {change}{returning}")
        self._deleting = lru_cache(lambda where: f"DELETE FROM {name} {where}{returning}")
        self._in_row, self._in_record = itemgetter(*self.fields), attrgetter(*self.columns)
        ways = {each: _ways(field.type) for each, field in fields.items()}
        self._read = tuple((each, read) for each, (read, _) in ways.items() if read)
        self._write = tuple((each, write) for each in self.columns if (write := ways[each][1]))

    def inserting(self, more: Collection[str] = ()) -> str:
        """Return the statement that inserts a row, with `more` columns that the record does not have."""
        names = (*self.columns, *more)
        return (
            f"INSERT INTO {self.name} ({', '.join(names)}) VALUES ({', '.join(f':{each}' for each in names)})"
        )

    def insert(self, tx: Tx, record: Record) -> Record:
        tx.run(self.insertion, **self.row(record))
        return record

    def put(self, tx: Tx, record: Record) -> Record:
        """Insert the record, or replace the one with the same `key`."""
        tx.run(self._put, **self.row(record))
        return record

    def find(self, tx: Tx, **columns: object) -> Record | None:
        """Return the record with these values in its row; None if there is none."""
        return self.one(tx, _equal(*columns), **columns)

    def one(self, tx: Tx, rest: str, **values: object) -> Record | None:
        """Return the first record that a query finds; `rest` is its text from WHERE on."""
        rows = tx.db.query(self._selecting(rest), values)
        return self.record(rows[0]) if rows else None

    def all(self, tx: Tx, rest: str, **values: object) -> list[Record]:
        """Return all records that a query finds; `rest` is its text from WHERE on."""
        return [self.record(row) for row in tx.db.query(self._selecting(rest), values)]

    def update(self, tx: Tx, change: str, **values: object) -> Record | None:
        """Change a row, and return its record; None if there is none. `change` is the statement from SET on."""
        row = tx.one(self._changing(change), **values)
        return self.record(row) if row else None

    def change(self, tx: Tx, change: str, **values: object) -> Record:
        """Change a row that is there, since the caller found or locked it; otherwise like `update`."""
        record = self.update(tx, change, **values)
        assert record is not None
        return record

    def delete(self, tx: Tx, **columns: object) -> Record | None:
        """Delete the row with these values, and return its record; None if there is none."""
        row = tx.one(self._deleting(_equal(*columns)), **columns)
        return self.record(row) if row else None

    def record(self, row: Row) -> Record:
        """Return the record in a row, which may have more columns."""
        return self.kind(**self.values(row))

    def values(self, row: Row) -> dict[str, Any]:
        """Return the fields of the record in a row."""
        values = dict(zip(self.fields, self._in_row(row), strict=True))
        for name, read in self._read:
            if values[name] is not None:
                values[name] = read(values[name])
        return values

    def row(self, record: Record) -> dict[str, Any]:
        """Return the column values of the record's row."""
        values = dict(zip(self.columns, self._in_record(record), strict=True))
        for name, write in self._write:
            if values[name] is not None:
                values[name] = write(values[name])
        return values


@lru_cache
def _equal(*columns: str) -> str:
    return "WHERE " + " AND ".join(f"{each} = :{each}" for each in columns)


def _ways(hint: Any) -> tuple[Way | None, Way | None]:
    """Return the functions that read and write a column of the type; None: the value is used as it is."""
    if isinstance(hint, UnionType):
        (hint,) = set(get_args(hint)) - {NoneType}
    if get_origin(hint) is tuple:
        return _tuple, _json
    if get_origin(hint) in {Mapping, dict}:
        return json.loads, _json
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda text: hint(**json.loads(text)), lambda value: _json(asdict(value))
    if hint is bool:
        return bool, int
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint, int if issubclass(hint, IntEnum) else None
    return None, None


def _tuple(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))


_json = json.JSONEncoder(ensure_ascii=False).encode
