"""Scripts that run several configurations, made of templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import ConfigurationError
from batsched_py.haizea.sample import sample_files
from batsched_py.haizea.script import read_template, render_script
from batsched_py.reading.limits import LIMITS

CONFIGS = [("a_x", Path("/c/a_x.conf")), ("b_x", Path("/c d/b_x.conf"))]


def rendered(template: str, configs: list[tuple[str, Path]] | None = None) -> str:
    """The script of two configurations, or of these."""
    return render_script(template, "t", CONFIGS if configs is None else configs, Path("/c"))


def test_the_lines_of_the_loop_are_written_for_each_configuration() -> None:
    """As in Haizea's own template: a name and a file."""
    loop = "  % for (configname, configfile) in configs:\necho ${configname}\nrun ${ configfile }\n% endfor\n"
    template = f"#!/bin/bash\n\n{loop}end"
    assert rendered(template) == "#!/bin/bash\n\necho a_x\nrun /c/a_x.conf\necho b_x\nrun /c d/b_x.conf\nend"


def test_the_folder_is_known_inside_and_outside_of_the_loop() -> None:
    """Comments are left out, and what a shell says with a dollar sign is not touched."""
    template = "## a comment\ncd ${etcdir}\n%% of $HOME, $(Process)\n% for n, f in configs:\n${etcdir}/${n}\n% endfor\n"
    assert rendered(template) == "cd /c\n% of $HOME, $(Process)\n/c/a_x\n/c/b_x\n"


def test_a_value_is_quoted_for_a_shell_where_that_is_asked_for() -> None:
    """Blanks in a folder's name break no command."""
    assert rendered("% for n, f in configs:\nrun ${f | sh}\n% endfor\n") == "run /c/a_x.conf\nrun '/c d/b_x.conf'\n"


def test_without_configurations_the_loop_is_written_never() -> None:
    """As with -m when all have run."""
    assert rendered("a\n% for n, f in configs:\n${n}\n% endfor\nb\n", []) == "a\nb\n"


@pytest.mark.parametrize("configs", [CONFIGS, []])
@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("a\n% for n in configs:\n% endfor\n", "t: line 2: must be % for name, file in configs: or its % endfor"),
        ("% endfor\n", "t: line 1: must be % for"),
        ("% for n, f in configs:\n", "t: line 1: has no % endfor"),
        ("% for n, f in configs:\n% for n, f in configs:\n", "t: line 2: must be"),
        ("<%! import os %>\n", "t: line 1: must be"),
        ("% import os\n", "t: line 1: must be"),
        ("${name}\n", "t: line 1: must be one of etcdir (| sh quotes it), not '${name}'"),
        ("% for n, f in configs:\n${f.read_text()}\n% endfor\n", "t: line 2: must be one of etcdir, n, f"),
        ("% for n, f in configs:\n${f | u}\n% endfor\n", "t: line 2: must be one of etcdir, n, f"),
    ],
)
def test_what_a_template_may_not_say_is_refused_with_its_line(
    template: str, line: str, configs: list[tuple[str, Path]]
) -> None:
    """Nothing in it is run; the same is said when there is nothing to write."""
    with pytest.raises(ConfigurationError) as caught:
        rendered(template, configs)
    assert line in str(caught.value)


def test_the_templates_that_come_along_run_each_configuration() -> None:
    """One for a shell, one for Condor."""
    files = sample_files("multi")
    shell, condor = rendered(files["run.sh.template"]), rendered(files["condor.template"])
    assert shell.splitlines()[1:3] == ["echo a_x", "batsched-py haizea /c/a_x.conf"]
    assert "batsched-py haizea '/c d/b_x.conf'" in shell
    assert condor.count("queue\n") == 2
    assert "arguments = batsched-py haizea /c/a_x.conf\n" in condor


def test_a_template_is_read_as_text(tmp_path: Path) -> None:
    """A file that is no template is named."""
    path = tmp_path / "t"
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match=f"{path}: must be text in UTF-8"):
        read_template(path, LIMITS)
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        read_template(tmp_path / "none", LIMITS)
