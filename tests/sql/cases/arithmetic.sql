-- Arithmetic: + - * / % over whole numbers and doubles. Whole numbers count as in Java: they wrap, division truncates.

CREATE STREAM n (id INT KEY, i INT, j INT, b BIGINT, c BIGINT, d DOUBLE, e DOUBLE) WITH (kafka_topic='n', value_format='JSON');

--@test: integers
CREATE STREAM result AS SELECT id, i + j AS a, i - j AS s, i * j AS m, i / j AS q, i % j AS r FROM n;
ASSERT STREAM result (id INT KEY, a INT, s INT, m INT, q INT, r INT) WITH (kafka_topic='RESULT');
INSERT INTO n (id, i, j) VALUES (1, 7, 2);
INSERT INTO n (id, i, j) VALUES (2, -7, 2);
INSERT INTO n (id, i, j) VALUES (3, 7, -2);
INSERT INTO n (id, i, j) VALUES (4, -7, -2);
ASSERT VALUES result (id, a, s, m, q, r) VALUES (1, 9, 5, 14, 3, 1);
ASSERT VALUES result (id, a, s, m, q, r) VALUES (2, -5, -9, -14, -3, -1);
ASSERT VALUES result (id, a, s, m, q, r) VALUES (3, 5, 9, -14, -3, 1);
ASSERT VALUES result (id, a, s, m, q, r) VALUES (4, -9, -5, 14, 3, -1);

--@test: bigints
CREATE STREAM result AS SELECT id, b + c AS a, b - c AS s, b * c AS m, b / c AS q, b % c AS r FROM n;
ASSERT STREAM result (id INT KEY, a BIGINT, s BIGINT, m BIGINT, q BIGINT, r BIGINT) WITH (kafka_topic='RESULT');
INSERT INTO n (id, b, c) VALUES (1, 10000000000, 3);
ASSERT VALUES result (id, a, s, m, q, r) VALUES (1, 10000000003, 9999999997, 30000000000, 3333333333, 1);

--@test: doubles
CREATE STREAM result AS SELECT id, d + e AS a, d - e AS s, d * e AS m, d / e AS q, d % e AS r FROM n;
ASSERT STREAM result (id INT KEY, a DOUBLE, s DOUBLE, m DOUBLE, q DOUBLE, r DOUBLE) WITH (kafka_topic='RESULT');
INSERT INTO n (id, d, e) VALUES (1, 7.5, 2.0);
INSERT INTO n (id, d, e) VALUES (2, -7.5, 2.0);
ASSERT VALUES result (id, a, s, m, q, r) VALUES (1, 9.5, 5.5, 15.0, 3.75, 1.5);
ASSERT VALUES result (id, a, s, m, q, r) VALUES (2, -5.5, -9.5, -15.0, -3.75, -1.5);

--@test: an integer and a bigint make a bigint
CREATE STREAM result AS SELECT id, i + b AS x, b * i AS y FROM n;
ASSERT STREAM result (id INT KEY, x BIGINT, y BIGINT) WITH (kafka_topic='RESULT');
INSERT INTO n (id, i, b) VALUES (1, 2000000000, 2000000000);
ASSERT VALUES result (id, x, y) VALUES (1, 4000000000, 4000000000000000000);

--@test: an integer and a double make a double
CREATE STREAM result AS SELECT id, i + d AS x, d / i AS y FROM n;
ASSERT STREAM result (id INT KEY, x DOUBLE, y DOUBLE) WITH (kafka_topic='RESULT');
INSERT INTO n (id, i, d) VALUES (1, 2, 0.5);
ASSERT VALUES result (id, x, y) VALUES (1, 2.5, 0.25);

--@test: a bigint and a double make a double
CREATE STREAM result AS SELECT id, b - d AS x FROM n;
ASSERT STREAM result (id INT KEY, x DOUBLE) WITH (kafka_topic='RESULT');
INSERT INTO n (id, b, d) VALUES (1, 5, 0.5);
ASSERT VALUES result (id, x) VALUES (1, 4.5);

--@test: division of integers truncates towards zero
CREATE STREAM result AS SELECT id, i / 2 AS x, i / -2 AS y FROM n;
INSERT INTO n (id, i) VALUES (1, 1);
INSERT INTO n (id, i) VALUES (2, -1);
INSERT INTO n (id, i) VALUES (3, 5);
INSERT INTO n (id, i) VALUES (4, -5);
ASSERT VALUES result (id, x, y) VALUES (1, 0, 0);
ASSERT VALUES result (id, x, y) VALUES (2, 0, 0);
ASSERT VALUES result (id, x, y) VALUES (3, 2, -2);
ASSERT VALUES result (id, x, y) VALUES (4, -2, 2);

