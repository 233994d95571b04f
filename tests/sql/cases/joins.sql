-- JOIN of streams and tables: stream with table, table with table, by a foreign key, and several in a row.

CREATE STREAM s (id INT KEY, v STRING, k INT) WITH (kafka_topic='s', value_format='JSON');
CREATE TABLE t (id INT PRIMARY KEY, w STRING) WITH (kafka_topic='t', value_format='KAFKA');
CREATE TABLE u (id INT PRIMARY KEY, x STRING) WITH (kafka_topic='u', value_format='KAFKA');
CREATE TABLE f (id INT PRIMARY KEY, ref INT, y STRING) WITH (kafka_topic='f', value_format='JSON');

--@test: stream and table: a record finds the row of its time
CREATE STREAM r AS SELECT s.id AS id, v, w FROM s JOIN t ON s.id = t.id;
INSERT INTO t (rowtime, id, w) VALUES (0, 1, 'one');
INSERT INTO s (rowtime, id, v) VALUES (10, 1, 'a');
INSERT INTO t (rowtime, id, w) VALUES (20, 1, 'uno');
INSERT INTO s (rowtime, id, v) VALUES (30, 1, 'b');
ASSERT VALUES r (rowtime, id, v, w) VALUES (10, 1, 'a', 'one');
ASSERT VALUES r (rowtime, id, v, w) VALUES (30, 1, 'b', 'uno');

--@test: stream and table, INNER: a record without a row is left out
CREATE STREAM r AS SELECT s.id AS id, v, w FROM s INNER JOIN t ON s.id = t.id;
INSERT INTO s (id, v) VALUES (1, 'a');
INSERT INTO t (id, w) VALUES (2, 'two');
INSERT INTO s (id, v) VALUES (2, 'b');
ASSERT VALUES r (id, v, w) VALUES (2, 'b', 'two');

--@test: stream and table, LEFT: a record without a row has nulls
CREATE STREAM r AS SELECT s.id AS id, v, w FROM s LEFT JOIN t ON s.id = t.id;
INSERT INTO s (id, v) VALUES (1, 'a');
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'b');
ASSERT VALUES r (id, v, w) VALUES (1, 'a', NULL);
ASSERT VALUES r (id, v, w) VALUES (1, 'b', 'one');

--@test: stream and table: a row alone makes no result
CREATE STREAM r AS SELECT s.id AS id, v, w FROM s LEFT JOIN t ON s.id = t.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'a');
ASSERT VALUES r (id, v, w) VALUES (1, 'a', 'one');

--@test: stream and table: a row that was deleted is gone
CREATE STREAM r AS SELECT s.id AS id, v, w FROM s LEFT JOIN t ON s.id = t.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO t (id, w) VALUES (1, NULL);
INSERT INTO s (id, v) VALUES (1, 'a');
ASSERT VALUES r (id, v, w) VALUES (1, 'a', NULL);

--@test: stream and table by a column that is not the stream's key: the result has the table's key
CREATE STREAM r AS SELECT s.k, s.id AS id, v, w FROM s JOIN t ON s.k = t.id;
ASSERT STREAM r (k INT KEY, id INT, v STRING, w STRING) WITH (kafka_topic='R');
INSERT INTO t (id, w) VALUES (7, 'seven');
INSERT INTO s (id, v, k) VALUES (1, 'a', 7);
ASSERT VALUES r (k, id, v, w) VALUES (7, 1, 'a', 'seven');

--@test: stream and table by an expression
CREATE STREAM r AS SELECT t.id AS id, v, w FROM s JOIN t ON s.k + 1 = t.id;
INSERT INTO t (id, w) VALUES (8, 'eight');
INSERT INTO s (id, v, k) VALUES (1, 'a', 7);
ASSERT VALUES r (id, v, w) VALUES (8, 'a', 'eight');

--@test: the sides of the condition may be swapped
CREATE STREAM r AS SELECT s.id AS id, v, w FROM s JOIN t ON t.id = s.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'a');
ASSERT VALUES r (id, v, w) VALUES (1, 'a', 'one');

--@test: * has the name of the source before each column
CREATE STREAM r AS SELECT * FROM s JOIN t ON s.id = t.id;
ASSERT STREAM r (s_id INT KEY, s_v STRING, s_k INT, t_id INT, t_w STRING) WITH (kafka_topic='R');
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id, v, k) VALUES (1, 'a', 5);
ASSERT VALUES r (s_id, s_v, s_k, t_id, t_w) VALUES (1, 'a', 5, 1, 'one');

