-- GROUP BY and aggregates over streams: each record changes its group, and each change is written.

CREATE STREAM s (id INT KEY, g STRING, h STRING, i INT, d DOUBLE, m DECIMAL(6, 2), b BOOLEAN, a ARRAY<INT>) WITH (kafka_topic='s', value_format='JSON');

--@test: COUNT(*) counts the records of each group
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s GROUP BY g;
ASSERT TABLE result (g STRING PRIMARY KEY, n BIGINT) WITH (kafka_topic='RESULT');
INSERT INTO s (id, g) VALUES (1, 'a');
INSERT INTO s (id, g) VALUES (2, 'b');
INSERT INTO s (id, g) VALUES (3, 'a');
ASSERT VALUES result (g, n) VALUES ('a', 1);
ASSERT VALUES result (g, n) VALUES ('b', 1);
ASSERT VALUES result (g, n) VALUES ('a', 2);

--@test: by the key of the stream
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s GROUP BY id;
INSERT INTO s (id) VALUES (1);
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, n) VALUES (1, 1);
ASSERT VALUES result (id, n) VALUES (1, 2);

--@test: COUNT of a column leaves nulls out
CREATE TABLE result AS SELECT id, COUNT(i) AS n, COUNT(*) AS m FROM s GROUP BY id;
INSERT INTO s (id, i) VALUES (1, NULL);
INSERT INTO s (id, i) VALUES (1, 5);
ASSERT VALUES result (id, n, m) VALUES (1, 0, 1);
ASSERT VALUES result (id, n, m) VALUES (1, 1, 2);

--@test: a record whose group is null is left out
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s GROUP BY g;
INSERT INTO s (id, g) VALUES (1, NULL);
INSERT INTO s (id, g) VALUES (2, 'a');
ASSERT VALUES result (g, n) VALUES ('a', 1);

--@test: SUM keeps the type of its column
CREATE TABLE result AS SELECT g, SUM(i) AS x, SUM(d) AS y, SUM(m) AS z FROM s GROUP BY g;
ASSERT TABLE result (g STRING PRIMARY KEY, x INT, y DOUBLE, z DECIMAL(6, 2)) WITH (kafka_topic='RESULT');
INSERT INTO s (id, g, i, d, m) VALUES (1, 'a', 1, 0.5, 1.10);
INSERT INTO s (id, g, i, d, m) VALUES (2, 'a', 2, 0.25, 2.20);
ASSERT VALUES result (g, x, y, z) VALUES ('a', 1, 0.5, 1.10);
ASSERT VALUES result (g, x, y, z) VALUES ('a', 3, 0.75, 3.30);

--@test: SUM leaves nulls out
CREATE TABLE result AS SELECT g, SUM(i) AS x FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 5);
INSERT INTO s (id, g, i) VALUES (2, 'a', NULL);
ASSERT VALUES result (g, x) VALUES ('a', 5);
ASSERT VALUES result (g, x) VALUES ('a', 5);

--@test: AVG is a double
CREATE TABLE result AS SELECT g, AVG(i) AS x FROM s GROUP BY g;
ASSERT TABLE result (g STRING PRIMARY KEY, x DOUBLE) WITH (kafka_topic='RESULT');
INSERT INTO s (id, g, i) VALUES (1, 'a', 1);
INSERT INTO s (id, g, i) VALUES (2, 'a', 2);
INSERT INTO s (id, g, i) VALUES (3, 'a', NULL);
ASSERT VALUES result (g, x) VALUES ('a', 1.0);
ASSERT VALUES result (g, x) VALUES ('a', 1.5);
ASSERT VALUES result (g, x) VALUES ('a', 1.5);

--@test: MIN and MAX
CREATE TABLE result AS SELECT g, MIN(i) AS x, MAX(i) AS y FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 5);
INSERT INTO s (id, g, i) VALUES (2, 'a', 3);
INSERT INTO s (id, g, i) VALUES (3, 'a', 7);
INSERT INTO s (id, g, i) VALUES (4, 'a', NULL);
ASSERT VALUES result (g, x, y) VALUES ('a', 5, 5);
ASSERT VALUES result (g, x, y) VALUES ('a', 3, 5);
ASSERT VALUES result (g, x, y) VALUES ('a', 3, 7);
ASSERT VALUES result (g, x, y) VALUES ('a', 3, 7);

