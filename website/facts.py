"""What griffe, which reads our docstrings, does not read: comments `#:`, and the fields of a `msgspec.Struct`."""

from __future__ import annotations

import ast
import re
from typing import Any

import griffe


class Facts(griffe.Extension):
    """Makes them docstrings and constructors, as if they had been written so."""

    def on_attribute_instance(
        self,
        *,
        node: ast.AST | griffe.ObjectNode,
        attr: griffe.Attribute,
        agent: griffe.Visitor | griffe.Inspector,
        **_: Any,
    ) -> None:
        """The comment `#:` above an attribute is its docstring, if it has no other."""
        if attr.docstring is None and isinstance(node, ast.stmt) and isinstance(agent, griffe.Visitor):
            text = comment_above(agent.code.splitlines(), node.lineno)
            if text:
                attr.docstring = griffe.Docstring(text, lineno=node.lineno, parent=attr)

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """A Struct without a constructor of its own has one that takes its fields in their order."""
        if "Struct" in {str(base) for base in cls.bases} and "__init__" not in cls.members:
            cls.set_member("__init__", constructor(cls))


def comment_above(lines: list[str], line: int) -> str:
    """The text of the lines that begin with `#:` right above a line (counted from 1)."""
    found: list[str] = []
    for above in reversed(lines[: line - 1]):
        comment = re.fullmatch(r"\s*#: ?(.*)", above)
        if comment is None:
            break
        found.append(comment[1])
    return "\n".join(reversed(found))


def constructor(cls: griffe.Class) -> griffe.Function:
    """What msgspec makes of the annotated fields of a class."""
    only_by_name = any(str(value) == "True" for name, value in cls.keywords.items() if name == "kw_only")
    kind = griffe.ParameterKind.keyword_only if only_by_name else griffe.ParameterKind.positional_or_keyword
    declared = [field for field in cls.attributes.values() if field.annotation and "property" not in field.labels]
    fields = [field for field in declared if "ClassVar" not in str(field.annotation)]
    parameters = griffe.Parameters(
        griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword),
        *(griffe.Parameter(each.name, annotation=each.annotation, kind=kind, default=each.value) for each in fields),
    )
    return griffe.Function("__init__", parameters=parameters, parent=cls)
