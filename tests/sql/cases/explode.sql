-- Table functions: several rows of one.

CREATE STREAM s (id INT KEY, a ARRAY<INT>, b ARRAY<STRING>, q ARRAY<STRUCT<x INT>>) WITH (kafka_topic='s', value_format='JSON');

--@test: a row for each element
CREATE STREAM r AS SELECT id, EXPLODE(a) AS x FROM s;
ASSERT STREAM r (id INT KEY, x INT) WITH (kafka_topic='R');
INSERT INTO s (rowtime, id, a) VALUES (5, 1, ARRAY[10, 20]);
INSERT INTO s (rowtime, id, a) VALUES (6, 2, ARRAY[30]);
ASSERT VALUES r (rowtime, id, x) VALUES (5, 1, 10);
ASSERT VALUES r (rowtime, id, x) VALUES (5, 1, 20);
ASSERT VALUES r (rowtime, id, x) VALUES (6, 2, 30);

--@test: null makes no row
CREATE STREAM r AS SELECT id, EXPLODE(a) AS x FROM s;
INSERT INTO s (id) VALUES (1);
INSERT INTO s (id, a) VALUES (2, ARRAY[7]);
ASSERT VALUES r (id, x) VALUES (2, 7);

--@test: a null element makes a row
CREATE STREAM r AS SELECT id, EXPLODE(a) AS x FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, NULL]);
ASSERT VALUES r (id, x) VALUES (1, 1);
ASSERT VALUES r (id, x) VALUES (1, NULL);

--@test: other columns stand in each row
CREATE STREAM r AS SELECT id, a, EXPLODE(a) AS x FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, 2]);
ASSERT VALUES r (id, a, x) VALUES (1, ARRAY[1, 2], 1);
ASSERT VALUES r (id, a, x) VALUES (1, ARRAY[1, 2], 2);

--@test: two of them go in step, the shorter one ends in nulls
CREATE STREAM r AS SELECT id, EXPLODE(a) AS x, EXPLODE(b) AS y FROM s;
INSERT INTO s (id, a, b) VALUES (1, ARRAY[1, 2, 3], ARRAY['p', 'q']);
ASSERT VALUES r (id, x, y) VALUES (1, 1, 'p');
ASSERT VALUES r (id, x, y) VALUES (1, 2, 'q');
ASSERT VALUES r (id, x, y) VALUES (1, 3, NULL);

--@test: within an expression
CREATE STREAM r AS SELECT id, EXPLODE(a) * 10 + 1 AS x FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, 2]);
ASSERT VALUES r (id, x) VALUES (1, 11);
ASSERT VALUES r (id, x) VALUES (1, 21);

--@test: a field of the element
CREATE STREAM r AS SELECT id, EXPLODE(q)->x AS x FROM s;
INSERT INTO s (id, q) VALUES (1, ARRAY[STRUCT(x := 5), STRUCT(x := 6)]);
ASSERT VALUES r (id, x) VALUES (1, 5);
ASSERT VALUES r (id, x) VALUES (1, 6);

--@test: of an array that is made
CREATE STREAM r AS SELECT id, EXPLODE(ARRAY[id, id + 1]) AS x FROM s;
INSERT INTO s (id) VALUES (5);
ASSERT VALUES r (id, x) VALUES (5, 5);
ASSERT VALUES r (id, x) VALUES (5, 6);

--@test: WHERE comes before
CREATE STREAM r AS SELECT id, EXPLODE(a) AS x FROM s WHERE id > 1;
INSERT INTO s (id, a) VALUES (1, ARRAY[1]);
INSERT INTO s (id, a) VALUES (2, ARRAY[2]);
ASSERT VALUES r (id, x) VALUES (2, 2);

--@test: CUBE_EXPLODE: all combinations of the columns and null
CREATE STREAM r AS SELECT id, CUBE_EXPLODE(b) AS x FROM s;
INSERT INTO s (id, b) VALUES (1, ARRAY['p', 'q']);
ASSERT VALUES r (id, x) VALUES (1, ARRAY[CAST(NULL AS STRING), NULL]);
ASSERT VALUES r (id, x) VALUES (1, ARRAY[NULL, 'q']);
ASSERT VALUES r (id, x) VALUES (1, ARRAY['p', NULL]);
ASSERT VALUES r (id, x) VALUES (1, ARRAY['p', 'q']);

--@test: groups of the rows
CREATE STREAM w AS SELECT id, EXPLODE(b) AS word FROM s;
CREATE TABLE r AS SELECT word, COUNT(*) AS n FROM w GROUP BY word;
INSERT INTO s (id, b) VALUES (1, ARRAY['to', 'be', 'to']);
ASSERT VALUES r (word, n) VALUES ('to', 1);
ASSERT VALUES r (word, n) VALUES ('be', 1);
ASSERT VALUES r (word, n) VALUES ('to', 2);

--@test: of what is no array
--@expected.message: EXPLODE does not take (INTEGER)
CREATE STREAM r AS SELECT id, EXPLODE(id) AS x FROM s;

--@test: in WHERE
--@expected.message: the table function EXPLODE cannot stand here
CREATE STREAM r AS SELECT id FROM s WHERE EXPLODE(a) > 1;