--@test: MIN and MAX of texts
CREATE TABLE result AS SELECT id, MIN(h) AS x, MAX(h) AS y FROM s GROUP BY id;
INSERT INTO s (id, h) VALUES (1, 'b');
INSERT INTO s (id, h) VALUES (1, 'a');
ASSERT VALUES result (id, x, y) VALUES (1, 'b', 'b');
ASSERT VALUES result (id, x, y) VALUES (1, 'a', 'b');

--@test: LATEST_BY_OFFSET and EARLIEST_BY_OFFSET
CREATE TABLE result AS SELECT g, EARLIEST_BY_OFFSET(i) AS x, LATEST_BY_OFFSET(i) AS y FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 1);
INSERT INTO s (id, g, i) VALUES (2, 'a', 2);
INSERT INTO s (id, g, i) VALUES (3, 'a', NULL);
ASSERT VALUES result (g, x, y) VALUES ('a', 1, 1);
ASSERT VALUES result (g, x, y) VALUES ('a', 1, 2);
ASSERT VALUES result (g, x, y) VALUES ('a', 1, 2);

--@test: LATEST_BY_OFFSET that takes nulls
CREATE TABLE result AS SELECT g, LATEST_BY_OFFSET(i, FALSE) AS y FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 1);
INSERT INTO s (id, g, i) VALUES (2, 'a', NULL);
ASSERT VALUES result (g, y) VALUES ('a', 1);
ASSERT VALUES result (g, y) VALUES ('a', NULL);

--@test: the last two by offset
CREATE TABLE result AS SELECT g, LATEST_BY_OFFSET(i, 2) AS y, EARLIEST_BY_OFFSET(i, 2) AS x FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 1);
INSERT INTO s (id, g, i) VALUES (2, 'a', 2);
INSERT INTO s (id, g, i) VALUES (3, 'a', 3);
ASSERT VALUES result (g, y, x) VALUES ('a', ARRAY[1], ARRAY[1]);
ASSERT VALUES result (g, y, x) VALUES ('a', ARRAY[1, 2], ARRAY[1, 2]);
ASSERT VALUES result (g, y, x) VALUES ('a', ARRAY[2, 3], ARRAY[1, 2]);

--@test: COLLECT_LIST keeps all values, COLLECT_SET each once
CREATE TABLE result AS SELECT g, COLLECT_LIST(i) AS x, COLLECT_SET(i) AS y FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 5);
INSERT INTO s (id, g, i) VALUES (2, 'a', 3);
INSERT INTO s (id, g, i) VALUES (3, 'a', 5);
ASSERT VALUES result (g, x, y) VALUES ('a', ARRAY[5], ARRAY[5]);
ASSERT VALUES result (g, x, y) VALUES ('a', ARRAY[5, 3], ARRAY[5, 3]);
ASSERT VALUES result (g, x, y) VALUES ('a', ARRAY[5, 3, 5], ARRAY[5, 3]);

--@test: TOPK keeps the largest, with repetitions, TOPKDISTINCT without
CREATE TABLE result AS SELECT g, TOPK(i, 2) AS x, TOPKDISTINCT(i, 2) AS y FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 5);
INSERT INTO s (id, g, i) VALUES (2, 'a', 7);
INSERT INTO s (id, g, i) VALUES (3, 'a', 7);
ASSERT VALUES result (g, x, y) VALUES ('a', ARRAY[5], ARRAY[5]);
ASSERT VALUES result (g, x, y) VALUES ('a', ARRAY[7, 5], ARRAY[7, 5]);
ASSERT VALUES result (g, x, y) VALUES ('a', ARRAY[7, 7], ARRAY[7, 5]);

--@test: HISTOGRAM counts texts
CREATE TABLE result AS SELECT id, HISTOGRAM(g) AS x FROM s GROUP BY id;
INSERT INTO s (id, g) VALUES (1, 'a');
INSERT INTO s (id, g) VALUES (1, 'b');
INSERT INTO s (id, g) VALUES (1, 'a');
ASSERT VALUES result (id, x) VALUES (1, MAP('a' := 1));
ASSERT VALUES result (id, x) VALUES (1, MAP('a' := 1, 'b' := 1));
ASSERT VALUES result (id, x) VALUES (1, MAP('a' := 2, 'b' := 1));

