-- INSERT INTO ... VALUES and INSERT INTO ... SELECT.

CREATE STREAM s (id INT KEY, a INT, b STRING, g BIGINT, d DOUBLE, m DECIMAL(4, 2), y BYTES) WITH (kafka_topic='s', value_format='JSON');
CREATE TABLE t (id INT PRIMARY KEY, v STRING) WITH (kafka_topic='t', value_format='JSON');

--@test: without names the values are those of all columns in their order
INSERT INTO s VALUES (1, 2, 'x', 3, 4.5, 6.75, 'AQI=');
ASSERT VALUES s (id, a, b, g, d, m, y) VALUES (1, 2, 'x', 3, 4.5, 6.75, 'AQI=');

--@test: names in another order
INSERT INTO s (b, id) VALUES ('x', 1);
ASSERT VALUES s (id, b) VALUES (1, 'x');

--@test: expressions as values
INSERT INTO s (id, a, b) VALUES (1 + 1, 2 * 3, 'x' || 'y');
ASSERT VALUES s (id, a, b) VALUES (2, 6, 'xy');

--@test: functions as values
INSERT INTO s (id, b) VALUES (LEN('abc'), UCASE('abc'));
ASSERT VALUES s (id, b) VALUES (3, 'ABC');

--@test: smaller numbers become larger ones
INSERT INTO s (id, g, d, m) VALUES (1, 2, 3, 4);
ASSERT VALUES s (id, g, d, m) VALUES (1, 2, 3.0, 4.00);

--@test: negative numbers
INSERT INTO s (id, a, d, m) VALUES (-1, -2, -3.5, -4.25);
ASSERT VALUES s (id, a, d, m) VALUES (-1, -2, -3.5, -4.25);

--@test: ROWTIME is the time of the record
INSERT INTO s (rowtime, id) VALUES (1234, 1);
ASSERT VALUES s (rowtime, id) VALUES (1234, 1);

--@test: NULL
INSERT INTO s (id, a, b) VALUES (1, NULL, NULL);
ASSERT VALUES s (id, a, b) VALUES (1, NULL, NULL);

--@test: into a table
INSERT INTO t (id, v) VALUES (1, 'x');
ASSERT VALUES t (id, v) VALUES (1, 'x');

--@test: INSERT INTO ... SELECT brings two streams together
CREATE STREAM p (id INT KEY, v STRING) WITH (kafka_topic='p', value_format='JSON');
CREATE STREAM q (id INT KEY, v STRING) WITH (kafka_topic='q', value_format='JSON');
CREATE STREAM all_of_them AS SELECT id, v FROM p;
INSERT INTO all_of_them SELECT id, v FROM q;
INSERT INTO p (id, v) VALUES (1, 'p');
INSERT INTO q (id, v) VALUES (2, 'q');
INSERT INTO p (id, v) VALUES (3, 'p');
ASSERT VALUES all_of_them (id, v) VALUES (1, 'p');
ASSERT VALUES all_of_them (id, v) VALUES (2, 'q');
ASSERT VALUES all_of_them (id, v) VALUES (3, 'p');

--@test: INSERT INTO ... SELECT with an expression and a filter
CREATE STREAM p (id INT KEY, v STRING) WITH (kafka_topic='p', value_format='JSON');
INSERT INTO p SELECT id, b || '!' AS v FROM s WHERE a > 0;
INSERT INTO s (id, a, b) VALUES (1, 0, 'x');
INSERT INTO s (id, a, b) VALUES (2, 1, 'y');
ASSERT VALUES p (id, v) VALUES (2, 'y!');

--@test: INSERT INTO ... SELECT with another key
CREATE STREAM p (k STRING KEY, id INT) WITH (kafka_topic='p', value_format='JSON');
INSERT INTO p SELECT b, id FROM s PARTITION BY b;
INSERT INTO s (id, b) VALUES (1, 'key');
ASSERT VALUES p (k, id) VALUES ('key', 1);

--@test: too few values
--@expected.message: 2 columns are named and 1 values given
INSERT INTO s (id, a) VALUES (1);

--@test: too few values without names
--@expected.message: S has 7 columns and 2 values are given
INSERT INTO s VALUES (1, 2);

--@test: an unknown column
--@expected.message: S has no column AA
INSERT INTO s (id, aa) VALUES (1, 2);

--@test: a column twice
--@expected.message: column A is given twice
INSERT INTO s (id, a, a) VALUES (1, 2, 3);

--@test: a text for a number
--@expected.message: column A is INTEGER and cannot take a STRING
INSERT INTO s (id, a) VALUES (1, 'two');

--@test: a number for a text
--@expected.message: column B is STRING and cannot take a INTEGER
INSERT INTO s (id, b) VALUES (1, 2);

--@test: a bigint for an integer
--@expected.message: column A is INTEGER and cannot take a BIGINT
INSERT INTO s (id, a) VALUES (1, 3000000000);

--@test: a decimal with too many digits
--@expected.message: does not fit DECIMAL(4, 2)
INSERT INTO s (id, m) VALUES (1, 123.45);

--@test: a name where a value should stand
--@expected.message: OTHER is a name where a value should stand
INSERT INTO s (id, b) VALUES (1, other);

--@test: a row of a table without its key
--@expected.message: a row of the table T needs its key
INSERT INTO t (v) VALUES ('x');

--@test: into what is not there
--@expected.message: NOTHING does not exist
INSERT INTO nothing (id) VALUES (1);

--@test: into a SOURCE stream
--@expected.message: the stream R is read-only: it was created with CREATE SOURCE STREAM
CREATE SOURCE STREAM r (id INT KEY, v STRING) WITH (kafka_topic='r', value_format='JSON');
INSERT INTO r (id, v) VALUES (1, 'x');

--@test: into a pseudo column
--@expected.message: the pseudo column ROWOFFSET cannot be inserted; only ROWTIME can
INSERT INTO s (id, rowoffset) VALUES (1, 2);

--@test: a negative time
--@expected.message: ROWTIME is -1; a record's time must not be negative
INSERT INTO s (rowtime, id) VALUES (-1, 1);

--@test: INSERT INTO ... SELECT into a table
--@expected.message: INSERT INTO ... SELECT fills streams, and T is a table
INSERT INTO t SELECT id, b AS v FROM s;

--@test: INSERT INTO ... SELECT with other columns
--@expected.message: the columns of the SELECT are not those of P
CREATE STREAM p (id INT KEY, v STRING) WITH (kafka_topic='p', value_format='JSON');
INSERT INTO p SELECT id, a AS v FROM s;

--@test: INSERT INTO ... SELECT of a table
--@expected.message: the query makes a TABLE, and INSERT INTO needs a STREAM
CREATE STREAM p (id INT KEY, n BIGINT) WITH (kafka_topic='p', value_format='JSON');
INSERT INTO p SELECT id, COUNT(*) AS n FROM s GROUP BY id;
