"""`judged completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from judged.cli.command import Command

SHELLS = ("bash", "zsh", "fish")


EXAMPLES = """\b
Examples:
  eval "$(judged completion bash)"                # in ~/.bashrc
  eval "$(judged completion zsh)"                 # in ~/.zshrc
  judged completion fish > ~/.config/fish/completions/judged.fish
"""


@click.command("completion", cls=Command, epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion script for SHELL, for its start-up file."""
    from judged.cli.main import judged

    complete = get_completion_class(shell)
    assert complete is not None  # noqa: S101 - click knows the three shells that the choice allows
    click.echo(complete(judged, {}, "judged", "_JUDGED_COMPLETE").source())