--@test: COUNT_DISTINCT
CREATE TABLE result AS SELECT id, COUNT_DISTINCT(g) AS x FROM s GROUP BY id;
INSERT INTO s (id, g) VALUES (1, 'a');
INSERT INTO s (id, g) VALUES (1, 'a');
INSERT INTO s (id, g) VALUES (1, 'b');
ASSERT VALUES result (id, x) VALUES (1, 1);
ASSERT VALUES result (id, x) VALUES (1, 1);
ASSERT VALUES result (id, x) VALUES (1, 2);

--@test: several columns make a key of several columns
CREATE TABLE result WITH (key_format='JSON') AS SELECT g, h, COUNT(*) AS n FROM s GROUP BY g, h;
ASSERT TABLE result (g STRING PRIMARY KEY, h STRING PRIMARY KEY, n BIGINT) WITH (kafka_topic='RESULT', key_format='JSON');
INSERT INTO s (id, g, h) VALUES (1, 'a', 'x');
INSERT INTO s (id, g, h) VALUES (2, 'a', 'y');
INSERT INTO s (id, g, h) VALUES (3, 'a', 'x');
ASSERT VALUES result (g, h, n) VALUES ('a', 'x', 1);
ASSERT VALUES result (g, h, n) VALUES ('a', 'y', 1);
ASSERT VALUES result (g, h, n) VALUES ('a', 'x', 2);

--@test: several columns with a key format that holds one: JSON is taken, with a warning
--@expected.warning: The key of RESULT is written as JSON
CREATE TABLE result AS SELECT g, h, COUNT(*) AS n FROM s GROUP BY g, h;
INSERT INTO s (id, g, h) VALUES (1, 'a', 'x');
ASSERT VALUES result (g, h, n) VALUES ('a', 'x', 1);

--@test: several columns in parentheses
CREATE TABLE result WITH (key_format='JSON') AS SELECT g, h, COUNT(*) AS n FROM s GROUP BY (g, h);
INSERT INTO s (id, g, h) VALUES (1, 'a', 'x');
ASSERT VALUES result (g, h, n) VALUES ('a', 'x', 1);

--@test: a record with a null in one of several columns is left out
CREATE TABLE result WITH (key_format='JSON') AS SELECT g, h, COUNT(*) AS n FROM s GROUP BY g, h;
INSERT INTO s (id, g, h) VALUES (1, 'a', NULL);
INSERT INTO s (id, g, h) VALUES (2, 'a', 'x');
ASSERT VALUES result (g, h, n) VALUES ('a', 'x', 1);

--@test: by an expression
CREATE TABLE result AS SELECT i % 2 AS odd, COUNT(*) AS n FROM s GROUP BY i % 2;
ASSERT TABLE result (odd INT PRIMARY KEY, n BIGINT) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i) VALUES (1, 3);
INSERT INTO s (id, i) VALUES (2, 4);
INSERT INTO s (id, i) VALUES (3, 5);
ASSERT VALUES result (odd, n) VALUES (1, 1);
ASSERT VALUES result (odd, n) VALUES (0, 1);
ASSERT VALUES result (odd, n) VALUES (1, 2);

--@test: an expression without a name
CREATE TABLE result AS SELECT UCASE(g), COUNT(*) FROM s GROUP BY UCASE(g);
ASSERT TABLE result (ksql_col_0 STRING PRIMARY KEY, ksql_col_1 BIGINT) WITH (kafka_topic='RESULT');
INSERT INTO s (id, g) VALUES (1, 'a');
ASSERT VALUES result (ksql_col_0, ksql_col_1) VALUES ('A', 1);

--@test: an expression over the grouped column
CREATE TABLE result AS SELECT g, AS_VALUE(g) || '!' AS v, COUNT(*) AS n FROM s GROUP BY g;
INSERT INTO s (id, g) VALUES (1, 'a');
ASSERT VALUES result (g, v, n) VALUES ('a', 'a!', 1);