--@test: a column that both have gets the name of its source before its own
CREATE STREAM r AS SELECT s.id, t.id, v FROM s JOIN t ON s.id = t.id;
ASSERT STREAM r (s_id INT KEY, t_id INT, v STRING) WITH (kafka_topic='R');
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'a');
ASSERT VALUES r (s_id, t_id, v) VALUES (1, 1, 'a');

--@test: aliases of the sources
CREATE STREAM r AS SELECT a.id AS id, a.v, b.w FROM s a JOIN t AS b ON a.id = b.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'x');
ASSERT VALUES r (id, v, w) VALUES (1, 'x', 'one');

--@test: WHERE after the join
CREATE STREAM r AS SELECT s.id AS id, v, w FROM s LEFT JOIN t ON s.id = t.id WHERE w = 'two' AND v <> 'x';
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO t (id, w) VALUES (2, 'two');
INSERT INTO s (id, v) VALUES (1, 'a');
INSERT INTO s (id, v) VALUES (2, 'x');
INSERT INTO s (id, v) VALUES (2, 'b');
ASSERT VALUES r (id, v, w) VALUES (2, 'b', 'two');

--@test: groups of a join
CREATE TABLE r AS SELECT w, COUNT(*) AS n FROM s JOIN t ON s.id = t.id GROUP BY w;
INSERT INTO t (id, w) VALUES (1, 'odd');
INSERT INTO t (id, w) VALUES (3, 'odd');
INSERT INTO s (id) VALUES (1);
INSERT INTO s (id) VALUES (3);
ASSERT VALUES r (w, n) VALUES ('odd', 1);
ASSERT VALUES r (w, n) VALUES ('odd', 2);

--@test: a record without a key does not meet a table
CREATE STREAM r AS SELECT s.id AS id, v, w FROM s JOIN t ON s.id = t.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (v) VALUES ('a');
INSERT INTO s (id, v) VALUES (1, 'b');
ASSERT VALUES r (id, v, w) VALUES (1, 'b', 'one');

--@test: tables, INNER: a result as soon as both are there, and for each change
CREATE TABLE r WITH (value_format='JSON') AS SELECT t.id AS id, w, x FROM t JOIN u ON t.id = u.id;
INSERT INTO t (rowtime, id, w) VALUES (5, 1, 'one');
INSERT INTO u (rowtime, id, x) VALUES (3, 1, 'I');
INSERT INTO t (rowtime, id, w) VALUES (9, 1, 'uno');
ASSERT VALUES r (rowtime, id, w, x) VALUES (5, 1, 'one', 'I');
ASSERT VALUES r (rowtime, id, w, x) VALUES (9, 1, 'uno', 'I');

--@test: tables, INNER: a deleted row deletes the result
CREATE TABLE r WITH (value_format='JSON') AS SELECT t.id AS id, w, x FROM t JOIN u ON t.id = u.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO u (id, x) VALUES (1, 'I');
INSERT INTO u (id, x) VALUES (1, NULL);
INSERT INTO u (id, x) VALUES (1, 'i');
ASSERT VALUES r (id, w, x) VALUES (1, 'one', 'I');
ASSERT NULL VALUES r (id) KEY (1);
ASSERT VALUES r (id, w, x) VALUES (1, 'one', 'i');

--@test: tables, LEFT: the right side may be missing
CREATE TABLE r WITH (value_format='JSON') AS SELECT t.id AS id, w, x FROM t LEFT JOIN u ON t.id = u.id;
INSERT INTO u (id, x) VALUES (2, 'II');
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO u (id, x) VALUES (1, 'I');
INSERT INTO u (id, x) VALUES (1, NULL);
INSERT INTO t (id, w) VALUES (1, NULL);
ASSERT VALUES r (id, w, x) VALUES (1, 'one', NULL);
ASSERT VALUES r (id, w, x) VALUES (1, 'one', 'I');
ASSERT VALUES r (id, w, x) VALUES (1, 'one', NULL);
ASSERT NULL VALUES r (id) KEY (1);

--@test: tables, RIGHT: the left side may be missing
CREATE TABLE r WITH (value_format='JSON') AS SELECT u.id AS id, w, x FROM t RIGHT JOIN u ON t.id = u.id;
INSERT INTO t (id, w) VALUES (2, 'two');
INSERT INTO u (id, x) VALUES (1, 'I');
INSERT INTO t (id, w) VALUES (1, 'one');
ASSERT VALUES r (id, w, x) VALUES (1, NULL, 'I');
ASSERT VALUES r (id, w, x) VALUES (1, 'one', 'I');

