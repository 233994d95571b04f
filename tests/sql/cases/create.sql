-- CREATE, ALTER, DROP and types: what is defined, and what must not be.

--@test: a stream over a topic
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='topic-s', value_format='JSON');
ASSERT STREAM s (id INT KEY, v STRING) WITH (kafka_topic='topic-s', key_format='KAFKA', value_format='JSON');

--@test: a table over a topic
CREATE TABLE t (id INT PRIMARY KEY, v STRING) WITH (kafka_topic='t', value_format='JSON');
ASSERT TABLE t (id INT PRIMARY KEY, v STRING) WITH (kafka_topic='t');

--@test: all types
CREATE STREAM s (k STRING KEY, a BOOLEAN, b INT, c INTEGER, d BIGINT, e DOUBLE, f DECIMAL(5, 2), g STRING, h VARCHAR, i BYTES, j DATE, l TIME, m TIMESTAMP, n ARRAY<INT>, o MAP<STRING, INT>, p STRUCT<x INT>) WITH (kafka_topic='s', value_format='JSON');
ASSERT STREAM s (k STRING KEY, a BOOLEAN, b INTEGER, c INTEGER, d BIGINT, e DOUBLE, f DECIMAL(5, 2), g STRING, h STRING, i BYTES, j DATE, l TIME, m TIMESTAMP, n ARRAY<INTEGER>, o MAP<STRING, INTEGER>, p STRUCT<x INTEGER>) WITH (kafka_topic='s');

--@test: types within types
CREATE STREAM s (id INT KEY, v ARRAY<MAP<STRING, STRUCT<a ARRAY<INT>, `b c` DECIMAL(4, 1)>>>) WITH (kafka_topic='s', value_format='JSON');
INSERT INTO s (id, v) VALUES (1, ARRAY[MAP('k' := STRUCT(a := ARRAY[1], `b c` := 2.5))]);
ASSERT VALUES s (id, v) VALUES (1, ARRAY[MAP('k' := STRUCT(a := ARRAY[1], `b c` := 2.5))]);

--@test: the key need not stand first
CREATE STREAM s (v STRING, id INT KEY) WITH (kafka_topic='s', value_format='JSON');
INSERT INTO s (v, id) VALUES ('x', 1);
ASSERT VALUES s (id, v) VALUES (1, 'x');

--@test: IF NOT EXISTS leaves what is there
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM IF NOT EXISTS s (id INT KEY, other INT) WITH (kafka_topic='s', value_format='JSON');
ASSERT STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s');

--@test: OR REPLACE adds a column
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE OR REPLACE STREAM s (id INT KEY, v STRING, w INT) WITH (kafka_topic='s', value_format='JSON');
INSERT INTO s (id, v, w) VALUES (1, 'x', 2);
ASSERT VALUES s (id, v, w) VALUES (1, 'x', 2);