--@test: an expression over aggregates
CREATE TABLE result AS SELECT g, SUM(i) / COUNT(*) AS mean, MAX(i) - MIN(i) AS spread FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 3);
INSERT INTO s (id, g, i) VALUES (2, 'a', 8);
ASSERT VALUES result (g, mean, spread) VALUES ('a', 3, 0);
ASSERT VALUES result (g, mean, spread) VALUES ('a', 5, 5);

--@test: an aggregate over an expression
CREATE TABLE result AS SELECT g, SUM(i * 2 + 1) AS x FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 3);
INSERT INTO s (id, g, i) VALUES (2, 'a', 4);
ASSERT VALUES result (g, x) VALUES ('a', 7);
ASSERT VALUES result (g, x) VALUES ('a', 16);

--@test: an aggregate over the old key, where the groups have another
CREATE TABLE result AS SELECT g, SUM(id) AS x, COLLECT_LIST(id) AS y FROM s GROUP BY g;
INSERT INTO s (id, g) VALUES (3, 'a');
INSERT INTO s (id, g) VALUES (4, 'a');
ASSERT VALUES result (g, x, y) VALUES ('a', 3, ARRAY[3]);
ASSERT VALUES result (g, x, y) VALUES ('a', 7, ARRAY[3, 4]);

--@test: an aggregate over the time of the record
CREATE TABLE result AS SELECT g, MAX(rowtime) AS x FROM s GROUP BY g;
INSERT INTO s (rowtime, id, g) VALUES (30, 3, 'a');
INSERT INTO s (rowtime, id, g) VALUES (20, 4, 'a');
ASSERT VALUES result (g, x) VALUES ('a', 30);
ASSERT VALUES result (g, x) VALUES ('a', 30);

--@test: the time of a group is a column
CREATE TABLE result AS SELECT g, rowtime AS t, COUNT(*) AS n FROM s GROUP BY g;
INSERT INTO s (rowtime, id, g) VALUES (30, 3, 'a');
ASSERT VALUES result (rowtime, g, t, n) VALUES (30, 'a', 30, 1);

--@test: the source's name before some of the columns
CREATE TABLE result AS SELECT g, COUNT(s.i) AS n FROM s GROUP BY s.g HAVING MAX(i) > 0;
INSERT INTO s (id, g, i) VALUES (1, 'a', 5);
ASSERT VALUES result (g, n) VALUES ('a', 1);

--@test: the group selected between aggregates
CREATE TABLE result AS SELECT COUNT(*) AS n, g, SUM(m) AS x FROM s GROUP BY g;
ASSERT TABLE result (g STRING PRIMARY KEY, n BIGINT, x DECIMAL(6, 2)) WITH (kafka_topic='RESULT');
INSERT INTO s (id, g, m) VALUES (1, 'a', 1.5);
ASSERT VALUES result (g, n, x) VALUES ('a', 1, 1.50);

--@test: HAVING with IN and LIKE
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s GROUP BY g HAVING COUNT(*) IN (2, 3) AND g LIKE 'a%';
INSERT INTO s (id, g) VALUES (1, 'ab');
INSERT INTO s (id, g) VALUES (2, 'ab');
ASSERT VALUES result (g, n) VALUES ('ab', 2);

--@test: values of all types in an aggregate
CREATE STREAM w (id INT KEY, g STRING, m DECIMAL(6, 2), y BYTES, p MAP<STRING, INT>, q STRUCT<x DECIMAL(4, 1)>, ts TIMESTAMP, f DOUBLE, b BOOLEAN) WITH (kafka_topic='w', value_format='JSON');
CREATE TABLE result AS SELECT g, LATEST_BY_OFFSET(m) AS m, LATEST_BY_OFFSET(y) AS y, LATEST_BY_OFFSET(p) AS p, LATEST_BY_OFFSET(q) AS q, LATEST_BY_OFFSET(ts) AS ts, LATEST_BY_OFFSET(f) AS f, LATEST_BY_OFFSET(b) AS b FROM w GROUP BY g;
INSERT INTO w (id, g, m, y, p, q, ts, f, b) VALUES (1, 'a', 1.50, 'AQI=', MAP('k' := 1), STRUCT(x := 1.5), '2020-01-01', 0.5, TRUE);
ASSERT VALUES result (g, m, y, p, q, ts, f, b) VALUES ('a', 1.50, 'AQI=', MAP('k' := 1), STRUCT(x := 1.5), '2020-01-01', 0.5, TRUE);

