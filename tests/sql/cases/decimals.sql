-- DECIMAL(precision, scale): exact numbers. The type of a result follows from the types of the operands.

CREATE STREAM n (id INT KEY, p DECIMAL(6, 2), q DECIMAL(4, 3), i INT, b BIGINT, d DOUBLE) WITH (kafka_topic='n', value_format='JSON');

--@test: a decimal is copied digit by digit
CREATE STREAM result AS SELECT id, p, q FROM n;
ASSERT STREAM result (id INT KEY, p DECIMAL(6, 2), q DECIMAL(4, 3)) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p, q) VALUES (1, 1234.50, 0.001);
ASSERT VALUES result (id, p, q) VALUES (1, 1234.50, 0.001);

--@test: a sum has one digit more before the point and the larger scale
CREATE STREAM result AS SELECT id, p + q AS r FROM n;
ASSERT STREAM result (id INT KEY, r DECIMAL(8, 3)) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p, q) VALUES (1, 1234.50, 0.001);
ASSERT VALUES result (id, r) VALUES (1, 1234.501);

--@test: a difference has the type of a sum
CREATE STREAM result AS SELECT id, p - q AS r FROM n;
ASSERT STREAM result (id INT KEY, r DECIMAL(8, 3)) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p, q) VALUES (1, 10.00, 0.001);
ASSERT VALUES result (id, r) VALUES (1, 9.999);

--@test: a product has the digits of both
CREATE STREAM result AS SELECT id, p * q AS r FROM n;
ASSERT STREAM result (id INT KEY, r DECIMAL(11, 5)) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p, q) VALUES (1, 1234.56, 1.234);
ASSERT VALUES result (id, r) VALUES (1, 1523.44704);

--@test: a quotient has many digits
CREATE STREAM result AS SELECT id, p / q AS r FROM n;
ASSERT STREAM result (id INT KEY, r DECIMAL(14, 7)) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p, q) VALUES (1, 10.00, 4.000);
ASSERT VALUES result (id, r) VALUES (1, 2.5000000);

--@test: a quotient that does not end is rounded
CREATE STREAM result AS SELECT id, p / q AS r FROM n;
INSERT INTO n (id, p, q) VALUES (1, 10.00, 3.000);
INSERT INTO n (id, p, q) VALUES (2, 20.00, 3.000);
ASSERT VALUES result (id, r) VALUES (1, 3.3333333);
ASSERT VALUES result (id, r) VALUES (2, 6.6666667);

--@test: a remainder
CREATE STREAM result AS SELECT id, p % q AS r FROM n;
ASSERT STREAM result (id INT KEY, r DECIMAL(4, 3)) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p, q) VALUES (1, 10.50, 4.000);
INSERT INTO n (id, p, q) VALUES (2, -10.50, 4.000);
ASSERT VALUES result (id, r) VALUES (1, 2.500);
ASSERT VALUES result (id, r) VALUES (2, -2.500);

--@test: a decimal divided by zero is null
CREATE STREAM result AS SELECT id, p / q AS r, p % q AS s FROM n;
INSERT INTO n (id, p, q) VALUES (1, 10.00, 0.000);
ASSERT VALUES result (id, r, s) VALUES (1, NULL, NULL);

--@test: an INTEGER counts as DECIMAL(10, 0)
CREATE STREAM result AS SELECT id, p + i AS a, p * i AS m FROM n;
ASSERT STREAM result (id INT KEY, a DECIMAL(13, 2), m DECIMAL(17, 2)) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p, i) VALUES (1, 1.25, 4);
ASSERT VALUES result (id, a, m) VALUES (1, 5.25, 5.00);

--@test: a BIGINT counts as DECIMAL(19, 0)
CREATE STREAM result AS SELECT id, p + b AS a FROM n;
ASSERT STREAM result (id INT KEY, a DECIMAL(22, 2)) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p, b) VALUES (1, 1.25, 4000000000);
ASSERT VALUES result (id, a) VALUES (1, 4000000001.25);