--@test: OR REPLACE of a query changes its filter
CREATE STREAM s (id INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r AS SELECT id, v FROM s WHERE v > 10;
INSERT INTO s (id, v) VALUES (1, 5);
CREATE OR REPLACE STREAM r AS SELECT id, v FROM s WHERE v > 3;
INSERT INTO s (id, v) VALUES (2, 5);
ASSERT VALUES r (id, v) VALUES (2, 5);

--@test: ALTER adds columns
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
ALTER STREAM s ADD COLUMN w INT, ADD COLUMN x DOUBLE;
ASSERT STREAM s (id INT KEY, v STRING, w INT, x DOUBLE) WITH (kafka_topic='s');

--@test: DROP, and the name is free again
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
DROP STREAM s;
CREATE TABLE s (id INT PRIMARY KEY, w INT) WITH (kafka_topic='s2', value_format='JSON');
ASSERT TABLE s (id INT PRIMARY KEY, w INT) WITH (kafka_topic='s2');

--@test: DROP of a query's stream ends the query
CREATE STREAM s (id INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r AS SELECT id, v FROM s;
DROP STREAM r;
CREATE STREAM r AS SELECT id, v + 1 AS v FROM s;
INSERT INTO s (id, v) VALUES (1, 5);
ASSERT VALUES r (id, v) VALUES (1, 6);

--@test: DROP IF EXISTS of nothing
DROP STREAM IF EXISTS nothing;
DROP TYPE IF EXISTS nothing;

--@test: PAUSE and RESUME: nothing is lost
CREATE STREAM s (id INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r AS SELECT id, v FROM s;
INSERT INTO s (id, v) VALUES (1, 1);
PAUSE ALL;
INSERT INTO s (id, v) VALUES (1, 2);
RESUME ALL;
INSERT INTO s (id, v) VALUES (1, 3);
ASSERT VALUES r (id, v) VALUES (1, 1);
ASSERT VALUES r (id, v) VALUES (1, 2);
ASSERT VALUES r (id, v) VALUES (1, 3);

--@test: TERMINATE ends a query and leaves its stream
CREATE STREAM s (id INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r AS SELECT id, v FROM s;
TERMINATE ALL;
INSERT INTO s (id, v) VALUES (1, 1);
INSERT INTO r (id, v) VALUES (1, 2);
ASSERT VALUES r (id, v) VALUES (1, 2);

--@test: a type of a type
CREATE TYPE coordinate AS STRUCT<x INT, y INT>;
CREATE TYPE path AS ARRAY<coordinate>;
CREATE STREAM s (id INT KEY, p path) WITH (kafka_topic='s', value_format='JSON');
ASSERT STREAM s (id INT KEY, p ARRAY<STRUCT<x INT, y INT>>) WITH (kafka_topic='s');

--@test: a dropped type stays in what was made with it
CREATE TYPE money AS DECIMAL(8, 2);
CREATE STREAM s (id INT KEY, p money) WITH (kafka_topic='s', value_format='JSON');
DROP TYPE money;
ASSERT STREAM s (id INT KEY, p DECIMAL(8, 2)) WITH (kafka_topic='s');

--@test: a name twice
--@expected.message: S exists already: it is a STREAM
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');

--@test: a table without a key
--@expected.message: the table T has no PRIMARY KEY
CREATE TABLE t (id INT, v STRING) WITH (kafka_topic='t', value_format='JSON');

--@test: KEY in a table
--@expected.message: column ID: the key of a table is a PRIMARY KEY
CREATE TABLE t (id INT KEY, v STRING) WITH (kafka_topic='t', value_format='JSON');

--@test: PRIMARY KEY in a stream
--@expected.message: column ID: a stream has no PRIMARY KEY
CREATE STREAM s (id INT PRIMARY KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');

--@test: a column twice
--@expected.message: two columns are called V
CREATE STREAM s (id INT KEY, v STRING, v INT) WITH (kafka_topic='s', value_format='JSON');

--@test: the name of a pseudo column
--@expected.message: ROWTIME is the name of a pseudo column
CREATE STREAM s (id INT KEY, rowtime BIGINT) WITH (kafka_topic='s', value_format='JSON');

--@test: an unknown type
--@expected.message: unknown type STRINGG
--@expected.message: Did you mean STRING?
CREATE STREAM s (id INT KEY, v STRINGG) WITH (kafka_topic='s', value_format='JSON');

--@test: VARCHAR has no length
--@expected.message: VARCHAR has no length
CREATE STREAM s (id INT KEY, v VARCHAR(20)) WITH (kafka_topic='s', value_format='JSON');

--@test: ARRAY needs its element
--@expected.message: ARRAY needs the types it is made of: ARRAY<STRING>
CREATE STREAM s (id INT KEY, v ARRAY) WITH (kafka_topic='s', value_format='JSON');

--@test: a STRUCT needs a field
--@expected.message: a STRUCT needs a field
CREATE STREAM s (id INT KEY, v STRUCT<>) WITH (kafka_topic='s', value_format='JSON');

--@test: no columns at all
--@expected.message: S has no columns
CREATE STREAM s WITH (kafka_topic='s', value_format='JSON');

--@test: no value format
--@expected.message: has no VALUE_FORMAT
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s');

--@test: OR REPLACE with IF NOT EXISTS
--@expected.message: OR REPLACE and IF NOT EXISTS exclude each other
CREATE OR REPLACE STREAM IF NOT EXISTS s (id INT KEY) WITH (kafka_topic='s', value_format='JSON');

--@test: DROP of what is not there
--@expected.message: S does not exist
DROP STREAM s;

--@test: DROP STREAM of a table
--@expected.message: T is a TABLE, not a STREAM
--@expected.message: Write DROP TABLE T.
CREATE TABLE t (id INT PRIMARY KEY, v STRING) WITH (kafka_topic='t', value_format='JSON');
DROP STREAM t;

--@test: DROP of what a query reads
--@expected.message: S cannot be dropped: it is read by CSAS_R_1
--@expected.message: First: TERMINATE CSAS_R_1;
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r AS SELECT id, v FROM s;
DROP STREAM s;

--@test: a topic in use is not deleted
--@expected.message: the topic shared cannot be deleted: B is over it too
CREATE STREAM a (id INT KEY, v STRING) WITH (kafka_topic='shared', value_format='JSON');
CREATE STREAM b (id INT KEY, v STRING) WITH (kafka_topic='shared', value_format='JSON');
DROP STREAM a DELETE TOPIC;

--@test: a query cannot write what it reads
--@expected.message: the query would read what it writes
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r WITH (kafka_topic='s') AS SELECT id, v FROM s;

--@test: ALTER of a column that is there
--@expected.message: S has a column V already
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
ALTER STREAM s ADD COLUMN v INT;

--@test: ALTER of a query's stream
--@expected.message: R was created by AS SELECT
CREATE STREAM s (id INT KEY, v STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r AS SELECT id, v FROM s;
ALTER STREAM r ADD COLUMN w INT;

--@test: a type twice
--@expected.message: the type MONEY exists already
CREATE TYPE money AS DECIMAL(8, 2);
CREATE TYPE money AS DOUBLE;

--@test: a type of SQL's own
--@expected.message: STRING is a type of SQL
CREATE TYPE string AS INT;

--@test: TERMINATE of an unknown query
--@expected.message: there is no query NOTHING
TERMINATE nothing;