--@test: tables, FULL: either side may be missing, and the key is ROWKEY
CREATE TABLE r WITH (value_format='JSON') AS SELECT ROWKEY AS id, w, x FROM t FULL OUTER JOIN u ON t.id = u.id;
ASSERT TABLE r (id INT PRIMARY KEY, w STRING, x STRING) WITH (kafka_topic='R');
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO u (id, x) VALUES (2, 'II');
INSERT INTO u (id, x) VALUES (1, 'I');
INSERT INTO t (id, w) VALUES (1, NULL);
ASSERT VALUES r (id, w, x) VALUES (1, 'one', NULL);
ASSERT VALUES r (id, w, x) VALUES (2, NULL, 'II');
ASSERT VALUES r (id, w, x) VALUES (1, 'one', 'I');
ASSERT VALUES r (id, w, x) VALUES (1, NULL, 'I');

--@test: tables with WHERE: what no longer passes is deleted
CREATE TABLE r WITH (value_format='JSON') AS SELECT t.id AS id, w, x FROM t JOIN u ON t.id = u.id WHERE x <> 'no';
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO u (id, x) VALUES (1, 'I');
INSERT INTO u (id, x) VALUES (1, 'no');
ASSERT VALUES r (id, w, x) VALUES (1, 'one', 'I');
ASSERT NULL VALUES r (id) KEY (1);

--@test: foreign key: a row finds the row its column names, and keeps its own key
CREATE TABLE r AS SELECT f.id AS id, y, w FROM f JOIN t ON f.ref = t.id;
ASSERT TABLE r (id INT PRIMARY KEY, y STRING, w STRING) WITH (kafka_topic='R');
INSERT INTO t (id, w) VALUES (7, 'seven');
INSERT INTO f (id, ref, y) VALUES (1, 7, 'a');
INSERT INTO f (id, ref, y) VALUES (2, 7, 'b');
ASSERT VALUES r (id, y, w) VALUES (1, 'a', 'seven');
ASSERT VALUES r (id, y, w) VALUES (2, 'b', 'seven');

--@test: foreign key: a change on the right changes all rows that name it
CREATE TABLE r AS SELECT f.id AS id, y, w FROM f JOIN t ON f.ref = t.id;
INSERT INTO f (id, ref, y) VALUES (1, 7, 'a');
INSERT INTO f (id, ref, y) VALUES (2, 7, 'b');
INSERT INTO f (id, ref, y) VALUES (3, 8, 'c');
INSERT INTO t (id, w) VALUES (7, 'seven');
ASSERT VALUES r (id, y, w) VALUES (1, 'a', 'seven');
ASSERT VALUES r (id, y, w) VALUES (2, 'b', 'seven');

--@test: foreign key: a row that names another row
CREATE TABLE r AS SELECT f.id AS id, y, w FROM f JOIN t ON f.ref = t.id;
INSERT INTO t (id, w) VALUES (7, 'seven');
INSERT INTO t (id, w) VALUES (8, 'eight');
INSERT INTO f (id, ref, y) VALUES (1, 7, 'a');
INSERT INTO f (id, ref, y) VALUES (1, 8, 'a');
ASSERT VALUES r (id, y, w) VALUES (1, 'a', 'seven');
ASSERT VALUES r (id, y, w) VALUES (1, 'a', 'eight');

--@test: foreign key, LEFT: a row that names nothing has nulls
CREATE TABLE r AS SELECT f.id AS id, y, w FROM f LEFT JOIN t ON f.ref = t.id;
INSERT INTO f (id, ref, y) VALUES (1, 7, 'a');
INSERT INTO t (id, w) VALUES (7, 'seven');
INSERT INTO t (id, w) VALUES (7, NULL);
ASSERT VALUES r (id, y, w) VALUES (1, 'a', NULL);
ASSERT VALUES r (id, y, w) VALUES (1, 'a', 'seven');
ASSERT VALUES r (id, y, w) VALUES (1, 'a', NULL);

--@test: foreign key by a field of a struct
CREATE TABLE g (id INT PRIMARY KEY, p STRUCT<ref INT>) WITH (kafka_topic='g', value_format='JSON');
CREATE TABLE r AS SELECT g.id AS id, w FROM g JOIN t ON g.p->ref = t.id;
INSERT INTO t (id, w) VALUES (7, 'seven');
INSERT INTO g (id, p) VALUES (1, STRUCT(ref := 7));
ASSERT VALUES r (id, w) VALUES (1, 'seven');

