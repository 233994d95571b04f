"""`moldau completion`: prints the completion script for a shell."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL, which completes commands, options and names in the cluster.

    \b
    bash:  moldau completion bash > ~/.local/share/bash-completion/completions/moldau
    zsh:   moldau completion zsh > "${fpath[1]}/_moldau"
    fish:  moldau completion fish > ~/.config/fish/completions/moldau.fish
    """
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(ctx.find_root().command, {}, "moldau", "_MOLDAU_COMPLETE").source())
