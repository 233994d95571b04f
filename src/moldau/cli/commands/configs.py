"""`moldau configs`: describe, set and unset settings of topics, brokers, groups and client metrics."""

from collections.abc import Sequence
from dataclasses import asdict

import click

from moldau.cli.client.config_queries import (
    ALL_BROKERS,
    KINDS,
    Alteration,
    Operation,
    Resource,
    Setting,
    alter,
    describe,
    resource_names,
)
from moldau.cli.client.connection import Cluster
from moldau.cli.failures import Failure, similar_names
from moldau.cli.options import KeyValue, complete_names, on_cluster
from moldau.cli.render.output import about, columns, output_option, print_data

kind_argument = click.argument("kind", type=click.Choice(list(KINDS)))


def complete_resource(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    kind = str(ctx.params.get("kind"))
    if kind == ALL_BROKERS or ctx.params.get(param.name or ""):
        return []
    return complete_names(ctx, incomplete, lambda cluster: resource_names(cluster, kind))


@click.group("configs")
def command() -> None:
    """Show and change settings.

    \b
    KIND is one of:
      topic NAME            a topic
      broker ID             one broker
      broker-defaults       defaults for all brokers without a value of their own
      group NAME            a consumer group
      client-metrics NAME   a client metrics subscription (KIP-714)
      broker-logger ID      the log levels of a broker
    """


def split_name(kind: str, words: Sequence[str]) -> tuple[Resource, Sequence[str]]:
    """Splits off the name of the resource. `broker-defaults` has none."""
    if kind == ALL_BROKERS:
        return Resource(kind, ""), words
    if not words:
        raise click.UsageError(f"The name of the {kind} is missing.")
    if "=" in words[0]:
        raise click.UsageError(f"The name of the {kind} is missing before '{words[0]}'.")
    return Resource(kind, words[0]), words[1:]


@command.command("describe")
@kind_argument
@click.argument("words", metavar="[NAME] [KEY]...", nargs=-1, shell_complete=complete_resource)
@click.option("--all", "everything", is_flag=True, help="Include settings at their defaults.")
@output_option
@on_cluster
def describe_command(
    cluster: Cluster, kind: str, words: Sequence[str], everything: bool, output: str
) -> None:
    """Show the settings that differ from the defaults. With KEY, shows details of this setting.

    Without NAME, shows all resources of this kind.
    """
    if not words and kind != ALL_BROKERS:
        chosen = [Resource(kind, name) for name in resource_names(cluster, kind)]
        keys: Sequence[str] = ()
    else:
        resource, keys = split_name(kind, words)
        chosen = [resource]
    found = {
        resource: _chosen(resource, settings, keys, everything)
        for resource, settings in describe(cluster, chosen).items()
    }
    if output != "table":
        print_data(
            output,
            [
                {
                    "kind": resource.kind,
                    "name": resource.name,
                    "configs": [_as_json(setting) for setting in settings],
                }
                for resource, settings in found.items()
            ],
            [
                {"kind": resource.kind, "name": resource.name, **_as_csv(setting)}
                for resource, settings in found.items()
                for setting in settings
            ],
        )
    elif keys:
        [settings] = found.values()
        click.echo("\n\n".join(_in_detail(setting) for setting in settings))
    else:
        _print_table(found, with_names=not words and kind != ALL_BROKERS)


def _chosen(
    resource: Resource, settings: Sequence[Setting], keys: Sequence[str], everything: bool
) -> Sequence[Setting]:
    if not keys:
        return [setting for setting in settings if everything or not setting.is_default]
    known = {setting.name: setting for setting in settings}
    for key in keys:
        if key not in known:
            similar = " or ".join(f"'{name}'" for name in similar_names(key, known))
            hint = f"Did you mean {similar}?" if similar else "--all lists all settings."
            raise Failure(f"there is no setting '{key}' of {resource}.", hint)
    return [known[key] for key in keys]


def _print_table(found: dict[Resource, Sequence[Setting]], with_names: bool) -> None:
    rows = [
        (resource.name or None, setting.name, setting.text, setting.source)
        for resource, settings in found.items()
        for setting in settings
    ]
    if not rows:
        click.echo("All settings have their defaults; --all lists them.", err=True)
    elif with_names:
        click.echo(columns(("NAME", "KEY", "VALUE", "SET BY"), rows))
    else:
        click.echo(columns(("KEY", "VALUE", "SET BY"), [row[1:] for row in rows]))


def _in_detail(setting: Setting) -> str:
    facts = [
        ("Setting", setting.name),
        ("Value", setting.text),
        ("Set by", setting.source),
        ("Type", setting.type or "-"),
        ("Changeable", "no, requires a restart" if setting.read_only else "at run time"),
    ]
    shown = [f"{source}: {name}={value}" for name, value, source in setting.synonyms if not setting.sensitive]
    facts += zip(["From", *[""] * len(shown)], shown, strict=False)
    return "\n".join([about(facts), *([setting.documentation] if setting.documentation else [])])


def _as_json(setting: Setting) -> dict[str, object]:
    fields = asdict(setting)
    fields["synonyms"] = [
        {"name": name, "value": value, "source": source} for name, value, source in setting.synonyms
    ]
    return fields


def _as_csv(setting: Setting) -> dict[str, object]:
    return {"key": setting.name, "value": setting.value, "source": setting.source, "type": setting.type}


@command.command("set")
@kind_argument
@click.argument("words", metavar="[NAME] KEY=VALUE...", nargs=-1, shell_complete=complete_resource)
@click.option("--dry-run", is_flag=True, help="Let the brokers validate the values, but change nothing.")
@on_cluster
def set_command(cluster: Cluster, kind: str, words: Sequence[str], dry_run: bool) -> None:
    """Change settings. Other settings stay unchanged.

    KEY+=VALUE appends to a list, KEY-=VALUE removes from it.
    """
    resource, pairs = split_name(kind, words)
    if not pairs:
        raise click.UsageError("Nothing to set: pass KEY=VALUE.")
    changes = [parse_change(pair) for pair in pairs]
    alter(cluster, resource, changes, dry_run)
    if dry_run:
        click.echo("The change is valid; nothing was changed.")
        return
    done = {
        Operation.SET: "set {}={}",
        Operation.APPEND: "appended to {}: {}",
        Operation.SUBTRACT: "removed from {}: {}",
    }
    said = ", ".join(done[operation].format(key, value) for key, operation, value in changes)
    click.echo(f"{_capital(resource)}: {said}.")


def parse_change(text: str) -> Alteration:
    key, value = KeyValue().convert(text, None, None)
    if key.endswith(("+", "-")):
        operation = Operation.APPEND if key.endswith("+") else Operation.SUBTRACT
        return Alteration(key[:-1].strip(), operation, value)
    return Alteration(key, Operation.SET, value)


@command.command("unset")
@kind_argument
@click.argument("words", metavar="[NAME] KEY...", nargs=-1, shell_complete=complete_resource)
@click.option("--dry-run", is_flag=True, help="Let the brokers validate the change, but change nothing.")
@on_cluster
def unset_command(cluster: Cluster, kind: str, words: Sequence[str], dry_run: bool) -> None:
    """Remove the values of settings, so that their defaults apply."""
    resource, keys = split_name(kind, words)
    if not keys:
        raise click.UsageError("Nothing to unset: pass KEY.")
    alter(cluster, resource, [Alteration(key, Operation.DELETE) for key in keys], dry_run)
    if dry_run:
        click.echo("The change is valid; nothing was changed.")
        return
    known = {setting.name: setting for setting in describe(cluster, [resource])[resource]}
    now = [f"{key} is now {known[key].text} ({known[key].source})" for key in keys if key in known]
    click.echo(f"{_capital(resource)}: {', '.join(now) or 'unset ' + ', '.join(keys)}.")


def _capital(resource: Resource) -> str:
    text = str(resource)
    return text[0].upper() + text[1:]