--@test: by a CASE
CREATE TABLE result AS SELECT CASE WHEN i > 5 THEN 'big' ELSE 'small' END AS size, COUNT(*) AS n FROM s GROUP BY CASE WHEN i > 5 THEN 'big' ELSE 'small' END;
INSERT INTO s (id, i) VALUES (1, 9);
INSERT INTO s (id, i) VALUES (2, 5);
ASSERT VALUES result (size, n) VALUES ('big', 1);
ASSERT VALUES result (size, n) VALUES ('small', 1);

--@test: by a struct
CREATE TABLE result WITH (key_format='JSON') AS SELECT STRUCT(x := i) AS q, COUNT(*) AS n FROM s GROUP BY STRUCT(x := i);
INSERT INTO s (id, i) VALUES (1, 9);
ASSERT VALUES result (q, n) VALUES (STRUCT(x := 9), 1);

--@test: by each element of an array
CREATE TABLE result AS SELECT EXPLODE(a) AS e, COUNT(*) AS n FROM s GROUP BY EXPLODE(a);
INSERT INTO s (id, a) VALUES (1, ARRAY[5, 5]);
ASSERT VALUES result (e, n) VALUES (5, 1);
ASSERT VALUES result (e, n) VALUES (5, 2);

--@test: COUNT(DISTINCT ...)
--@expected.message: COUNT(DISTINCT ...) is not supported
--@expected.message: COUNT_DISTINCT(column) counts each value once.
CREATE TABLE result AS SELECT g, COUNT(DISTINCT i) AS n FROM s GROUP BY g;

--@test: one aggregate twice
CREATE TABLE result AS SELECT g, COUNT(*) AS x, COUNT(*) + 1 AS y FROM s GROUP BY g;
INSERT INTO s (id, g) VALUES (1, 'a');
ASSERT VALUES result (g, x, y) VALUES ('a', 1, 2);

--@test: an aggregate within a CASE
CREATE TABLE result AS SELECT g, CASE WHEN COUNT(*) > 1 THEN 'many' ELSE 'one' END AS x FROM s GROUP BY g;
INSERT INTO s (id, g) VALUES (1, 'a');
INSERT INTO s (id, g) VALUES (2, 'a');
ASSERT VALUES result (g, x) VALUES ('a', 'one');
ASSERT VALUES result (g, x) VALUES ('a', 'many');

--@test: WHERE comes before the grouping
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s WHERE i > 1 GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 1);
INSERT INTO s (id, g, i) VALUES (2, 'a', 2);
ASSERT VALUES result (g, n) VALUES ('a', 1);

--@test: a field of a struct as the group
CREATE STREAM q (id INT KEY, a STRUCT<x STRING>) WITH (kafka_topic='q', value_format='JSON');
CREATE TABLE result AS SELECT a->x AS x, COUNT(*) AS n FROM q GROUP BY a->x;
INSERT INTO q (id, a) VALUES (1, STRUCT(x := 'k'));
ASSERT VALUES result (x, n) VALUES ('k', 1);

--@test: the time of a result is the largest of its records
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s GROUP BY g;
INSERT INTO s (rowtime, id, g) VALUES (10, 1, 'a');
INSERT INTO s (rowtime, id, g) VALUES (5, 2, 'a');
INSERT INTO s (rowtime, id, g) VALUES (20, 3, 'a');
ASSERT VALUES result (rowtime, g, n) VALUES (10, 'a', 1);
ASSERT VALUES result (rowtime, g, n) VALUES (10, 'a', 2);
ASSERT VALUES result (rowtime, g, n) VALUES (20, 'a', 3);

--@test: an aggregate whose argument fails takes it as null
CREATE TABLE result AS SELECT g, COUNT(10 / i) AS n, SUM(10 / i) AS x FROM s GROUP BY g;
INSERT INTO s (id, g, i) VALUES (1, 'a', 5);
INSERT INTO s (id, g, i) VALUES (2, 'a', 0);
ASSERT VALUES result (g, n, x) VALUES ('a', 1, 2);
ASSERT VALUES result (g, n, x) VALUES ('a', 1, 2);

