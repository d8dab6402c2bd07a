# SPDX-License-Identifier: Apache-2.0
"""Runs the code cells of a notebook, one after the other, without Jupyter: the value of a cell's last expression is printed, as
Jupyter shows it, and a picture is read in place of being shown.

    notebook.py FILE.ipynb

Fails where a cell does, where the file holds outputs, which change with every run, or where it is none of the format 4.
"""
import ast
import json
import os
import sys
import types


class SVG:
    """As IPython.display.SVG, which need not be there."""

    def __init__(self, filename):
        with open(filename, encoding="utf-8") as file:
            self.text = file.read()
        assert "<svg" in self.text and self.text.rstrip().endswith("</svg>"), f"{filename} is no picture"

    def __repr__(self):
        return f"<SVG of {len(self.text)} characters>"


def run(source, place, names):
    tree = ast.parse(source, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, place, "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), place, "eval"), names)
        if value is not None:
            print(repr(value))


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        book = json.load(file)
    assert book["nbformat"] == 4, "expected the format 4"
    shown = types.ModuleType("IPython.display")
    shown.SVG, shown.display = SVG, lambda *values: print(*values)
    root = types.ModuleType("IPython")
    root.get_ipython = lambda: None  # matplotlib asks: this is no Jupyter
    sys.modules["IPython"], sys.modules["IPython.display"] = root, shown
    os.environ.setdefault("MPLBACKEND", "Agg")
    names, ran = {"__name__": "__main__"}, 0
    for number, cell in enumerate(book["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None, f"cell {number} holds what it once printed"
        run("".join(cell["source"]), f"{os.path.basename(path)}, cell {number}", names)
        ran += 1
    assert ran > 0, "it has no code"
    print(f"{ran} cells ran")


if __name__ == "__main__":
    main()
