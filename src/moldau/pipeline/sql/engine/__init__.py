"""What every statement does, decided without I/O.

`statements.needs` says what a decision asks of the world, `facts` holds the answers, `statements.decide` returns a
`Decision`: a command to log, topics to create, schemas to register, an answer as data. `deciding` has the statements
that are logged: `completion` writes out what they leave to settings, `topics` and `schemas` compare them with the
cluster. `rules` says what each changes. Only `Catalog.replay` changes what is defined, so all servers that read one
command topic define the same. `program` carries a query to the process that runs it. Pure: the server, the shell and
the test runner do what is decided. Start reading at `statements.py`.
"""

from moldau.pipeline.sql.engine.catalog import Applied, Catalog, PersistentQuery, QueryState
from moldau.pipeline.sql.engine.command import Command
from moldau.pipeline.sql.engine.decision import Decision, InsertRow, NewSchema, NewTopic
from moldau.pipeline.sql.engine.facts import Facts, Needs, SubjectNeed, TopicFacts
from moldau.pipeline.sql.engine.program import Program, topology_from
from moldau.pipeline.sql.engine.session import Session
from moldau.pipeline.sql.engine.statements import decide, needs

__all__ = [
    "Applied",
    "Catalog",
    "Command",
    "Decision",
    "Facts",
    "InsertRow",
    "Needs",
    "NewSchema",
    "NewTopic",
    "PersistentQuery",
    "Program",
    "QueryState",
    "Session",
    "SubjectNeed",
    "TopicFacts",
    "decide",
    "needs",
    "topology_from",
]
