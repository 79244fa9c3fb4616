"""The page on split criteria: its config and its commands work."""

from __future__ import annotations

import re
from pathlib import Path

from tests.helpers import ROOT
from tests.helpers.command import splitlab


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "criteria.md").read_text()
    config = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert config
    (tmp_path / "mine.yaml").write_text(config[1])
    commands = [line for line in page.splitlines() if line.startswith("splitlab ")]
    assert len(commands) == 5
    for command in commands:
        done = splitlab(*command.split()[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "mine" / "report.html").is_file()
    for name in re.findall(r"^\| `(\w+)\.csv`", page, re.MULTILINE):
        written = (tmp_path / "results" / "mine" / f"{name}.csv").is_file()
        assert written == (name not in ("statements", "nominal")), name