--@test: the sign of a remainder is that of the dividend
CREATE STREAM result AS SELECT id, i % 3 AS x, i % -3 AS y FROM n;
INSERT INTO n (id, i) VALUES (1, 5);
INSERT INTO n (id, i) VALUES (2, -5);
ASSERT VALUES result (id, x, y) VALUES (1, 2, 2);
ASSERT VALUES result (id, x, y) VALUES (2, -2, -2);

--@test: an integer divided by zero is null, other columns are not
CREATE STREAM result AS SELECT id, i / j AS q, i % j AS r, i + j AS a FROM n;
INSERT INTO n (id, i, j) VALUES (1, 7, 0);
ASSERT VALUES result (id, q, r, a) VALUES (1, NULL, NULL, 7);

--@test: a bigint divided by zero is null
CREATE STREAM result AS SELECT id, b / c AS q, b % c AS r FROM n;
INSERT INTO n (id, b, c) VALUES (1, 7, 0);
ASSERT VALUES result (id, q, r) VALUES (1, NULL, NULL);

--@test: an integer wraps at 2147483647
CREATE STREAM result AS SELECT id, i + 1 AS a, i * 2 AS m FROM n;
INSERT INTO n (id, i) VALUES (1, 2147483647);
ASSERT VALUES result (id, a, m) VALUES (1, -2147483648, -2);

--@test: an integer wraps at -2147483648
CREATE STREAM result AS SELECT id, i - 1 AS s, -i AS m FROM n;
INSERT INTO n (id, i) VALUES (1, -2147483648);
ASSERT VALUES result (id, s, m) VALUES (1, 2147483647, -2147483648);

--@test: a bigint wraps at 9223372036854775807
CREATE STREAM result AS SELECT id, b + 1 AS a, b * 2 AS m FROM n;
INSERT INTO n (id, b) VALUES (1, 9223372036854775807);
ASSERT VALUES result (id, a, m) VALUES (1, -9223372036854775808, -2);

--@test: the smallest integer divided by -1 wraps
CREATE STREAM result AS SELECT id, i / -1 AS q FROM n;
INSERT INTO n (id, i) VALUES (1, -2147483648);
ASSERT VALUES result (id, q) VALUES (1, -2147483648);

--@test: products before sums
CREATE STREAM result AS SELECT id, i + j * 2 AS x, i * j + 2 AS y, i - j / 2 AS z FROM n;
INSERT INTO n (id, i, j) VALUES (1, 10, 4);
ASSERT VALUES result (id, x, y, z) VALUES (1, 18, 42, 8);

--@test: operators of one strength go from left to right
CREATE STREAM result AS SELECT id, i - j - 1 AS x, i / j * j AS y, i * j / 3 % 4 AS z FROM n;
INSERT INTO n (id, i, j) VALUES (1, 10, 4);
ASSERT VALUES result (id, x, y, z) VALUES (1, 5, 8, 1);

--@test: parentheses
CREATE STREAM result AS SELECT id, i - (j - 1) AS x, (i + j) * (i - j) AS y FROM n;
INSERT INTO n (id, i, j) VALUES (1, 10, 4);
ASSERT VALUES result (id, x, y) VALUES (1, 7, 84);

--@test: signs
CREATE STREAM result AS SELECT id, -i AS x, +i AS y, - -i AS z, 3 - -i AS w FROM n;
INSERT INTO n (id, i) VALUES (1, 5);
ASSERT VALUES result (id, x, y, z, w) VALUES (1, -5, 5, 5, 8);

--@test: a sign binds more strongly than a product
CREATE STREAM result AS SELECT id, -i * j AS x, i * -j AS y FROM n;
INSERT INTO n (id, i, j) VALUES (1, 5, 3);
ASSERT VALUES result (id, x, y) VALUES (1, -15, -15);

--@test: the sign of a double
CREATE STREAM result AS SELECT id, -d AS x FROM n;
INSERT INTO n (id, d) VALUES (1, 2.5);
ASSERT VALUES result (id, x) VALUES (1, -2.5);

--@test: a whole literal is an INTEGER, or a BIGINT where it needs to be
CREATE STREAM result AS SELECT id, 2147483647 AS x, 2147483648 AS y, -2147483648 AS z FROM n;
ASSERT STREAM result (id INT KEY, x INT, y BIGINT, z INT) WITH (kafka_topic='RESULT');
INSERT INTO n (id) VALUES (1);
ASSERT VALUES result (id, x, y, z) VALUES (1, 2147483647, 2147483648, -2147483648);

--@test: the smallest bigint as a literal
CREATE STREAM result AS SELECT id, -9223372036854775808 AS x FROM n;
INSERT INTO n (id) VALUES (1);
ASSERT VALUES result (id, x) VALUES (1, -9223372036854775808);

