"""The command ``split``: a contingency table from a csv file, split by one splitter or compared over several."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from splitlab.cli.options import DONE, Commands, add_no_plugins, import_named, numbers

if TYPE_CHECKING:
    from splitlab.api import Split
    from splitlab.tables.csv_file import LabelledTable

THOUSANDS = {",": ",", ".": ".", "'": "'", " ": " ", "space": " ", "none": "none"}


def add_split(commands: Commands) -> None:
    """Add the command."""
    split = commands.add_parser("split", help="split a contingency table of your own")
    split.add_argument("file", type=Path, metavar="FILE.csv", help="one row per value, one column per class")
    names = "names, or package.module:function, with commas between several to compare (default: hcc)"
    split.add_argument("--splitter", default="hcc", metavar="NAME,...", help=names)
    split.add_argument("--impurity", default="gini", help="its name, or package.module:function (default: gini)")
    direction = "for --splitter direction: one number per class (--direction=-1,0,2 where it begins with a minus)"
    split.add_argument("--direction", type=numbers, metavar="1,0,0.5", help=direction)
    split.add_argument("--collapsed", action="store_true", help="choose the prefix by the table collapsed along it")
    split.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    add_no_plugins(split)
    file = split.add_argument_group("what the file holds", "Recognised where the file tells; else an error asks.")
    either = argparse.BooleanOptionalAction
    file.add_argument("--header", action=either, help="the first line names the classes")
    file.add_argument("--labels", action=either, help="the first column names the values")
    file.add_argument("--separator", type=_separator, metavar="C", help="between cells: a character, or tab")
    thousands = "between thousands in counts: , . ' space or none"
    file.add_argument("--thousands", choices=THOUSANDS, metavar="C", help=thousands)
    file.add_argument("--margins", action=either, help="the last row or column is the sum of the others: leave it out")
    file.add_argument("--merge", action="store_true", help="add up rows of the same value, columns of the same class")
    file.add_argument("--transpose", action="store_true", help="one row per class, one column per value")
    file.add_argument("--raw", action="store_true", help="each line is one example: count them")
    file.add_argument("--value", metavar="COLUMN", help="with --raw: name or number (from 1) of the attribute")
    file.add_argument("--target", metavar="COLUMN", help="with --raw: name or number (from 1) of the class")
    split.set_defaults(command=split_command)


def _separator(text: str) -> str:
    text = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(text) != 1 or text in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r} is not a separator; give one character, such as ; or the word tab")
    return text


def split_command(args: argparse.Namespace) -> int:
    """Split a table from a file."""
    from dataclasses import replace

    from splitlab.api import split
    from splitlab.tables.csv_file import CsvOptions, read_table

    if (args.value or args.target) and not args.raw:
        raise ValueError(f"--{'value' if args.value else 'target'} goes with --raw, which counts lines")
    options = CsvOptions(
        args.header, args.labels, args.separator, THOUSANDS.get(args.thousands), args.margins, args.merge,
        args.transpose, args.raw, args.value, args.target,
    )  # fmt: skip
    table = read_table(args.file, options)
    import_named({"splitters": args.splitter, "impurities": args.impurity}, not args.no_plugins)
    names = list(dict.fromkeys(args.splitter.split(",")))
    along = "direction" if "direction" in names else names[0]  # where these do not fit, the error says so
    values = table.values or tuple(f"row {v + 1}" for v in range(len(table.counts)))
    classes = table.classes or tuple(f"class {i + 1}" for i in range(table.counts.shape[1]))
    found = {}
    for name in names:
        how = (args.direction, args.collapsed) if name == along else (None, False)
        try:
            one: Split = split(table.counts, args.impurity, name, *how)
            found[name] = replace(one, values=values, classes=classes)
        except ValueError as error:
            raise ValueError(f"{args.file}: {error}") from None
    if args.json:
        print(json.dumps(_as_json(args.file, table, args.impurity, found)))
    else:
        _show(args.file, table, args.impurity, found)
    return DONE


def _least(found: dict[str, Split]) -> list[str]:
    """The splitters of least impurity, by the tolerance of a win."""
    best = min(found.values(), key=lambda split: split.impurity)
    tolerance = 1e-9 * best.impurity + 1e-12 * float(best.counts.sum())
    return [name for name, split in found.items() if split.impurity <= best.impurity + tolerance]


def _show(file: Path, table: LabelledTable, impurity: str, found: dict[str, Split]) -> None:
    from splitlab.splitters import get
    from splitlab.text import escape

    print(f"{escape(str(file))}: {table.recognised}")
    for note in table.notes:
        print(f"note: {escape(note)}")
    least = _least(found)
    chosen = found[least[0]]
    titles = {name: get(name).title for name in found}
    if len(found) > 1:
        print(f"\n{'splitter':<20}  {impurity:>15}  {'gain':>12}")
        for name, split in found.items():
            mark = "  *" if name in least else ""
            print(f"{titles[name]:<20}  {split.impurity:>15.10g}  {split.gain:>12.10g}{mark}")
        print(f"* least impurity; below, the split of {titles[least[0]]}\n")
    print(f"{titles[least[0]]}, {impurity}: impurity {chosen.impurity:.10g}, gain {chosen.gain:.10g}\n")
    print(f"{chosen}\n")
    for side, labels in (("left", chosen.left_labels), ("right", chosen.right_labels)):
        print(f"{side}: {', '.join(map(escape, labels))}")


def _as_json(file: Path, table: LabelledTable, impurity: str, found: dict[str, Split]) -> dict[str, Any]:
    from splitlab.splitters import get

    any_split = next(iter(found.values()))
    least = _least(found)
    return {
        "file": str(file),
        "recognised": table.recognised,
        "notes": list(table.notes),
        "values": list(any_split.values),
        "classes": list(any_split.classes),
        "counts": table.counts.tolist(),
        "impurity": impurity,
        "results": [
            {
                "splitter": name,
                "title": get(name).title,
                "impurity": split.impurity,
                "gain": split.gain,
                "least": name in least,
                "left": {"values": split.left_labels, "counts": split.left_counts.tolist()},
                "right": {"values": split.right_labels, "counts": split.right_counts.tolist()},
            }
            for name, split in found.items()
        ],
    }
