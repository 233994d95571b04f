-- BETWEEN and IN.

CREATE STREAM s (id INT KEY, i INT, j INT, k INT, g BIGINT, d DOUBLE, m DECIMAL(5, 2), t STRING, b BOOLEAN) WITH (kafka_topic='s', value_format='JSON');

--@test: BETWEEN takes both bounds
CREATE STREAM result AS SELECT id, i BETWEEN 2 AND 4 AS r FROM s;
INSERT INTO s (id, i) VALUES (1, 1);
INSERT INTO s (id, i) VALUES (2, 2);
INSERT INTO s (id, i) VALUES (3, 4);
INSERT INTO s (id, i) VALUES (4, 5);
ASSERT VALUES result (id, r) VALUES (1, FALSE);
ASSERT VALUES result (id, r) VALUES (2, TRUE);
ASSERT VALUES result (id, r) VALUES (3, TRUE);
ASSERT VALUES result (id, r) VALUES (4, FALSE);

--@test: NOT BETWEEN
CREATE STREAM result AS SELECT id FROM s WHERE i NOT BETWEEN 2 AND 4;
INSERT INTO s (id, i) VALUES (1, 3);
INSERT INTO s (id, i) VALUES (2, 5);
ASSERT VALUES result (id) VALUES (2);

--@test: bounds the wrong way round take nothing
CREATE STREAM result AS SELECT id, i BETWEEN 4 AND 2 AS r FROM s;
INSERT INTO s (id, i) VALUES (1, 3);
ASSERT VALUES result (id, r) VALUES (1, FALSE);

--@test: bounds that are columns
CREATE STREAM result AS SELECT id, i BETWEEN j AND k AS r FROM s;
INSERT INTO s (id, i, j, k) VALUES (1, 3, 1, 5);
INSERT INTO s (id, i, j, k) VALUES (2, 3, 4, 5);
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: bounds that are expressions
CREATE STREAM result AS SELECT id, i BETWEEN j - 1 AND j + 1 AS r FROM s;
INSERT INTO s (id, i, j) VALUES (1, 3, 4);
INSERT INTO s (id, i, j) VALUES (2, 3, 5);
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: the AND of BETWEEN belongs to BETWEEN
CREATE STREAM result AS SELECT id FROM s WHERE i BETWEEN 1 AND 5 AND j = 1;
INSERT INTO s (id, i, j) VALUES (1, 3, 2);
INSERT INTO s (id, i, j) VALUES (2, 3, 1);
ASSERT VALUES result (id) VALUES (2);

--@test: BETWEEN of doubles
CREATE STREAM result AS SELECT id FROM s WHERE d BETWEEN 0.5 AND 1.5;
INSERT INTO s (id, d) VALUES (1, 0.49);
INSERT INTO s (id, d) VALUES (2, 0.5);
ASSERT VALUES result (id) VALUES (2);

--@test: BETWEEN of decimals
CREATE STREAM result AS SELECT id FROM s WHERE m BETWEEN 1 AND 2.5;
INSERT INTO s (id, m) VALUES (1, 2.51);
INSERT INTO s (id, m) VALUES (2, 2.50);
ASSERT VALUES result (id) VALUES (2);

--@test: BETWEEN of bigints with integer bounds
CREATE STREAM result AS SELECT id FROM s WHERE g BETWEEN 1 AND 3;
INSERT INTO s (id, g) VALUES (1, 4294967298);
INSERT INTO s (id, g) VALUES (2, 2);
ASSERT VALUES result (id) VALUES (2);

--@test: BETWEEN of texts
CREATE STREAM result AS SELECT id FROM s WHERE t BETWEEN 'b' AND 'd';
INSERT INTO s (id, t) VALUES (1, 'a');
INSERT INTO s (id, t) VALUES (2, 'cat');
INSERT INTO s (id, t) VALUES (3, 'd');
INSERT INTO s (id, t) VALUES (4, 'dog');
INSERT INTO s (id, t) VALUES (5, 'b');
ASSERT VALUES result (id) VALUES (2);
ASSERT VALUES result (id) VALUES (3);
ASSERT VALUES result (id) VALUES (5);

--@test: BETWEEN needs values that compare
--@expected.error: SqlError
--@expected.message: INTEGER and STRING cannot be compared
CREATE STREAM result AS SELECT id FROM s WHERE i BETWEEN 'a' AND 'b';

--@test: IN finds one of several
CREATE STREAM result AS SELECT id FROM s WHERE i IN (2, 4, 6);
INSERT INTO s (id, i) VALUES (1, 1);
INSERT INTO s (id, i) VALUES (2, 4);
INSERT INTO s (id, i) VALUES (3, 5);
INSERT INTO s (id, i) VALUES (4, 6);
ASSERT VALUES result (id) VALUES (2);
ASSERT VALUES result (id) VALUES (4);

--@test: NOT IN
CREATE STREAM result AS SELECT id FROM s WHERE i NOT IN (2, 4);
INSERT INTO s (id, i) VALUES (1, 2);
INSERT INTO s (id, i) VALUES (2, 3);
ASSERT VALUES result (id) VALUES (2);

