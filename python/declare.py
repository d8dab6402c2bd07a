#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the declarations that ctypes needs from the public headers, so that no layout is copied by hand:

  python/declare.py HEADERS VERSION OUTPUT

HEADERS is the folder include/synfire, VERSION that of the library. What is read is the C of these headers and no more: integer constants, enums,
structs (with arrays, pointers, pointers to functions and one anonymous union), functions. What is not understood is
refused. tests/python/layout.py holds every size and offset against the C compiler's.
"""
from __future__ import annotations

import keyword
import pathlib
import re
import sys

SCALARS = {
    "bool": "c_bool", "char": "c_char", "int": "c_int", "unsigned": "c_uint", "float": "c_float",
    "double": "c_double", "size_t": "c_size_t", "int8_t": "c_int8", "int32_t": "c_int32", "int64_t": "c_int64", "uint8_t": "c_uint8",
    "uint16_t": "c_uint16", "uint32_t": "c_uint32", "uint64_t": "c_uint64",
}
PYTHON_TYPES = {"c_bool": "bool", "c_float": "float", "c_double": "float", "c_char_p": "bytes | None"}
LIMITS = {"UINT32_MAX": 2**32 - 1, "UINT64_MAX": 2**64 - 1, "SIZE_MAX": 2**64 - 1}


class Refused(Exception):
    """What the headers say and this does not understand."""


class Headers:
    """What the headers declare, in their order."""

    def __init__(self) -> None:
        self.constants: dict[str, int] = dict(LIMITS)
        self.reals: dict[str, float] = {}
        self.words: dict[str, dict[int, str]] = {}  # of each enum whose inline function names its values
        self.enums: dict[str, dict[str, int]] = {}
        self.structs: dict[str, list[tuple[str, str]]] = {}
        self.opaque: list[str] = []
        self.unions: dict[str, str] = {}  # of a struct that has one, the name of its anonymous union
        self.enum_fields: dict[str, str] = {}  # "struct.field": its enum
        self.defaults: dict[str, list[int]] = {}  # of a macro like {SF_A, NULL, true, 100}: its fields in order
        self.callbacks: dict[str, str] = {}
        self.functions: dict[str, tuple[str, list[str]]] = {}

    # ---- words ----

    def read(self, text: str) -> None:
        text = re.sub(r"/\*.*?\*/|//[^\n]*|\\\n", " ", text, flags=re.S)
        for name, value in re.findall(r"^#define (SF_\w+) +([\w.]+)$", text, re.M):
            if "." in value:
                self.reals[name] = float(value)
            else:
                self.constants[name] = self.number(value)
        defaults = re.findall(r"^#define (SF_\w+)\s*\{([^}]*)\}", text, re.M)
        spelling = re.findall(r"static inline const char \*sf_\w+\((sf_\w+) \w+\)\n\{(.*?)\n\}", text, re.S)
        cases = [(of, re.findall(r'case (SF_\w+):\s*return "([^"]*)";', body)) for of, body in spelling]
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        text = re.sub(r'extern "C" \{', "", text)
        tokens = re.findall(r"\w+|[^\s\w]", text)
        place = 0
        while place < len(tokens):
            if tokens[place] == "}":  # of extern "C"
                place += 1
                continue
            end = self.statement_end(tokens, place)
            self.statement(tokens[place:end])
            place = end
        for name, values in defaults:
            named = {"NULL": "0", "true": "1", "false": "0"}
            self.defaults[name] = [self.number(named.get(value.strip(), value.strip())) for value in values.split(",")]
        for of, words in cases:
            self.words[of] = {self.constants[name]: word for name, word in words}

    @staticmethod
    def statement_end(tokens: list[str], place: int) -> int:
        """Beyond the semicolon, or beyond the body of an inline function."""
        depth, inline = 0, tokens[place] == "static"
        while True:
            depth += {"{": 1, "}": -1}.get(tokens[place], 0)
            place += 1
            if depth == 0 and (tokens[place - 1] == ";" or (inline and tokens[place - 1] == "}")):
                return place

    def number(self, text: str) -> int:
        words = [str(self.constants.get(word, word)) for word in re.findall(r"\w+|[-+*<]+|[()]", text)]
        expression = re.sub(r"\b(\d+)[uU]\b", r"\1", " ".join(words))
        if not re.fullmatch(r"[-+*<() \d]+", expression):
            raise Refused(f"no number: {text}")
        return int(eval(expression))  # digits and signs alone

    # ---- statements ----

    def statement(self, tokens: list[str]) -> None:
        if tokens[0] == "static":
            return
        if tokens[0] == "SF_API":
            self.function(tokens[1:-1])
        elif tokens[:2] == ["typedef", "enum"]:
            self.enum(tokens)
        elif tokens[:2] == ["typedef", "struct"] and "{" not in tokens:
            self.opaque.append(tokens[-2])
        elif tokens[:2] == ["typedef", "struct"]:
            self.struct(tokens[-2], tokens[tokens.index("{") + 1:-3])
        elif tokens[0] == "struct":
            self.struct(tokens[1], tokens[3:-2])
        elif tokens[0] == "typedef" and "(" in tokens:
            name = tokens[tokens.index("(") - 1]
            self.callbacks[name] = self.prototype(tokens[1:tokens.index(name)], tokens[tokens.index("("):-1])
        else:
            raise Refused(" ".join(tokens))

    def enum(self, tokens: list[str]) -> None:
        members: dict[str, int] = {}
        value = -1
        for item in " ".join(tokens[tokens.index("{") + 1:tokens.index("}")]).split(","):
            if item.strip():
                name, _, given = item.partition("=")
                value = self.number(given.replace(" ", "")) if given else value + 1
                members[name.strip()] = value
        self.constants.update(members)
        self.enums[tokens[-2]] = members

    def struct(self, name: str, tokens: list[str]) -> None:
        fields: list[tuple[str, str]] = []
        while tokens:
            end = self.statement_end(tokens, 0)
            if tokens[0] == "union":
                self.unions[name] = f"{name}_union"
                self.struct(self.unions[name], tokens[2:end - 2])
                fields.append(("of_topic", self.unions[name]))
            else:
                found = self.members(tokens[:end - 1])
                if tokens[0] in self.enums:
                    self.enum_fields.update((f"{name}.{field}", tokens[0]) for field, _ in found)
                fields += found
            tokens = tokens[end:]
        self.structs[name] = fields
        if name in self.opaque:
            self.opaque.remove(name)

    def members(self, tokens: list[str]) -> list[tuple[str, str]]:
        """One line of a struct: a base type and one or more names, each with stars and lengths."""
        if "(" in tokens:  # a pointer to a function: RESULT ( * NAME ) ( ... )
            opening = tokens.index("(")
            kind = self.prototype(tokens[:opening], tokens[opening + 4:])
            return [(tokens[opening + 2], kind)]
        base, rest = self.base_type(tokens)
        found = []
        for declarator in " ".join(rest).split(","):
            words = declarator.replace("const", "").split()
            stars = words.count("*")
            name = next(word for word in words if re.fullmatch(r"[a-z]\w*", word))
            lengths = [self.number(length) for length in re.findall(r"\[([^]]*)\]", declarator)]
            kind = self.pointed(base, stars)
            for length in reversed(lengths):
                kind = f"{kind} * {length}" if "*" not in kind else f"({kind}) * {length}"
            found.append((name + "_" * keyword.iskeyword(name), kind))
        return found

    def base_type(self, tokens: list[str]) -> tuple[str, list[str]]:
        words = [token for token in tokens if token not in ("const", "struct")]
        return words[0], words[1:]

    def pointed(self, base: str, stars: int) -> str:
        if base in self.callbacks and stars == 1:
            return base
        if base == "void":
            if stars == 0:
                return "None"
            kind, stars = "c_void_p", stars - 1
        elif base == "char" and stars > 0:
            kind, stars = "c_char_p", stars - 1
        elif base in self.enums:
            kind = "c_int"
        elif base in SCALARS:
            kind = SCALARS[base]
        elif base in self.structs or base in self.opaque:
            kind = base
        else:
            raise Refused(f"an unknown type: {base}")
        return "POINTER(" * stars + kind + ")" * stars

    def parameters(self, tokens: list[str]) -> list[str]:
        """Of ( TYPE NAME, ... ); an array stands for a pointer."""
        kinds = []
        for item in " ".join(tokens[1:-1]).split(","):
            words = item.split()
            if words == ["void"]:
                continue
            base, rest = self.base_type(words)
            kinds.append(self.pointed(base, rest.count("*") + rest.count("[")))
        return kinds

    def prototype(self, result: list[str], parameters: list[str]) -> str:
        base, rest = self.base_type(result)
        return "CFUNCTYPE(" + ", ".join([self.pointed(base, rest.count("*")), *self.parameters(parameters)]) + ")"

    def function(self, tokens: list[str]) -> None:
        opening = tokens.index("(")
        base, rest = self.base_type(tokens[:opening - 1])
        self.functions[tokens[opening - 1]] = (
            self.pointed(base, rest.count("*")), self.parameters(tokens[opening:]))


def annotation(kind: str) -> str:
    if kind.startswith("c_char *"):
        return "bytes"
    if " * " in kind or kind.startswith(("POINTER", "CFUNCTYPE", "sf_")) or kind == "c_void_p":
        return "Any"
    return PYTHON_TYPES.get(kind, "int")


def text_of(headers: Headers, version: str) -> str:
    lines = ["# SPDX-License-Identifier: Apache-2.0",
             '"""The public headers as ctypes has them: written by declare.py."""',
             "# fmt: off",
             "from __future__ import annotations", "",
             "from ctypes import (  # noqa: F401",
             "    CFUNCTYPE, POINTER, Structure, Union, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32,",
             "    c_int64, c_int8, c_size_t, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)",
             "from typing import Any", "",
             f'VERSION = "{version}"', ""]
    lines += [f"{name} = {value}" for name, value in headers.constants.items() if name.startswith("SF_")]
    lines += [f"{name} = {value}" for name, value in headers.reals.items()]
    lines += ["", "ENUMS: dict[str, dict[str, int]] = {"]
    lines += [f'    "{name}": {{' + ", ".join(f'"{key}": {value}' for key, value in members.items()) + "},"
              for name, members in headers.enums.items()]
    lines += ["}", "", "# Fields that are one of these, as struct.field.", "ENUM_FIELDS: dict[str, str] = {"]
    lines += [f'    "{field}": "{name}",' for field, name in headers.enum_fields.items()]
    lines += ["}", "", f"DEFAULTS: dict[str, list[int]] = {headers.defaults}"]
    lines += ["", f"WORDS: dict[str, dict[int, str]] = {headers.words}", ""]
    unions = set(headers.unions.values())
    for name in headers.opaque:
        lines += ["", f"class {name}(Structure):", "    pass", ""]
    for name, fields in headers.structs.items():
        lines += ["", f"class {name}({'Union' if name in unions else 'Structure'}):"]
        shown = list(fields)
        if name in headers.unions:
            shown += headers.structs[headers.unions[name]]
        lines += [f"    {field}: {annotation(kind)}" for field, kind in shown] + [""]
    lines += [""]
    lines += [f"{name} = {kind}" for name, kind in headers.callbacks.items()]
    for name, fields in headers.structs.items():
        if name in headers.unions:
            lines.append(f'{name}._anonymous_ = ("of_topic",)')
        lines.append(f"{name}._fields_ = [")
        lines += [f'    ("{field}", {kind}),' for field, kind in fields]
        lines.append("]")
    lines += ["", "# Of each function what it returns and takes.",
              "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"]
    lines += [f'    "{name}": ({result}, [{", ".join(kinds)}]),' for name, (result, kinds) in headers.functions.items()]
    lines += ["}", "", "OPAQUE = (" + ", ".join(f'"{name}"' for name in headers.opaque) + ")",
              "STRUCTS: dict[str, Any] = {"]
    lines += [f'    "{name}": {name},' for name in headers.structs if name not in unions]
    lines += ["}", ""]
    return "\n".join(lines)


def order_of(folder: pathlib.Path) -> list[pathlib.Path]:
    """The headers, each after those that it includes."""
    found: list[pathlib.Path] = []

    def visit(path: pathlib.Path) -> None:
        for name in re.findall(r"^#include <synfire/(\w+\.h)>", path.read_text(), re.M):
            visit(folder / name)
        if path not in found:
            found.append(path)

    visit(folder / "synfire.h")
    return found


def declarations(folder: pathlib.Path, version: str) -> str:
    """The module as text, of the headers in this folder."""
    headers = Headers()
    for path in order_of(folder):
        try:
            headers.read(path.read_text())
        except Refused as refused:
            raise SystemExit(f"declare.py: {path}: {refused}: declare.py does not understand this yet") from None
    return text_of(headers, version)


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 64
    pathlib.Path(sys.argv[3]).write_text(declarations(pathlib.Path(sys.argv[1]), sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
