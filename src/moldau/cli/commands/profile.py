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
    """Store clusters by name.

    Every command that talks to a cluster accepts --profile NAME, and otherwise uses the current profile. Profiles are
    stored in a file that only you can read.
    """


@command.command("add")
@click.argument("name")
@click.option(
    "--bootstrap-server",
    "-b",
    metavar="HOST:PORT",
    required=True,
    help="The address of the cluster; several are separated by commas.",
)
@click.option(
    "--command-config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A properties file for the Kafka client, which is copied into the profile.",
)
@click.option(
    "--command-property",
    "-X",
    metavar="KEY=VALUE",
    type=KeyValue(),
    multiple=True,
    help="One client property. Overrides the file. Repeatable.",
)
@click.option("--use", "use_it", is_flag=True, help="Make it the current profile.")
@click.option("--force", is_flag=True, help="Overwrite an existing profile of this name.")
def add(
    name: str,
    bootstrap_server: str,
    command_config: str | None,
    command_property: Iterable[tuple[str, str]],
    use_it: bool,
    force: bool,
) -> None:
    """Store a cluster as profile NAME."""
    parse(bootstrap_server)
    profiles = Profiles.load()
    if name in profiles.named and not force:
        raise Failure(f"profile '{name}' already exists.", "Pass --force to overwrite it.")
    properties = read_properties(command_config) if command_config else {}
    properties.update(command_property)
    properties[BOOTSTRAP_SERVERS] = bootstrap_server
    profiles = profiles.with_profile(name, properties)
    if use_it:
        profiles = profiles.using(name)
    profiles.save()
    hint = (
        "It is the current profile."
        if profiles.current == name
        else f"`moldau profile use {name}` makes it the current one."
    )
    click.echo(f"Profile '{name}' is stored in {profiles_path()}. {hint}")


@command.command("use")
@click.argument("name", required=False, shell_complete=complete_profile)
@click.option("--none", "nobody", is_flag=True, help="Use no profile.")
def use(name: str | None, nobody: bool) -> None:
    """Make NAME the current profile. Commands use it if neither --bootstrap-server nor --profile is given."""
    if (name is None) != nobody:
        raise click.UsageError("Pass either NAME or --none.")
    Profiles.load().using(name).save()
    click.echo(
        "There is no current profile now." if name is None else f"Profile '{name}' is now the current one."
    )


@command.command("list")
@output_option
def list_command(output: str) -> None:
    """List the profiles, without their secrets."""
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
            "No profiles. Create one with `moldau profile add NAME --bootstrap-server HOST:PORT`.", err=True
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
    """Delete profile NAME."""
    profiles = Profiles.load()
    was_in_use = profiles.current == name
    profiles.without(name).save()
    click.echo(f"Deleted profile '{name}'." + (" There is no current profile now." if was_in_use else ""))