--@test: a literal with an exponent is a DOUBLE
CREATE STREAM result AS SELECT id, 1E3 AS x, 2.5E-1 AS y, 1e0 AS z FROM n;
ASSERT STREAM result (id INT KEY, x DOUBLE, y DOUBLE, z DOUBLE) WITH (kafka_topic='RESULT');
INSERT INTO n (id) VALUES (1);
ASSERT VALUES result (id, x, y, z) VALUES (1, 1000.0, 0.25, 1.0);

--@test: double overflow is infinite and reads back as null in JSON
CREATE STREAM result AS SELECT id, d * 1E300 > 1E308 AS x FROM n;
INSERT INTO n (id, d) VALUES (1, 1E300);
ASSERT VALUES result (id, x) VALUES (1, TRUE);

--@test: a double divided by zero is infinite, so larger than any number
CREATE STREAM result AS SELECT id, d / 0E0 > 1E308 AS x, -d / 0E0 < -1E308 AS y FROM n;
INSERT INTO n (id, d) VALUES (1, 1.0);
ASSERT VALUES result (id, x, y) VALUES (1, TRUE, TRUE);

--@test: zero divided by zero is no number, which is equal to nothing
CREATE STREAM result AS SELECT id, d / 0E0 = d / 0E0 AS x FROM n;
INSERT INTO n (id, d) VALUES (1, 0.0);
ASSERT VALUES result (id, x) VALUES (1, FALSE);

--@test: numbers of different kinds compare by value
CREATE STREAM result AS SELECT id, i = b AS x, i = d AS y, b = d AS z, i < d AS u FROM n;
INSERT INTO n (id, i, b, d) VALUES (1, 2, 2, 2.0);
INSERT INTO n (id, i, b, d) VALUES (2, 2, 3, 2.5);
ASSERT VALUES result (id, x, y, z, u) VALUES (1, TRUE, TRUE, TRUE, FALSE);
ASSERT VALUES result (id, x, y, z, u) VALUES (2, FALSE, FALSE, FALSE, TRUE);

--@test: the same sub-expression in several columns
CREATE STREAM result AS SELECT id, i * j AS x, i * j + 1 AS y, (i * j) * (i * j) AS z FROM n;
INSERT INTO n (id, i, j) VALUES (1, 3, 4);
ASSERT VALUES result (id, x, y, z) VALUES (1, 12, 13, 144);

--@test: one column that fails does not spoil the others
CREATE STREAM result AS SELECT id, 100 / i AS x, 100 / j AS y FROM n;
INSERT INTO n (id, i, j) VALUES (1, 0, 5);
INSERT INTO n (id, i, j) VALUES (2, 5, 0);
ASSERT VALUES result (id, x, y) VALUES (1, NULL, 20);
ASSERT VALUES result (id, x, y) VALUES (2, 20, NULL);

--@test: a long sum
CREATE STREAM result AS SELECT id, i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i+i AS x FROM n;
INSERT INTO n (id, i) VALUES (1, 2);
ASSERT VALUES result (id, x) VALUES (1, 60);

--@test: the time of the record in arithmetic
CREATE STREAM result AS SELECT id, rowtime / 1000 AS seconds FROM n;
ASSERT STREAM result (id INT KEY, seconds BIGINT) WITH (kafka_topic='RESULT');
INSERT INTO n (rowtime, id) VALUES (65432, 1);
ASSERT VALUES result (id, seconds) VALUES (1, 65);

--@test: a text and a number have no sum
--@expected.error: SqlError
--@expected.message: + joins texts, not a INTEGER
--@expected.message: CAST(... AS STRING) makes text of a INTEGER.
CREATE STREAM result AS SELECT id, 'x' + i AS x FROM n;

--@test: a text has no product
--@expected.error: SqlError
--@expected.message: * needs two numbers, not STRING and INTEGER
CREATE STREAM result AS SELECT id, 'x' * i AS x FROM n;

--@test: booleans have no sum
--@expected.error: SqlError
--@expected.message: + needs two numbers, not BOOLEAN and INTEGER
CREATE STREAM result AS SELECT id, TRUE + 1 AS x FROM n;

--@test: minus needs a number
--@expected.error: SqlError
--@expected.message: - needs a number, not STRING
CREATE STREAM result AS SELECT id, -CAST(i AS STRING) AS x FROM n;

--@test: a literal beyond BIGINT
--@expected.error: SqlError
--@expected.message: 9223372036854775809 is too large for a BIGINT
--@expected.message: Write it as a DECIMAL: 9223372036854775809.0
CREATE STREAM result AS SELECT id, 9223372036854775809 AS x FROM n;