--@test: the times of two tables
CREATE TABLE r WITH (value_format='JSON') AS SELECT t.id AS id, rowtime AS rt, t.rowtime AS a, u.rowtime AS b FROM t JOIN u ON t.id = u.id;
INSERT INTO t (rowtime, id, w) VALUES (20, 1, 'one');
INSERT INTO u (rowtime, id, x) VALUES (10, 1, 'I');
ASSERT VALUES r (rowtime, id, rt, a, b) VALUES (20, 1, 20, 20, 10);

--@test: all columns of one side
CREATE STREAM r AS SELECT s.*, w FROM s JOIN t ON s.id = t.id;
ASSERT STREAM r (id INT KEY, v STRING, k INT, w STRING) WITH (kafka_topic='R');
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'a');
ASSERT VALUES r (id, v, w) VALUES (1, 'a', 'one');

--@test: the result of a join gets another key
CREATE STREAM r AS SELECT w, s.id AS id FROM s JOIN t ON s.id = t.id PARTITION BY w;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id) VALUES (1);
ASSERT VALUES r (w, id) VALUES ('one', 1);

--@test: INSERT INTO ... SELECT from a join
CREATE STREAM r (id INT KEY, v STRING) WITH (kafka_topic='r', value_format='JSON');
INSERT INTO r SELECT s.id AS id, w AS v FROM s JOIN t ON s.id = t.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'a');
ASSERT VALUES r (id, v) VALUES (1, 'one');

--@test: three in a row: a stream and two tables
CREATE STREAM r AS SELECT s.id AS id, v, w, x FROM s JOIN t ON s.id = t.id LEFT JOIN u ON s.id = u.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'a');
INSERT INTO u (id, x) VALUES (1, 'I');
INSERT INTO s (id, v) VALUES (1, 'b');
ASSERT VALUES r (id, v, w, x) VALUES (1, 'a', 'one', NULL);
ASSERT VALUES r (id, v, w, x) VALUES (1, 'b', 'one', 'I');

--@test: three tables in a row
CREATE TABLE z (id INT PRIMARY KEY, q STRING) WITH (kafka_topic='z', value_format='KAFKA');
CREATE TABLE r WITH (value_format='JSON') AS SELECT t.id AS id, w, x, q FROM t JOIN u ON t.id = u.id JOIN z ON t.id = z.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO u (id, x) VALUES (1, 'I');
INSERT INTO z (id, q) VALUES (1, 'i');
ASSERT VALUES r (id, w, x, q) VALUES (1, 'one', 'I', 'i');

--@test: the second join by another column
CREATE STREAM r AS SELECT u.id AS id, v, w, x FROM s JOIN t ON s.id = t.id JOIN u ON s.k = u.id;
INSERT INTO t (id, w) VALUES (1, 'one');
INSERT INTO u (id, x) VALUES (7, 'VII');
INSERT INTO s (id, v, k) VALUES (1, 'a', 7);
ASSERT VALUES r (id, v, w, x) VALUES (7, 'a', 'one', 'VII');

--@test: keys of two kinds of numbers are brought to one
CREATE TABLE l (id BIGINT PRIMARY KEY, w STRING) WITH (kafka_topic='l', value_format='KAFKA');
CREATE STREAM r AS SELECT l.id AS id, v, w FROM s JOIN l ON CAST(s.id AS BIGINT) = l.id;
INSERT INTO l (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'a');
ASSERT VALUES r (id, v, w) VALUES (1, 'a', 'one');

--@test: a table to the left of a stream
--@expected.error: SqlError
--@expected.message: a table cannot be joined with the stream S to its right
CREATE STREAM r AS SELECT s.id AS id, v FROM t JOIN s ON t.id = s.id;

--@test: a stream and a table have no RIGHT join
--@expected.error: SqlError
--@expected.message: a stream and a table have no RIGHT OUTER join
CREATE STREAM r AS SELECT s.id AS id, v FROM s RIGHT JOIN t ON t.id = s.id;

--@test: a stream and a table have no FULL join
--@expected.error: SqlError
--@expected.message: a stream and a table have no FULL OUTER join
CREATE STREAM r AS SELECT s.id AS id, v FROM s FULL JOIN t ON t.id = s.id;

--@test: WITHIN between a stream and a table
--@expected.error: SqlError
--@expected.message: WITHIN belongs to joins of two streams
CREATE STREAM r AS SELECT s.id AS id, v FROM s JOIN t WITHIN 1 HOUR ON t.id = s.id;

--@test: a table is joined by its key
--@expected.error: SqlError
--@expected.message: the table T is joined by its primary key
--@expected.message: Compare with T.ID.
CREATE STREAM r AS SELECT s.id AS id, v FROM s JOIN t ON s.v = t.w;

