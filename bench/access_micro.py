"""What access rules cost: checks a second, and how long rules take to be loaded.

python bench/access_micro.py

100,000 rules of 10,000 principals on 40,000 resources. "Known" is the case of produce and fetch: the same clients ask
for the same topics again. "New" asks each question once. The program ends with code 1 past a limit.
"""

import gc
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from moldau.coordination.security.rule_writer import add_rules
from moldau.coordination.security.security_tree import SecurityTree
from moldau.coordination.sqlite import SqliteStore
from moldau.node.main import OBJECTS_PER_COLLECTION
from moldau.security.access.kafka_authorizer import KafkaAuthorizer
from moldau.security.access.model import Caller, Operation, Pattern, Permission, ResourceKind, Rule
from moldau.security.access.rules import Rules, entries_by_resource
from moldau.testing.simulation.sim_clock import SimClock

RULES = 100_000
PRINCIPALS = 10_000
RESOURCES = 40_000
OPERATIONS = (Operation.READ, Operation.WRITE, Operation.CREATE)
ROUNDS = 7
KNOWN_QUESTIONS = 5_000
NEW_QUESTIONS = 80_000
NEW_AT_ONCE = 500
CHECKS_PER_S_MIN = 1_000_000
LOAD_S_MAX = 2.0

Question = tuple[Caller, Operation, ResourceKind, str]


def made_rules() -> list[Rule]:
    """Each principal reads and writes some topics; every tenth rule is about a prefix, every twentieth denies."""
    return [
        Rule(
            ResourceKind.TOPIC,
            f"team-{number % RESOURCES:05}-events",
            Pattern.PREFIXED if number % 10 == 0 else Pattern.LITERAL,
            f"User:service-{number % PRINCIPALS}",
            "*",
            OPERATIONS[number % 3],
            Permission.DENY if number % 20 == 0 else Permission.ALLOW,
        )
        for number in range(RULES)
    ]


def made_questions(start: int, end: int) -> list[Question]:
    """Each of them once, up to NEW_QUESTIONS. Half of them are about topics that the principal has rules for, the
    others about topics of somebody else."""
    questions = []
    for number in range(start, end):
        turn, principal = divmod(number, PRINCIPALS)
        owner = principal + PRINCIPALS // 2 * (turn % 2)
        topic = (owner + turn // 2 * PRINCIPALS) % RESOURCES
        caller = Caller(f"User:service-{principal}", "10.0.0.1")
        questions.append((caller, Operation.READ, ResourceKind.TOPIC, f"team-{topic:05}-events"))
    return questions


def seconds(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """CPU time of the best round: what else runs on the machine shows in the others."""
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return min(times)


def ask_all(authorizer: KafkaAuthorizer, questions: Sequence[Question]) -> None:
    allows = authorizer.allows
    for caller, operation, kind, name in questions:
        allows(caller, operation, kind, name, is_logged=False)


def seconds_of_new(rules: Rules) -> float:
    """The questions are made a few at a time, as requests are: a client's names are in the processor's cache when they
    are asked about, those of the rules are not."""
    authorizer = KafkaAuthorizer(rules)
    taken = 0.0
    for at in range(0, NEW_QUESTIONS, NEW_AT_ONCE):
        questions = made_questions(at, at + NEW_AT_ONCE)
        start = time.thread_time()
        ask_all(authorizer, questions)
        taken += time.thread_time() - start
    return taken


def main() -> int:
    made = made_rules()
    rules = Rules(made)
    # As a broker does when it has started.
    gc.freeze()
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    authorizer = KafkaAuthorizer(rules)
    known = made_questions(0, KNOWN_QUESTIONS)
    many = list(itertools.chain.from_iterable([known] * 20))
    ask_all(authorizer, known)
    known_rate = len(many) / seconds(lambda: ask_all(authorizer, many))
    new = made_questions(0, NEW_QUESTIONS)
    assert len(set(new)) == NEW_QUESTIONS, "a question is asked twice"
    allowed = sum(authorizer.decide(*each).is_allowed for each in new) / len(new)
    new_rate = NEW_QUESTIONS / min(seconds_of_new(rules) for _ in range(ROUNDS))
    index_s = seconds(lambda: Rules(made), rounds=3)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(f"{folder}/store.sqlite")
        start = time.perf_counter()
        add_rules(store, entries_by_resource(made))
        write_s = time.perf_counter() - start
        load_s = seconds(lambda: SecurityTree(store, SimClock()), rounds=3)
        assert len(SecurityTree(store, SimClock()).rules) == len(rules) == RULES
        store.close()
    verdicts = [
        ("checks a second, known", f"{known_rate:,.0f}", known_rate >= CHECKS_PER_S_MIN),
        (f"checks a second, new, {allowed:.0%} allowed", f"{new_rate:,.0f}", new_rate >= CHECKS_PER_S_MIN),
        ("seconds to index 100,000 rules", f"{index_s:.2f}", index_s < LOAD_S_MAX),
        ("seconds to load them from the store", f"{load_s:.2f}", load_s < LOAD_S_MAX),
        ("seconds to write them", f"{write_s:.2f}", True),
    ]
    for name, value, is_met in verdicts:
        print(f"{name:40}{value:>12}  {'' if is_met else 'past its limit'}")
    return 0 if all(is_met for *_, is_met in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
