-- JOIN of two streams: records whose times are not further apart than WITHIN says.

CREATE STREAM a (id INT KEY, x STRING, k INT) WITH (kafka_topic='a', value_format='JSON');
CREATE STREAM b (id INT KEY, y STRING) WITH (kafka_topic='b', value_format='JSON');

--@test: INNER: each pair within the time, with the later time
CREATE STREAM r AS SELECT a.id AS id, x, y FROM a JOIN b WITHIN 10 MILLISECONDS ON a.id = b.id;
INSERT INTO a (rowtime, id, x) VALUES (0, 1, 'a0');
INSERT INTO b (rowtime, id, y) VALUES (10, 1, 'b10');
INSERT INTO a (rowtime, id, x) VALUES (15, 1, 'a15');
INSERT INTO b (rowtime, id, y) VALUES (11, 1, 'b11');
ASSERT VALUES r (rowtime, id, x, y) VALUES (10, 1, 'a0', 'b10');
ASSERT VALUES r (rowtime, id, x, y) VALUES (15, 1, 'a15', 'b10');
ASSERT VALUES r (rowtime, id, x, y) VALUES (15, 1, 'a15', 'b11');

--@test: INNER: other keys do not meet
CREATE STREAM r AS SELECT a.id AS id, x, y FROM a JOIN b WITHIN 10 MILLISECONDS ON a.id = b.id;
INSERT INTO a (rowtime, id, x) VALUES (0, 1, 'a');
INSERT INTO b (rowtime, id, y) VALUES (1, 2, 'no');
INSERT INTO b (rowtime, id, y) VALUES (2, 1, 'b');
ASSERT VALUES r (rowtime, id, x, y) VALUES (2, 1, 'a', 'b');

--@test: INNER: one record meets several
CREATE STREAM r AS SELECT a.id AS id, x, y FROM a JOIN b WITHIN 1 SECOND ON a.id = b.id;
INSERT INTO a (rowtime, id, x) VALUES (1, 1, 'p');
INSERT INTO a (rowtime, id, x) VALUES (2, 1, 'q');
INSERT INTO b (rowtime, id, y) VALUES (3, 1, 'z');
ASSERT VALUES r (rowtime, id, x, y) VALUES (3, 1, 'p', 'z');
ASSERT VALUES r (rowtime, id, x, y) VALUES (3, 1, 'q', 'z');

--@test: WITHIN (before, after): how much earlier and how much later the right record may be
CREATE STREAM r AS SELECT a.id AS id, x, y FROM a JOIN b WITHIN (0 MILLISECONDS, 10 MILLISECONDS) ON a.id = b.id;
INSERT INTO b (rowtime, id, y) VALUES (99, 1, 'before');
INSERT INTO a (rowtime, id, x) VALUES (100, 1, 'a');
INSERT INTO b (rowtime, id, y) VALUES (100, 1, 'same');
INSERT INTO b (rowtime, id, y) VALUES (110, 1, 'after');
INSERT INTO b (rowtime, id, y) VALUES (111, 1, 'too late');
INSERT INTO a (rowtime, id, x) VALUES (111, 1, 'c');
ASSERT VALUES r (rowtime, id, x, y) VALUES (100, 1, 'a', 'same');
ASSERT VALUES r (rowtime, id, x, y) VALUES (110, 1, 'a', 'after');
ASSERT VALUES r (rowtime, id, x, y) VALUES (111, 1, 'c', 'too late');

--@test: LEFT with GRACE PERIOD: a record that met nobody comes when its time is over
CREATE STREAM r AS SELECT a.id AS id, x, y FROM a LEFT JOIN b WITHIN 10 MILLISECONDS GRACE PERIOD 0 MILLISECONDS ON a.id = b.id;
INSERT INTO a (rowtime, id, x) VALUES (0, 1, 'alone');
INSERT INTO a (rowtime, id, x) VALUES (5, 2, 'met');
INSERT INTO b (rowtime, id, y) VALUES (6, 2, 'b');
INSERT INTO a (rowtime, id, x) VALUES (30, 3, 'later');
ASSERT VALUES r (rowtime, id, x, y) VALUES (6, 2, 'met', 'b');
ASSERT VALUES r (rowtime, id, x, y) VALUES (0, 1, 'alone', NULL);