--@test: a foreign key has no FULL join
--@expected.error: SqlError
--@expected.message: a join by a foreign key has no FULL OUTER form
CREATE TABLE r AS SELECT f.id AS id, y, w FROM f FULL JOIN t ON f.ref = t.id;

--@test: a condition that is no equality
--@expected.error: SqlError
--@expected.message: a join's condition is one equality
CREATE STREAM r AS SELECT s.id AS id, v FROM s JOIN t ON s.id > t.id;

--@test: two conditions
--@expected.error: SqlError
--@expected.message: put further conditions in WHERE
CREATE STREAM r AS SELECT s.id AS id, v FROM s JOIN t ON s.id = t.id AND s.v = t.w;

--@test: a condition about one source
--@expected.error: SqlError
--@expected.message: a join's condition compares the two sources
CREATE STREAM r AS SELECT s.id AS id, v FROM s JOIN t ON s.id = s.k;

--@test: a source with a window in its key
--@expected.message: W has a window in its key, which joins do not match
CREATE STREAM w (id INT KEY, n INT) WITH (kafka_topic='w', value_format='JSON', window_type='tumbling', window_size='1 second');
CREATE STREAM r AS SELECT w.id AS id, n FROM w JOIN t ON w.id = t.id;

--@test: foreign keys to two tables
CREATE TABLE g (id INT PRIMARY KEY, p INT, q INT) WITH (kafka_topic='g', value_format='JSON');
CREATE TABLE r AS SELECT g.id AS id, w, x FROM g JOIN t ON g.p = t.id LEFT JOIN u ON g.q = u.id;
INSERT INTO t (id, w) VALUES (8, 'w');
INSERT INTO u (id, x) VALUES (9, 'x');
INSERT INTO g (id, p, q) VALUES (1, 8, 9);
ASSERT VALUES r (id, w, x) VALUES (1, 'w', 'x');

--@test: foreign key by an expression
CREATE TABLE r AS SELECT f.id AS id, w FROM f JOIN t ON f.ref + 1 = t.id;
INSERT INTO t (id, w) VALUES (8, 'eight');
INSERT INTO f (id, ref) VALUES (1, 7);
ASSERT VALUES r (id, w) VALUES (1, 'eight');

--@test: an INTEGER key meets a BIGINT key
CREATE TABLE l (id BIGINT PRIMARY KEY, w STRING) WITH (kafka_topic='l', value_format='KAFKA');
CREATE STREAM r AS SELECT s.id AS id, v, w FROM s JOIN l ON s.id = l.id;
INSERT INTO l (id, w) VALUES (1, 'one');
INSERT INTO s (id, v) VALUES (1, 'a');
ASSERT VALUES r (id, v, w) VALUES (1, 'a', 'one');

--@test: a join without ON
--@expected.error: SqlError
--@expected.message: expected 'ON' and the join's condition
CREATE STREAM r AS SELECT s.id AS id, v FROM s JOIN t WHERE s.id = t.id;

--@test: keys that do not compare
--@expected.error: SqlError
--@expected.message: the join compares STRING with INTEGER
CREATE STREAM r AS SELECT s.id AS id, v FROM s JOIN t ON s.v = t.id;

--@test: one source twice needs a second name
--@expected.error: SqlError
--@expected.message: two sources are called T
CREATE TABLE r WITH (value_format='JSON') AS SELECT t.id AS id FROM t JOIN t ON t.id = t.id;

--@test: an ambiguous column
--@expected.error: SqlError
--@expected.message: ID is ambiguous
--@expected.message: Write S.ID or T.ID.
CREATE STREAM r AS SELECT id, v FROM s JOIN t ON s.id = t.id;

--@test: the key of the join must be selected
--@expected.error: SqlError
--@expected.message: the key is missing from the SELECT: S.ID or T.ID
CREATE STREAM r AS SELECT v, w FROM s JOIN t ON s.id = t.id;

--@test: topics with different numbers of partitions
--@expected.error: SqlError
--@expected.message: a join needs the same number of partitions on both sides: P has 3 partitions, T has 1 partition
CREATE STREAM p (id INT KEY, v STRING) WITH (kafka_topic='p', value_format='JSON', partitions=3);
CREATE STREAM r AS SELECT p.id AS id, v, w FROM p JOIN t ON p.id = t.id;

--@test: CROSS JOIN
--@expected.error: SqlError
--@expected.message: CROSS JOIN is not supported
CREATE STREAM r AS SELECT s.id AS id, v FROM s CROSS JOIN t;
