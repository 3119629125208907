"""What a shell offers after a tab."""

import re

from click.testing import CliRunner

from tests.support.command import MAINS


def offers(line: str) -> list[str]:
    """Return what bash is offered, which breaks words at some characters."""
    name = line.split(maxsplit=1)[0]
    last = re.split("[ :=@]", line)[-1]
    variables = {f"_{name}_complete".upper(): "bash_complete", "COMP_WORDS": line}
    ran = CliRunner().invoke(MAINS[name], env=variables | {"COMP_CWORD": last}, prog_name=name)
    assert ran.exit_code == 0, ran.output
    return [one.removeprefix("plain,") for one in ran.stdout.split("\n") if one]