--@test: IN with one choice
CREATE STREAM result AS SELECT id FROM s WHERE t IN ('a');
INSERT INTO s (id, t) VALUES (1, 'b');
INSERT INTO s (id, t) VALUES (2, 'a');
ASSERT VALUES result (id) VALUES (2);

--@test: IN of texts
CREATE STREAM result AS SELECT id FROM s WHERE t IN ('tea', 'milk');
INSERT INTO s (id, t) VALUES (1, 'Tea');
INSERT INTO s (id, t) VALUES (2, 'milk');
ASSERT VALUES result (id) VALUES (2);

--@test: IN with columns among the choices
CREATE STREAM result AS SELECT id, i IN (j, k, 7) AS r FROM s;
INSERT INTO s (id, i, j, k) VALUES (1, 3, 3, 0);
INSERT INTO s (id, i, j, k) VALUES (2, 3, 0, 3);
INSERT INTO s (id, i, j, k) VALUES (3, 7, 0, NULL);
INSERT INTO s (id, i, j, k) VALUES (4, 3, 0, NULL);
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, TRUE);
ASSERT VALUES result (id, r) VALUES (3, TRUE);
ASSERT VALUES result (id, r) VALUES (4, FALSE);

--@test: IN of an expression
CREATE STREAM result AS SELECT id FROM s WHERE i + j IN (10, 20);
INSERT INTO s (id, i, j) VALUES (1, 5, 4);
INSERT INTO s (id, i, j) VALUES (2, 5, 5);
ASSERT VALUES result (id) VALUES (2);

--@test: IN of numbers of several kinds
CREATE STREAM result AS SELECT id, i IN (1.0, 2.5) AS a, d IN (1, 2.5) AS b, g IN (1, 3000000000) AS c FROM s;
INSERT INTO s (id, i, d, g) VALUES (1, 1, 2.5, 3000000000);
INSERT INTO s (id, i, d, g) VALUES (2, 2, 2.0, 3);
ASSERT VALUES result (id, a, b, c) VALUES (1, TRUE, TRUE, TRUE);
ASSERT VALUES result (id, a, b, c) VALUES (2, FALSE, FALSE, FALSE);

--@test: IN of decimals
CREATE STREAM result AS SELECT id FROM s WHERE m IN (1.5, 2);
INSERT INTO s (id, m) VALUES (1, 1.51);
INSERT INTO s (id, m) VALUES (2, 1.50);
INSERT INTO s (id, m) VALUES (3, 2.00);
ASSERT VALUES result (id) VALUES (2);
ASSERT VALUES result (id) VALUES (3);

--@test: a number in quotes among numbers is a number
CREATE STREAM result AS SELECT id FROM s WHERE i IN ('10', 20);
INSERT INTO s (id, i) VALUES (1, 1);
INSERT INTO s (id, i) VALUES (2, 10);
INSERT INTO s (id, i) VALUES (3, 20);
ASSERT VALUES result (id) VALUES (2);
ASSERT VALUES result (id) VALUES (3);

--@test: a number among texts is a text
CREATE STREAM result AS SELECT id FROM s WHERE t IN (10, 'x');
INSERT INTO s (id, t) VALUES (1, '010');
INSERT INTO s (id, t) VALUES (2, '10');
ASSERT VALUES result (id) VALUES (2);

--@test: a boolean in quotes among booleans is a boolean
CREATE STREAM result AS SELECT id FROM s WHERE b IN ('yes');
INSERT INTO s (id, b) VALUES (1, FALSE);
INSERT INTO s (id, b) VALUES (2, TRUE);
ASSERT VALUES result (id) VALUES (2);

--@test: a list of only NULL finds nothing
CREATE STREAM result AS SELECT id, i IN (NULL) AS r FROM s;
INSERT INTO s (id, i) VALUES (1, NULL);
INSERT INTO s (id, i) VALUES (2, 1);
ASSERT VALUES result (id, r) VALUES (1, FALSE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: arrays in a list
CREATE STREAM a (id INT KEY, v ARRAY<INT>) WITH (kafka_topic='a', value_format='JSON');
CREATE STREAM result AS SELECT id FROM a WHERE v IN (ARRAY[1, 2], ARRAY[3]);
INSERT INTO a (id, v) VALUES (1, ARRAY[2, 1]);
INSERT INTO a (id, v) VALUES (2, ARRAY[3]);
ASSERT VALUES result (id) VALUES (2);

--@test: a text that is no number among numbers
--@expected.error: SqlError
--@expected.message: the value and the choices of IN have different types: INTEGER and STRING
CREATE STREAM result AS SELECT id FROM s WHERE i IN (1, 'two');

--@test: a text column among numbers
--@expected.error: SqlError
--@expected.message: the value and the choices of IN have different types: INTEGER and STRING
CREATE STREAM result AS SELECT id FROM s WHERE i IN (1, t);

--@test: an empty list
--@expected.error: SqlError
--@expected.message: IN needs at least one value
CREATE STREAM result AS SELECT id FROM s WHERE i IN ();

--@test: a list where one value is expected
--@expected.error: SqlError
--@expected.message: a list of values stands here where one is expected
CREATE STREAM result AS SELECT id FROM s WHERE i = (1, 2);
