-- CASE: the result of the first condition that holds.

CREATE STREAM s (id INT KEY, i INT, j INT, d DOUBLE, t STRING, b BOOLEAN) WITH (kafka_topic='s', value_format='JSON');

--@test: the first condition that holds counts
CREATE STREAM result AS SELECT id, CASE WHEN i < 10 THEN 'small' WHEN i < 100 THEN 'medium' ELSE 'large' END AS r FROM s;
INSERT INTO s (id, i) VALUES (1, 5);
INSERT INTO s (id, i) VALUES (2, 10);
INSERT INTO s (id, i) VALUES (3, 100);
ASSERT VALUES result (id, r) VALUES (1, 'small');
ASSERT VALUES result (id, r) VALUES (2, 'medium');
ASSERT VALUES result (id, r) VALUES (3, 'large');

--@test: without ELSE it is null
CREATE STREAM result AS SELECT id, CASE WHEN i = 1 THEN 'one' END AS r FROM s;
INSERT INTO s (id, i) VALUES (1, 1);
INSERT INTO s (id, i) VALUES (2, 2);
ASSERT VALUES result (id, r) VALUES (1, 'one');
ASSERT VALUES result (id, r) VALUES (2, NULL);

--@test: the form with an operand
CREATE STREAM result AS SELECT id, CASE t WHEN 'a' THEN 1 WHEN 'b' THEN 2 ELSE 0 END AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'a');
INSERT INTO s (id, t) VALUES (2, 'b');
INSERT INTO s (id, t) VALUES (3, 'c');
INSERT INTO s (id, t) VALUES (4, NULL);
ASSERT VALUES result (id, r) VALUES (1, 1);
ASSERT VALUES result (id, r) VALUES (2, 2);
ASSERT VALUES result (id, r) VALUES (3, 0);
ASSERT VALUES result (id, r) VALUES (4, 0);

--@test: an operand that is an expression
CREATE STREAM result AS SELECT id, CASE i % 2 WHEN 0 THEN 'even' ELSE 'odd' END AS r FROM s;
INSERT INTO s (id, i) VALUES (1, 4);
INSERT INTO s (id, i) VALUES (2, 5);
ASSERT VALUES result (id, r) VALUES (1, 'even');
ASSERT VALUES result (id, r) VALUES (2, 'odd');

--@test: a null result is of the type of the others
CREATE STREAM result AS SELECT id, CASE WHEN i = 1 THEN NULL ELSE 5 END AS r FROM s;
ASSERT STREAM result (id INT KEY, r INT) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i) VALUES (1, 1);
INSERT INTO s (id, i) VALUES (2, 2);
ASSERT VALUES result (id, r) VALUES (1, NULL);
ASSERT VALUES result (id, r) VALUES (2, 5);

--@test: results of several kinds of numbers
CREATE STREAM result AS SELECT id, CASE WHEN i = 1 THEN i ELSE d END AS r FROM s;
ASSERT STREAM result (id INT KEY, r DOUBLE) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i, d) VALUES (1, 1, 2.5);
INSERT INTO s (id, i, d) VALUES (2, 2, 2.5);
ASSERT VALUES result (id, r) VALUES (1, 1.0);
ASSERT VALUES result (id, r) VALUES (2, 2.5);

--@test: only the chosen result is computed
CREATE STREAM result AS SELECT id, CASE WHEN j = 0 THEN -1 ELSE i / j END AS r FROM s;
INSERT INTO s (id, i, j) VALUES (1, 7, 0);
INSERT INTO s (id, i, j) VALUES (2, 7, 2);
ASSERT VALUES result (id, r) VALUES (1, -1);
ASSERT VALUES result (id, r) VALUES (2, 3);