--@test: LEFT without GRACE PERIOD: a record that has met nobody comes at once, and its match later
CREATE STREAM r AS SELECT a.id AS id, x, y FROM a LEFT JOIN b WITHIN 10 MILLISECONDS ON a.id = b.id;
INSERT INTO a (rowtime, id, x) VALUES (0, 1, 'p');
INSERT INTO b (rowtime, id, y) VALUES (5, 1, 'q');
INSERT INTO a (rowtime, id, x) VALUES (6, 1, 's');
ASSERT VALUES r (rowtime, id, x, y) VALUES (0, 1, 'p', NULL);
ASSERT VALUES r (rowtime, id, x, y) VALUES (5, 1, 'p', 'q');
ASSERT VALUES r (rowtime, id, x, y) VALUES (6, 1, 's', 'q');

--@test: RIGHT without GRACE PERIOD
CREATE STREAM r AS SELECT b.id AS id, x, y FROM a RIGHT JOIN b WITHIN 10 MILLISECONDS ON a.id = b.id;
INSERT INTO b (rowtime, id, y) VALUES (0, 1, 'q');
INSERT INTO a (rowtime, id, x) VALUES (5, 1, 'p');
ASSERT VALUES r (rowtime, id, x, y) VALUES (0, 1, NULL, 'q');
ASSERT VALUES r (rowtime, id, x, y) VALUES (5, 1, 'p', 'q');

--@test: FULL without GRACE PERIOD
CREATE STREAM r AS SELECT ROWKEY AS id, x, y FROM a FULL JOIN b WITHIN 10 MILLISECONDS ON a.id = b.id;
INSERT INTO a (rowtime, id, x) VALUES (0, 1, 'p');
INSERT INTO b (rowtime, id, y) VALUES (5, 1, 'q');
INSERT INTO b (rowtime, id, y) VALUES (50, 2, 'z');
ASSERT VALUES r (rowtime, id, x, y) VALUES (0, 1, 'p', NULL);
ASSERT VALUES r (rowtime, id, x, y) VALUES (5, 1, 'p', 'q');
ASSERT VALUES r (rowtime, id, x, y) VALUES (50, 2, NULL, 'z');

--@test: RIGHT with GRACE PERIOD
CREATE STREAM r AS SELECT b.id AS id, x, y FROM a RIGHT JOIN b WITHIN 10 MILLISECONDS GRACE PERIOD 0 MILLISECONDS ON a.id = b.id;
INSERT INTO b (rowtime, id, y) VALUES (0, 1, 'alone');
INSERT INTO b (rowtime, id, y) VALUES (5, 2, 'met');
INSERT INTO a (rowtime, id, x) VALUES (6, 2, 'a');
INSERT INTO b (rowtime, id, y) VALUES (30, 3, 'later');
ASSERT VALUES r (rowtime, id, x, y) VALUES (6, 2, 'a', 'met');
ASSERT VALUES r (rowtime, id, x, y) VALUES (0, 1, NULL, 'alone');

--@test: FULL with GRACE PERIOD: the key is ROWKEY
CREATE STREAM r AS SELECT ROWKEY AS id, x, y FROM a FULL OUTER JOIN b WITHIN 10 MILLISECONDS GRACE PERIOD 0 MILLISECONDS ON a.id = b.id;
INSERT INTO a (rowtime, id, x) VALUES (0, 1, 'left');
INSERT INTO b (rowtime, id, y) VALUES (20, 2, 'right');
INSERT INTO a (rowtime, id, x) VALUES (40, 3, 'later');
ASSERT VALUES r (rowtime, id, x, y) VALUES (0, 1, 'left', NULL);
ASSERT VALUES r (rowtime, id, x, y) VALUES (20, 2, NULL, 'right');

--@test: a record after the grace period does not meet
CREATE STREAM r AS SELECT a.id AS id, x, y FROM a JOIN b WITHIN 10 MILLISECONDS GRACE PERIOD 0 MILLISECONDS ON a.id = b.id;
INSERT INTO a (rowtime, id, x) VALUES (0, 1, 'old');
INSERT INTO a (rowtime, id, x) VALUES (100, 1, 'new');
INSERT INTO b (rowtime, id, y) VALUES (5, 1, 'late');
INSERT INTO b (rowtime, id, y) VALUES (100, 1, 'b');
ASSERT VALUES r (rowtime, id, x, y) VALUES (100, 1, 'new', 'b');

