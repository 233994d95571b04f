-- PARTITION BY: another key.

CREATE STREAM s (id INT KEY, a STRING, i INT, q STRUCT<x STRING>) WITH (kafka_topic='s', value_format='JSON');

--@test: a column becomes the key, the old key a column
CREATE STREAM r AS SELECT * FROM s PARTITION BY a;
ASSERT STREAM r (a STRING KEY, id INT, i INT, q STRUCT<x STRING>) WITH (kafka_topic='R');
INSERT INTO s (rowtime, id, a, i) VALUES (5, 1, 'k', 7);
ASSERT VALUES r (rowtime, a, id, i) VALUES (5, 'k', 1, 7);

--@test: some columns
CREATE STREAM r AS SELECT a, i FROM s PARTITION BY a;
INSERT INTO s (id, a, i) VALUES (1, 'k', 7);
ASSERT VALUES r (a, i) VALUES ('k', 7);

--@test: another name of the key
CREATE STREAM r AS SELECT a AS k, id FROM s PARTITION BY a;
ASSERT STREAM r (k STRING KEY, id INT) WITH (kafka_topic='R');
INSERT INTO s (id, a) VALUES (1, 'x');
ASSERT VALUES r (k, id) VALUES ('x', 1);

--@test: by an expression
CREATE STREAM r AS SELECT UCASE(a) AS k, id FROM s PARTITION BY UCASE(a);
INSERT INTO s (id, a) VALUES (1, 'x');
ASSERT VALUES r (k, id) VALUES ('X', 1);

--@test: by a field of a struct
CREATE STREAM r AS SELECT q->x AS k, id FROM s PARTITION BY q->x;
INSERT INTO s (id, q) VALUES (1, STRUCT(x := 'f'));
ASSERT VALUES r (k, id) VALUES ('f', 1);

--@test: by several columns
CREATE STREAM r WITH (key_format='JSON') AS SELECT a, i, id FROM s PARTITION BY a, i;
ASSERT STREAM r (a STRING KEY, i INT KEY, id INT) WITH (kafka_topic='R', key_format='JSON');
INSERT INTO s (id, a, i) VALUES (1, 'x', 2);
ASSERT VALUES r (a, i, id) VALUES ('x', 2, 1);

--@test: a null key stays null
CREATE STREAM r AS SELECT a, id FROM s PARTITION BY a;
INSERT INTO s (id, a) VALUES (1, NULL);
ASSERT VALUES r (a, id) VALUES (NULL, 1);

--@test: an expression that fails makes no key
CREATE STREAM r AS SELECT 10 / i AS k, id FROM s PARTITION BY 10 / i;
INSERT INTO s (id, i) VALUES (1, 0);
INSERT INTO s (id, i) VALUES (2, 5);
ASSERT VALUES r (k, id) VALUES (NULL, 1);
ASSERT VALUES r (k, id) VALUES (2, 2);

--@test: PARTITION BY NULL takes the key away
CREATE STREAM r AS SELECT id, a FROM s PARTITION BY NULL;
ASSERT STREAM r (id INT, a STRING) WITH (kafka_topic='R');
INSERT INTO s (id, a) VALUES (1, 'x');
ASSERT VALUES r (id, a) VALUES (1, 'x');

--@test: with WHERE
CREATE STREAM r AS SELECT a, id FROM s WHERE i > 1 PARTITION BY a;
INSERT INTO s (id, a, i) VALUES (1, 'x', 1);
INSERT INTO s (id, a, i) VALUES (2, 'y', 2);
ASSERT VALUES r (a, id) VALUES ('y', 2);

--@test: a join by the new key
CREATE STREAM k AS SELECT a, id FROM s PARTITION BY a;
CREATE TABLE t (a STRING PRIMARY KEY, w STRING) WITH (kafka_topic='t', value_format='KAFKA');
CREATE STREAM r AS SELECT k.a AS a, id, w FROM k JOIN t ON k.a = t.a;
INSERT INTO t (a, w) VALUES ('x', 'found');
INSERT INTO s (id, a) VALUES (1, 'x');
ASSERT VALUES r (a, id, w) VALUES ('x', 1, 'found');

--@test: the key's copy in the value
CREATE STREAM r AS SELECT a, AS_VALUE(a) AS b FROM s PARTITION BY a;
ASSERT STREAM r (a STRING KEY, b STRING) WITH (kafka_topic='R');
INSERT INTO s (id, a) VALUES (1, 'x');
ASSERT VALUES r (a, b) VALUES ('x', 'x');

--@test: the new key must be selected
--@expected.message: the key is missing from the SELECT: A
CREATE STREAM r AS SELECT id, i FROM s PARTITION BY a;

--@test: an unknown column
--@expected.message: unknown column B
CREATE STREAM r AS SELECT id, a FROM s PARTITION BY b;

--@test: NULL among several
--@expected.message: NULL is no part of a key
CREATE STREAM r AS SELECT a, id FROM s PARTITION BY a, NULL;