--@test: conditions after the first that holds are not computed
CREATE STREAM result AS SELECT id, CASE WHEN j = 0 THEN 'zero' WHEN i / j > 3 THEN 'many' ELSE 'few' END AS r FROM s;
INSERT INTO s (id, i, j) VALUES (1, 7, 0);
INSERT INTO s (id, i, j) VALUES (2, 8, 2);
INSERT INTO s (id, i, j) VALUES (3, 7, 2);
ASSERT VALUES result (id, r) VALUES (1, 'zero');
ASSERT VALUES result (id, r) VALUES (2, 'many');
ASSERT VALUES result (id, r) VALUES (3, 'few');

--@test: a CASE within a CASE
CREATE STREAM result AS SELECT id, CASE WHEN i > 0 THEN CASE WHEN j > 0 THEN 'both' ELSE 'i' END ELSE 'none' END AS r FROM s;
INSERT INTO s (id, i, j) VALUES (1, 1, 1);
INSERT INTO s (id, i, j) VALUES (2, 1, 0);
INSERT INTO s (id, i, j) VALUES (3, 0, 1);
ASSERT VALUES result (id, r) VALUES (1, 'both');
ASSERT VALUES result (id, r) VALUES (2, 'i');
ASSERT VALUES result (id, r) VALUES (3, 'none');

--@test: a boolean result in WHERE
CREATE STREAM result AS SELECT id FROM s WHERE CASE WHEN i > 0 THEN b ELSE FALSE END;
INSERT INTO s (id, i, b) VALUES (1, 0, TRUE);
INSERT INTO s (id, i, b) VALUES (2, 1, TRUE);
ASSERT VALUES result (id) VALUES (2);

--@test: within arithmetic
CREATE STREAM result AS SELECT id, 10 * CASE WHEN b THEN 1 ELSE -1 END AS r FROM s;
INSERT INTO s (id, b) VALUES (1, TRUE);
INSERT INTO s (id, b) VALUES (2, FALSE);
ASSERT VALUES result (id, r) VALUES (1, 10);
ASSERT VALUES result (id, r) VALUES (2, -10);

--@test: thirteen conditions
CREATE STREAM result AS SELECT id, CASE i WHEN 1 THEN 'a' WHEN 2 THEN 'b' WHEN 3 THEN 'c' WHEN 4 THEN 'd' WHEN 5 THEN 'e' WHEN 6 THEN 'f' WHEN 7 THEN 'g' WHEN 8 THEN 'h' WHEN 9 THEN 'i' WHEN 10 THEN 'j' WHEN 11 THEN 'k' WHEN 12 THEN 'l' WHEN 13 THEN 'm' END AS r FROM s;
INSERT INTO s (id, i) VALUES (1, 13);
ASSERT VALUES result (id, r) VALUES (1, 'm');

--@test: a condition that fails makes the column null
CREATE STREAM result AS SELECT id, CASE WHEN 1 / i > 0 THEN 'a' ELSE 'b' END AS r, i FROM s;
INSERT INTO s (id, i) VALUES (1, 0);
ASSERT VALUES result (id, r, i) VALUES (1, NULL, 0);

--@test: results of types that do not go together
--@expected.error: SqlError
--@expected.message: the results of the CASE have different types: INTEGER and STRING
CREATE STREAM result AS SELECT id, CASE WHEN b THEN i ELSE t END AS r FROM s;

--@test: all results NULL
--@expected.error: SqlError
--@expected.message: the results of the CASE are all NULL and so have no type
CREATE STREAM result AS SELECT id, CASE WHEN b THEN NULL END AS r FROM s;

--@test: a condition that is none
--@expected.error: SqlError
--@expected.message: expected a condition, found a INTEGER
CREATE STREAM result AS SELECT id, CASE WHEN i THEN 1 END AS r FROM s;

--@test: an operand of another type than the choices
--@expected.error: SqlError
--@expected.message: STRING and INTEGER cannot be compared
CREATE STREAM result AS SELECT id, CASE t WHEN 1 THEN 'a' END AS r FROM s;

--@test: a CASE without END
--@expected.error: SqlError
--@expected.message: expected 'END', found 'AS'
CREATE STREAM result AS SELECT id, CASE WHEN b THEN 1 ELSE 2 AS r FROM s;