--@test: by a column that is not the key: the stream is written again with another key
CREATE STREAM r AS SELECT b.id AS id, x, y FROM a JOIN b WITHIN 1 SECOND ON a.k = b.id;
INSERT INTO a (rowtime, id, x, k) VALUES (0, 1, 'x', 7);
INSERT INTO b (rowtime, id, y) VALUES (1, 7, 'y');
ASSERT VALUES r (rowtime, id, x, y) VALUES (1, 7, 'x', 'y');

--@test: a stream with itself, under two names
CREATE STREAM r AS SELECT p.id AS id, p.x AS px, q.x AS qx FROM a p JOIN a q WITHIN 1 SECOND ON p.id = q.id;
INSERT INTO a (rowtime, id, x) VALUES (1, 1, 'one');
ASSERT VALUES r (rowtime, id, px, qx) VALUES (1, 1, 'one', 'one');

--@test: two streams and a table
CREATE TABLE t (id INT PRIMARY KEY, w STRING) WITH (kafka_topic='t', value_format='JSON');
CREATE STREAM r AS SELECT a.id AS id, x, y, w FROM a JOIN b WITHIN 1 SECOND ON a.id = b.id JOIN t ON a.id = t.id;
INSERT INTO t (id, w) VALUES (1, 'w');
INSERT INTO a (id, x) VALUES (1, 'x');
INSERT INTO b (id, y) VALUES (1, 'y');
ASSERT VALUES r (id, x, y, w) VALUES (1, 'x', 'y', 'w');

--@test: an unknown source in the second join
--@expected.error: SqlError
--@expected.message: C does not exist
CREATE STREAM r AS SELECT a.id AS id, x FROM a JOIN b WITHIN 1 SECOND ON a.id = b.id JOIN c ON a.id = c.id;

--@test: WHERE after the join of streams
CREATE STREAM r AS SELECT a.id AS id, x, y FROM a JOIN b WITHIN 1 SECOND ON a.id = b.id WHERE x <> y;
INSERT INTO a (rowtime, id, x) VALUES (0, 1, 'same');
INSERT INTO b (rowtime, id, y) VALUES (1, 1, 'same');
INSERT INTO b (rowtime, id, y) VALUES (2, 1, 'other');
ASSERT VALUES r (rowtime, id, x, y) VALUES (2, 1, 'same', 'other');

--@test: the times of both sides
CREATE STREAM r AS SELECT a.id AS id, a.rowtime AS at, b.rowtime AS bt, rowtime AS rt FROM a JOIN b WITHIN 1 SECOND ON a.id = b.id;
INSERT INTO a (rowtime, id) VALUES (5, 1);
INSERT INTO b (rowtime, id) VALUES (3, 1);
ASSERT VALUES r (rowtime, id, at, bt, rt) VALUES (5, 1, 5, 3, 5);

--@test: windows of a join
CREATE TABLE r AS SELECT a.id AS id, COUNT(*) AS n FROM a JOIN b WITHIN 1 SECOND ON a.id = b.id WINDOW TUMBLING (SIZE 10 MILLISECONDS) GROUP BY a.id;
INSERT INTO a (rowtime, id) VALUES (1, 1);
INSERT INTO b (rowtime, id) VALUES (9, 1);
INSERT INTO b (rowtime, id) VALUES (12, 1);
ASSERT VALUES r (rowtime, windowstart, windowend, id, n) VALUES (9, 0, 10, 1, 1);
ASSERT VALUES r (rowtime, windowstart, windowend, id, n) VALUES (12, 10, 20, 1, 1);

--@test: two streams need WITHIN
--@expected.error: SqlError
--@expected.message: a join of two streams needs WITHIN
--@expected.message: WITHIN 1 HOUR
CREATE STREAM r AS SELECT a.id AS id, x, y FROM a JOIN b ON a.id = b.id;