--@test: a decimal and a double make a double
CREATE STREAM result AS SELECT id, p + d AS a, p * d AS m FROM n;
ASSERT STREAM result (id INT KEY, a DOUBLE, m DOUBLE) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p, d) VALUES (1, 1.25, 2.0);
ASSERT VALUES result (id, a, m) VALUES (1, 3.25, 2.5);

--@test: the precision of a literal is the number of its digits
CREATE STREAM result AS SELECT id, 1.5 AS a, 0.05 AS b, 12.340 AS c FROM n;
ASSERT STREAM result (id INT KEY, a DECIMAL(2, 1), b DECIMAL(2, 2), c DECIMAL(5, 3)) WITH (kafka_topic='RESULT');
INSERT INTO n (id) VALUES (1);
ASSERT VALUES result (id, a, b, c) VALUES (1, 1.5, 0.05, 12.340);

--@test: the sign of a decimal
CREATE STREAM result AS SELECT id, -p AS r FROM n;
ASSERT STREAM result (id INT KEY, r DECIMAL(6, 2)) WITH (kafka_topic='RESULT');
INSERT INTO n (id, p) VALUES (1, 1.25);
ASSERT VALUES result (id, r) VALUES (1, -1.25);

--@test: the scale does not count in a comparison
CREATE STREAM result AS SELECT id, p = q AS a, p > q AS b FROM n;
INSERT INTO n (id, p, q) VALUES (1, 1.50, 1.500);
INSERT INTO n (id, p, q) VALUES (2, 1.51, 1.500);
ASSERT VALUES result (id, a, b) VALUES (1, TRUE, FALSE);
ASSERT VALUES result (id, a, b) VALUES (2, FALSE, TRUE);

--@test: a decimal compared with an integer
CREATE STREAM result AS SELECT id FROM n WHERE p > 2;
INSERT INTO n (id, p) VALUES (1, 2.00);
INSERT INTO n (id, p) VALUES (2, 2.01);
ASSERT VALUES result (id) VALUES (2);

--@test: a decimal compared with a literal
CREATE STREAM result AS SELECT id FROM n WHERE p = 2.5;
INSERT INTO n (id, p) VALUES (1, 2.51);
INSERT INTO n (id, p) VALUES (2, 2.50);
ASSERT VALUES result (id) VALUES (2);

--@test: a double compared with a decimal literal
CREATE STREAM result AS SELECT id FROM n WHERE d > 0.8;
INSERT INTO n (id, d) VALUES (1, 0.8);
INSERT INTO n (id, d) VALUES (2, 0.80001);
ASSERT VALUES result (id) VALUES (2);

--@test: a cast rounds half up
CREATE STREAM result AS SELECT id, CAST(q AS DECIMAL(3, 1)) AS r FROM n;
INSERT INTO n (id, q) VALUES (1, 1.249);
INSERT INTO n (id, q) VALUES (2, 1.250);
INSERT INTO n (id, q) VALUES (3, -1.250);
ASSERT VALUES result (id, r) VALUES (1, 1.2);
ASSERT VALUES result (id, r) VALUES (2, 1.3);
ASSERT VALUES result (id, r) VALUES (3, -1.3);

--@test: a cast to a type that is too narrow is null
CREATE STREAM result AS SELECT id, CAST(p AS DECIMAL(3, 1)) AS r FROM n;
INSERT INTO n (id, p) VALUES (1, 99.90);
INSERT INTO n (id, p) VALUES (2, 100.00);
ASSERT VALUES result (id, r) VALUES (1, 99.9);
ASSERT VALUES result (id, r) VALUES (2, NULL);

--@test: a cast adds digits
CREATE STREAM result AS SELECT id, CAST(p AS DECIMAL(10, 4)) AS r FROM n;
INSERT INTO n (id, p) VALUES (1, 1.25);
ASSERT VALUES result (id, r) VALUES (1, 1.2500);

