"""_abi.py says what stencilgen.h says: the C compiler lays out every struct and numbers every enum, and the declarations
of functions, members and callbacks are read out of the preprocessed header."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from stencilgen import _abi

COMPILER = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler to ask")

STRUCTS = {
    name: kind
    for name, kind in vars(_abi).items()
    if name.startswith("sg_") and isinstance(kind, type) and issubclass(kind, ctypes.Structure)
}


@pytest.fixture(scope="module")
def header() -> str:
    """The header as C has it, on one line, without what other headers declare."""
    command = [COMPILER, "-E", "-P", "-I", str(ROOT / "runtime"), "-x", "c", "-"]
    text = subprocess.run(command, input="#include <stencilgen.h>\n", capture_output=True, text=True, check=True).stdout
    text = re.sub(r"__attribute__\(\(.*?\)\)\)?", "", text)
    return re.sub(r"\s+", " ", text[text.index("typedef enum sg_status") :])


def kind_of(declaration: str, enums: set[str]) -> str:
    """What ctypes must know of a C declaration: a pointer, or which number."""
    words = declaration.replace("const ", "").strip()
    if (
        "*" in words
        or "[" in words
        or re.match(r"sg_(stream|resize|log|finding|monitor_seen|points_read|points_write)\b(?!_)", words)
    ):
        return "pointer"
    first = words.split()[0]
    return "int" if first in enums else first


KINDS = {
    ctypes.c_int: "int", ctypes.c_size_t: "size_t", ctypes.c_int64: "int64_t", ctypes.c_double: "double",
    ctypes.c_uint64: "uint64_t", None: "void",
}  # fmt: skip
# c_size_t and c_uint64 are one type on 64 bits, as c_int64 is that of long.
SAME = {"uint64_t": "size_t"}


def kind_of_ctypes(kind: object) -> str:
    found = KINDS.get(kind)  # type: ignore[call-overload]
    if found is not None:
        return SAME.get(found, found)
    if isinstance(kind, type) and issubclass(kind, ctypes.Array):
        return f"{kind_of_ctypes(kind._type_)}[{kind._length_}]"
    if isinstance(kind, type) and issubclass(kind, ctypes.Structure):
        return kind.__name__
    return "pointer"


def parameters_of(text: str) -> list[str]:
    """Splits at the commas outside of parentheses."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    parts.append(text[begin:])
    return [p.strip() for p in parts if p.strip() not in ("", "void")]


def test_enums(header: str) -> None:
    declared = {}
    for names, enum in re.findall(r"typedef enum \w+ \{([^}]*)\} (\w+);", header):
        declared[enum] = tuple(n.strip() for n in names.split(",") if n.strip())
    assert declared == _abi.ENUMS  # a name with a value of its own, "A = 3", would differ too


def members_of(body: str) -> list[tuple[str, str]]:
    """(name, declaration) of each member."""
    members = []
    for line in (part.strip() for part in body.split(";")):
        if not line:
            continue
        callback = re.match(r"(\w+) \(\*(\w+)\)\(.*\)$", line)
        if callback:
            members.append((callback.group(2), "void *"))
            continue
        first, *others = parameters_of(line)
        base = re.match(r"((?:const )?(?:struct )?\w+)", first)
        assert base is not None, line
        for part in [first[base.end() :], *others]:
            name = re.sub(r"\[.*?\]|[*]|const ", "", part).strip()
            members.append((name, f"{base.group(1)} {part}"))
    return members


def test_members_and_their_kinds(header: str) -> None:
    enums = set(_abi.ENUMS)
    declared = dict((name, body) for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", header))
    assert set(declared) == set(STRUCTS)
    for name, body in declared.items():
        expected = []
        for member, declaration in members_of(body):
            length = re.search(r"\[(\d+)\]", declaration)
            plain = kind_of(re.sub(r"\[\d+\]", "", declaration), enums)
            expected.append(
                (member, f"{SAME.get(plain, plain)}[{length.group(1)}]" if length else SAME.get(plain, plain))
            )
        assert expected == [(m, kind_of_ctypes(k)) for m, k in STRUCTS[name]._fields_], name


def test_layout(header: str, tmp_path: Path) -> None:
    lines = ["#include <stencilgen.h>", "#include <stdio.h>", "int main(void) {"]
    expected = []
    for name, kind in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(kind)}")
        for member, _ in kind._fields_:
            lines.append(
                f'printf("{name}.{member} %zu %zu\\n", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));'
            )
            field = getattr(kind, member)
            expected.append(f"{name}.{member} {field.offset} {field.size}")
    for value, number in _abi.VALUES.items():
        lines.append(f'printf("{value} %d\\n", {value});')
        expected.append(f"{value} {number}")
    (tmp_path / "a.c").write_text("\n".join([*lines, "return 0;", "}"]))
    command = [str(COMPILER), "-I", str(ROOT / "runtime"), str(tmp_path / "a.c"), "-o", str(tmp_path / "a")]
    subprocess.run(command, check=True)
    told = subprocess.run([str(tmp_path / "a")], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == expected
    assert len(expected) > 300


def test_functions(header: str) -> None:
    enums = set(_abi.ENUMS)
    without_bodies = re.sub(r"\{.*?\}", "", header)
    declared = {}
    for statement in without_bodies.split(";"):
        found = re.match(r"\s*(?!typedef)((?:const )?\w+ \**)(sg_\w+)\((.*)\)\s*$", statement)
        if found:
            result, name, parameters = found.groups()
            kinds = [kind_of(p, enums) if "(*" not in p else "pointer" for p in parameters_of(parameters)]
            declared[name] = (kind_of(result, enums), [SAME.get(k, k) for k in kinds])
    told = {
        name: (kind_of_ctypes(result), [kind_of_ctypes(a) for a in arguments])
        for name, (result, arguments) in _abi.FUNCTIONS.items()
    }
    assert declared == told
    assert len(declared) > 60


def test_the_library_has_all() -> None:
    assert all(hasattr(_abi.lib, name) for name in _abi.FUNCTIONS)
