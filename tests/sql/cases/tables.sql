-- Queries over tables: a row is the last value of its key, and a tombstone deletes it.

CREATE TABLE t (id INT PRIMARY KEY, v STRING) WITH (kafka_topic='t', value_format='KAFKA');
CREATE TABLE n (id INT PRIMARY KEY, g STRING, i INT) WITH (kafka_topic='n', value_format='JSON');

--@test: each change of a row is a change of the result
CREATE TABLE r AS SELECT id, UCASE(v) AS u FROM t;
INSERT INTO t (id, v) VALUES (1, 'a');
INSERT INTO t (id, v) VALUES (1, 'b');
ASSERT VALUES r (id, u) VALUES (1, 'A');
ASSERT VALUES r (id, u) VALUES (1, 'B');

--@test: a deleted row is deleted in the result
CREATE TABLE r AS SELECT id, v FROM t;
INSERT INTO t (id, v) VALUES (1, 'a');
INSERT INTO t (id, v) VALUES (1, NULL);
ASSERT VALUES r (id, v) VALUES (1, 'a');
ASSERT NULL VALUES r (id) KEY (1);

--@test: WHERE: a row that no longer passes is deleted
CREATE TABLE r AS SELECT id, i FROM n WHERE i > 5;
INSERT INTO n (id, i) VALUES (1, 7);
INSERT INTO n (id, i) VALUES (1, 3);
INSERT INTO n (id, i) VALUES (1, 9);
ASSERT VALUES r (id, i) VALUES (1, 7);
ASSERT NULL VALUES r (id) KEY (1);
ASSERT VALUES r (id, i) VALUES (1, 9);

--@test: WHERE: a row that does not pass is a tombstone, whatever was there before
CREATE TABLE r AS SELECT id, i FROM n WHERE i > 5;
INSERT INTO n (id, i) VALUES (1, 3);
INSERT INTO n (id, i) VALUES (2, 7);
ASSERT NULL VALUES r (id) KEY (1);
ASSERT VALUES r (id, i) VALUES (2, 7);

--@test: groups of a table: a row that changes leaves its old group
CREATE TABLE r AS SELECT g, COUNT(*) AS c, SUM(i) AS x FROM n GROUP BY g;
INSERT INTO n (id, g, i) VALUES (1, 'a', 5);
INSERT INTO n (id, g, i) VALUES (2, 'a', 7);
INSERT INTO n (id, g, i) VALUES (1, 'b', 5);
ASSERT VALUES r (g, c, x) VALUES ('a', 1, 5);
ASSERT VALUES r (g, c, x) VALUES ('a', 2, 12);
ASSERT VALUES r (g, c, x) VALUES ('a', 1, 7);
ASSERT VALUES r (g, c, x) VALUES ('b', 1, 5);

--@test: groups of a table: a new value takes the place of the old
CREATE TABLE r AS SELECT g, SUM(i) AS x, AVG(i) AS y FROM n GROUP BY g;
INSERT INTO n (id, g, i) VALUES (1, 'a', 5);
INSERT INTO n (id, g, i) VALUES (1, 'a', 8);
ASSERT VALUES r (g, x, y) VALUES ('a', 5, 5.0);
ASSERT VALUES r (g, x, y) VALUES ('a', 8, 8.0);

--@test: a table of a table of a stream
CREATE STREAM s (id INT KEY, g STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE TABLE counts AS SELECT g, COUNT(*) AS c FROM s GROUP BY g;
CREATE TABLE often AS SELECT g, c FROM counts WHERE c > 1;
INSERT INTO s (id, g) VALUES (1, 'a');
INSERT INTO s (id, g) VALUES (2, 'a');
ASSERT NULL VALUES often (g) KEY ('a');
ASSERT VALUES often (g, c) VALUES ('a', 2);

--@test: the changes of a table as a stream
CREATE STREAM s (id INT KEY, g STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE TABLE counts AS SELECT g, COUNT(*) AS c FROM s GROUP BY g;
CREATE STREAM changes (g STRING KEY, c BIGINT) WITH (kafka_topic='COUNTS', value_format='JSON');
CREATE STREAM r AS SELECT g, c * 10 AS c FROM changes;
INSERT INTO s (id, g) VALUES (1, 'a');
INSERT INTO s (id, g) VALUES (2, 'a');
ASSERT VALUES r (g, c) VALUES ('a', 10);
ASSERT VALUES r (g, c) VALUES ('a', 20);

--@test: MAX cannot take a row back
--@expected.message: MAX cannot take a row back, which GROUP BY over a table needs
CREATE TABLE r AS SELECT g, MAX(i) AS x FROM n GROUP BY g;

--@test: a table makes no stream
--@expected.message: the query makes a TABLE, not a STREAM
CREATE STREAM r AS SELECT id, v FROM t;

--@test: a table keeps its key
--@expected.message: a table keeps its key, so PARTITION BY has no meaning
CREATE TABLE r AS SELECT id, v FROM t PARTITION BY v;

--@test: a table function makes no rows of a table
--@expected.message: EXPLODE makes rows of the records of a stream, not of a table
CREATE TABLE a (id INT PRIMARY KEY, v ARRAY<INT>) WITH (kafka_topic='a', value_format='JSON');
CREATE TABLE r AS SELECT id, EXPLODE(v) AS x FROM a;