--@test: an integer as a decimal
CREATE STREAM result AS SELECT id, CAST(i AS DECIMAL(5, 2)) AS r FROM n;
INSERT INTO n (id, i) VALUES (1, 12);
INSERT INTO n (id, i) VALUES (2, 1200);
ASSERT VALUES result (id, r) VALUES (1, 12.00);
ASSERT VALUES result (id, r) VALUES (2, NULL);

--@test: a double as a decimal, by its shortest text
CREATE STREAM result AS SELECT id, CAST(d AS DECIMAL(5, 2)) AS r FROM n;
INSERT INTO n (id, d) VALUES (1, 1.005);
INSERT INTO n (id, d) VALUES (2, 1.1);
ASSERT VALUES result (id, r) VALUES (1, 1.01);
ASSERT VALUES result (id, r) VALUES (2, 1.10);

--@test: a decimal as an integer loses its fraction
CREATE STREAM result AS SELECT id, CAST(p AS INT) AS r FROM n;
INSERT INTO n (id, p) VALUES (1, 2.99);
INSERT INTO n (id, p) VALUES (2, -2.99);
ASSERT VALUES result (id, r) VALUES (1, 2);
ASSERT VALUES result (id, r) VALUES (2, -2);

--@test: a decimal as text has all digits of its scale
CREATE STREAM result AS SELECT id, CAST(p AS STRING) AS r FROM n;
INSERT INTO n (id, p) VALUES (1, 2.50);
INSERT INTO n (id, p) VALUES (2, 0.00);
ASSERT VALUES result (id, r) VALUES (1, '2.50');
ASSERT VALUES result (id, r) VALUES (2, '0.00');

--@test: a text as a decimal
CREATE STREAM t (id INT KEY, v STRING) WITH (kafka_topic='t', value_format='JSON');
CREATE STREAM result AS SELECT id, CAST(v AS DECIMAL(5, 2)) AS r FROM t;
INSERT INTO t (id, v) VALUES (1, '12.345');
INSERT INTO t (id, v) VALUES (2, 'twelve');
ASSERT VALUES result (id, r) VALUES (1, 12.35);
ASSERT VALUES result (id, r) VALUES (2, NULL);

--@test: sums of decimals do not drift
CREATE TABLE result AS SELECT id, SUM(q) AS r FROM n GROUP BY id;
INSERT INTO n (id, q) VALUES (1, 0.100);
INSERT INTO n (id, q) VALUES (1, 0.200);
ASSERT VALUES result (id, r) VALUES (1, 0.100);
ASSERT VALUES result (id, r) VALUES (1, 0.300);

--@test: the precision stops at 38
CREATE STREAM w (id INT KEY, x DECIMAL(38, 10), y DECIMAL(38, 10)) WITH (kafka_topic='w', value_format='JSON');
CREATE STREAM result AS SELECT id, x + y AS r FROM w;
ASSERT STREAM result (id INT KEY, r DECIMAL(38, 10)) WITH (kafka_topic='RESULT');
INSERT INTO w (id, x, y) VALUES (1, 1.5, 2.5);
ASSERT VALUES result (id, r) VALUES (1, 4.0);

--@test: a value with too many digits cannot be inserted
--@expected.error: SqlError
--@expected.message: does not fit DECIMAL(6, 2)
INSERT INTO n (id, p) VALUES (1, 12345.00);

--@test: a value with too many digits after the point cannot be inserted
--@expected.error: SqlError
--@expected.message: 1.234 does not fit DECIMAL(6, 2)
INSERT INTO n (id, p) VALUES (1, 1.234);

--@test: the precision is at most 38
--@expected.error: SqlError
--@expected.message: the precision of a DECIMAL is between 1 and 38, not 39
CREATE STREAM w (x DECIMAL(39, 2)) WITH (kafka_topic='w', value_format='JSON');

--@test: the scale is at most the precision
--@expected.error: SqlError
--@expected.message: the scale of a DECIMAL is at most its precision: 5 > 4
CREATE STREAM w (x DECIMAL(4, 5)) WITH (kafka_topic='w', value_format='JSON');
