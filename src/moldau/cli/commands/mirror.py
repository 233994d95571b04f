"""`moldau mirror`: runs the flows of a MirrorMaker 2 file.

One standalone worker of Connect for each cluster that is the target of a flow, without its REST API.
"""

import logging
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from moldau.core.errors import ConfigError

if TYPE_CHECKING:
    from moldau.pipeline.connect.connectors.mirror.mirror_file import TargetPlan
    from moldau.pipeline.connect.server.member import Member

EXIT_OK = 0
EXIT_USAGE = 2
STATE_DIR: Final = "data/mirror"


@click.command("mirror")
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(),
    required=True,
    help="Clusters and flows, in the format of MirrorMaker 2's mm2.properties.",
)
@click.option(
    "--cluster",
    "targets",
    metavar="ALIAS",
    multiple=True,
    help="Only flows to this cluster. Repeatable. Default: to all.",
)
@click.option(
    "--state-dir",
    metavar="FOLDER",
    default=STATE_DIR,
    show_default=True,
    help="A folder for the files of the processes that copy.",
)
@click.option("--check", is_flag=True, help="Print the flows of the file and their settings, and exit.")
def command(config: str, targets: tuple[str, ...], state_dir: str, check: bool) -> int:
    """Mirror topics, settings, ACLs and group offsets between Kafka clusters, as MirrorMaker 2 does.

    Each record is copied once, in transactions of the target. The copying runs on Spark, which needs Java: one
    process for each target. Prints a line that starts with `ready` when the flows are set up. Stops on Ctrl-C or
    SIGTERM, and goes on from there when it starts again.

    \b
    moldau mirror --config mm2.properties
    moldau mirror --config mm2.properties --cluster backup
    """
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    try:
        plans = _plans(config, targets)
        if check:
            for plan in plans:
                _show(plan)
            return EXIT_OK
        _run(plans, Path(state_dir))
    except ConfigError as error:
        click.echo(f"moldau mirror: {error}", err=True)
        return EXIT_USAGE
    return EXIT_OK


def _plans(file: str, targets: tuple[str, ...]) -> "list[TargetPlan]":
    # Imported here because the help does not need them.
    from moldau.pipeline.connect.connectors.mirror.mirror_file import MirrorFile
    from moldau.pipeline.connect.server.settings import is_known

    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read the configuration file {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the configuration file {file} is not UTF-8 text: {error.reason}") from None
    mirror = MirrorFile(text, file=file, is_worker_setting=is_known)
    plans = [one for one in mirror.plans() if not targets or one.alias in targets]
    if not plans:
        raise ConfigError(
            f"no flow of {file} has the target {', '.join(targets)}: its flows are {', '.join(map(str, mirror.flows))}"
        )
    return plans


def _show(plan: "TargetPlan") -> None:
    from moldau.pipeline.connect.plugins import find_connector
    from moldau.pipeline.connect.runtime.secrets import sensitive_names

    for name, config in plan.connectors.items():
        click.echo(name)
        hidden = sensitive_names(find_connector(config["connector.class"]).connector, config)
        for setting, text in sorted(config.items()):
            click.echo(f"  {setting}={'******' if setting in hidden else text}")


def _run(plans: "list[TargetPlan]", folder: Path) -> None:
    """Until a signal. What has started ends, whatever happens."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    members: list[Member] = []
    try:
        for plan in plans:
            members.append(_started(plan, folder))
        click.echo(f"ready {' '.join(str(flow) for plan in plans for flow in plan.flows)}")
        sys.stdout.flush()
        threading.Event().wait()
    except KeyboardInterrupt:
        pass  # Also what SIGTERM raises, even while a cluster is waited for.
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        for member in members:
            member.stop()


def _started(plan: "TargetPlan", folder: Path) -> "Member":
    from moldau.pipeline.connect.server.failures import RequestFailure
    from moldau.pipeline.connect.server.member import Member
    from moldau.pipeline.connect.server.mirror_takeover import take_over
    from moldau.pipeline.connect.server.service import ConnectService
    from moldau.pipeline.connect.server.settings import Configuration

    worker = {**plan.worker, "state.dir": str(folder / plan.alias)}
    member = Member(Configuration(worker), f"mirror-{plan.alias}", is_standalone=True)
    try:
        member.start()
    except ConfigError as error:
        raise ConfigError(f"the flows to {plan.alias} cannot start: {error}") from None
    service = ConnectService(member)
    try:
        for name, config in plan.connectors.items():
            take_over(member, name, config)
            service.create(name, config)
    except RequestFailure as failure:
        member.stop()
        raise ConfigError(failure.message) from None
    except BaseException:
        member.stop()
        raise
    return member
