"""`moldau profile`: add, use, list and remove named clusters."""

from collections.abc import Iterable, Mapping

import click

from moldau.cli.client.addresses import parse
from moldau.cli.failures import Failure
from moldau.cli.options import KeyValue, complete_profile, read_properties
from moldau.cli.profiles import BOOTSTRAP_SERVERS, Profiles, profiles_path
from moldau.cli.render.output import columns, output_option, print_data

SECRETS = ("password", "secret", "token", "jaas", "key.pem")

name_argument = click.argument("name", shell_complete=complete_profile)


@click.group("profile")
def command() -> None:
    """Keep clusters by name, so that commands need not be told where they are.

    Every command that talks to a cluster takes --profile NAME; without it the one in use. Profiles are kept in
    a file of yours that nobody else may read.
    """


@command.command("add")
@click.argument("name")
@click.option(
    "--bootstrap-server", "-b", metavar="HOST:PORT", required=True, help="Several separated by commas."
)
@click.option(
    "--command-config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A properties file for the Kafka client; what it says is copied.",
)
@click.option(
    "--command-property",
    "-X",
    metavar="KEY=VALUE",
    type=KeyValue(),
    multiple=True,
    help="One such property; may be repeated, and wins over the file.",
)
@click.option("--use", "use_it", is_flag=True, help="Use it from now on.")
@click.option("--force", is_flag=True, help="In place of a profile of that name.")
def add(
    name: str,
    bootstrap_server: str,
    command_config: str | None,
    command_property: Iterable[tuple[str, str]],
    use_it: bool,
    force: bool,
) -> None:
    """Keep a cluster under NAME."""
    parse(bootstrap_server)
    profiles = Profiles.load()
    if name in profiles.named and not force:
        raise Failure(f"there is a profile '{name}' already.", "Pass --force to write over it.")
    properties = read_properties(command_config) if command_config else {}
    properties.update(command_property)
    properties[BOOTSTRAP_SERVERS] = bootstrap_server
    profiles = profiles.with_profile(name, properties)
    if use_it:
        profiles = profiles.using(name)
    profiles.save()
    hint = "It is in use." if profiles.current == name else f"`moldau profile use {name}` takes it into use."
    click.echo(f"Profile '{name}' is kept in {profiles_path()}. {hint}")


@command.command("use")
@click.argument("name", required=False, shell_complete=complete_profile)
@click.option("--none", "nobody", is_flag=True, help="No profile is in use any more.")
def use(name: str | None, nobody: bool) -> None:
    """Use profile NAME where no cluster is named."""
    if (name is None) != nobody:
        raise click.UsageError("Name a profile, or pass --none.")
    Profiles.load().using(name).save()
    click.echo("No profile is in use." if name is None else f"Profile '{name}' is in use.")


@command.command("list")
@output_option
def list_command(output: str) -> None:
    """List the profiles; secrets are not shown."""
    profiles = Profiles.load()
    shown = {name: _without_secrets(properties) for name, properties in sorted(profiles.named.items())}
    if output != "table":
        print_data(
            output,
            [
                {"profile": name, "in_use": name == profiles.current, "properties": shown[name]}
                for name in shown
            ],
        )
        return
    if not shown:
        click.echo(
            "No profiles. Make one with `moldau profile add NAME --bootstrap-server HOST:PORT`.", err=True
        )
        return
    rows = [
        (
            "*" if name == profiles.current else " ",
            name,
            properties.get(BOOTSTRAP_SERVERS),
            " ".join(f"{key}={value}" for key, value in properties.items() if key != BOOTSTRAP_SERVERS)
            or None,
        )
        for name, properties in shown.items()
    ]
    click.echo(columns((" ", "PROFILE", "BOOTSTRAP SERVER", "PROPERTIES"), rows))


def _without_secrets(properties: Mapping[str, str]) -> dict[str, str]:
    return {
        key: "(hidden)" if any(word in key for word in SECRETS) else value
        for key, value in properties.items()
    }


@command.command("remove")
@name_argument
def remove(name: str) -> None:
    """Forget profile NAME."""
    profiles = Profiles.load()
    was_in_use = profiles.current == name
    profiles.without(name).save()
    click.echo(f"Profile '{name}' is forgotten." + (" No profile is in use now." if was_in_use else ""))
