"""The base of values that every start of the program makes: they print themselves without a compiled method."""

from __future__ import annotations


class Value:
    """Base of the frozen attrs classes on the way of `qiongli route`; each is made with `repr=False`.

    attrs compiles the methods of a class when it is imported, and printing is a quarter of that work. One method that
    reads the fields prints the same, so that ninety classes need not have theirs compiled at every start.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        fields = getattr(type(self), "__attrs_attrs__", ())
        inner = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields)
        return f"{type(self).__qualname__}({inner})"