--@test: HAVING: a group that does not meet it is not in the table
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s GROUP BY g HAVING COUNT(*) > 1;
INSERT INTO s (id, g) VALUES (1, 'a');
INSERT INTO s (id, g) VALUES (2, 'b');
INSERT INTO s (id, g) VALUES (3, 'a');
ASSERT VALUES result (g, n) VALUES ('a', 2);

--@test: HAVING: a group that no longer meets it is deleted
CREATE TABLE result AS SELECT g, SUM(i) AS x FROM s GROUP BY g HAVING SUM(i) > 0;
INSERT INTO s (id, g, i) VALUES (1, 'a', 5);
INSERT INTO s (id, g, i) VALUES (2, 'a', -5);
INSERT INTO s (id, g, i) VALUES (3, 'a', 7);
ASSERT VALUES result (g, x) VALUES ('a', 5);
ASSERT NULL VALUES result (g) KEY ('a');
ASSERT VALUES result (g, x) VALUES ('a', 7);

--@test: HAVING over the group, and over an aggregate that is not selected
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s GROUP BY g HAVING g <> 'x' AND MAX(i) > 3;
INSERT INTO s (id, g, i) VALUES (1, 'x', 9);
INSERT INTO s (id, g, i) VALUES (2, 'a', 3);
INSERT INTO s (id, g, i) VALUES (3, 'a', 4);
ASSERT VALUES result (g, n) VALUES ('a', 2);

--@test: the group must be selected
--@expected.error: SqlError
--@expected.message: the key is missing from the SELECT: G
CREATE TABLE result AS SELECT COUNT(*) AS n FROM s GROUP BY g;

--@test: a column that is neither grouped by nor aggregated
--@expected.error: SqlError
--@expected.message: I is neither grouped by nor in an aggregate
--@expected.message: LATEST_BY_OFFSET(I)
CREATE TABLE result AS SELECT g, i, COUNT(*) AS n FROM s GROUP BY g;

--@test: HAVING over a column that is neither
--@expected.error: SqlError
--@expected.message: I is neither grouped by nor in an aggregate
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s GROUP BY g HAVING i > 1;

--@test: an aggregate without GROUP BY
--@expected.error: SqlError
--@expected.message: an aggregate needs GROUP BY
CREATE TABLE result AS SELECT COUNT(*) AS n FROM s;

--@test: an aggregate of an aggregate
--@expected.error: SqlError
--@expected.message: an aggregate cannot stand inside the aggregate SUM
CREATE TABLE result AS SELECT g, SUM(COUNT(*)) AS n FROM s GROUP BY g;

--@test: an aggregate in WHERE
--@expected.error: SqlError
--@expected.message: WHERE comes before the grouping
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s WHERE COUNT(*) > 1 GROUP BY g;

--@test: an aggregate in GROUP BY
--@expected.error: SqlError
--@expected.message: an aggregate cannot be grouped by
CREATE TABLE result AS SELECT g, COUNT(*) AS n FROM s GROUP BY COUNT(*);

--@test: HAVING without GROUP BY
--@expected.error: SqlError
--@expected.message: HAVING needs GROUP BY
CREATE STREAM result AS SELECT id, i FROM s HAVING i > 1;

--@test: a grouped query makes a table
--@expected.error: SqlError
--@expected.message: the query makes a TABLE, not a STREAM
--@expected.message: Write CREATE TABLE RESULT AS SELECT.
CREATE STREAM result AS SELECT g, COUNT(*) AS n FROM s GROUP BY g;

--@test: a query without groups makes a stream
--@expected.error: SqlError
--@expected.message: the query makes a STREAM, not a TABLE
CREATE TABLE result AS SELECT id, g FROM s;

--@test: the number of TOPK is a constant
--@expected.error: SqlError
--@expected.message: argument 2 of TOPK must be a constant
CREATE TABLE result AS SELECT g, TOPK(i, i) AS x FROM s GROUP BY g;

--@test: the sum of a text
--@expected.error: SqlError
--@expected.message: SUM does not take (STRING)
CREATE TABLE result AS SELECT g, SUM(h) AS x FROM s GROUP BY g;
