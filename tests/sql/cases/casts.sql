-- CAST: from each type to those it can become. A value that cannot be converted is null; a pair of types that never can is
-- an error of the statement.

CREATE STREAM s (id INT KEY, b BOOLEAN, i INT, g BIGINT, d DOUBLE, m DECIMAL(7, 2), t STRING, a ARRAY<INT>, p MAP<STRING, INT>, q STRUCT<x INT, y STRING>) WITH (kafka_topic='s', value_format='JSON');

--@test: INTEGER to BIGINT
CREATE STREAM result AS SELECT id, CAST(i AS BIGINT) AS r FROM s;
ASSERT STREAM result (id INT KEY, r BIGINT) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i) VALUES (1, -7);
ASSERT VALUES result (id, r) VALUES (1, -7);

--@test: INTEGER to DOUBLE
CREATE STREAM result AS SELECT id, CAST(i AS DOUBLE) AS r FROM s;
INSERT INTO s (id, i) VALUES (1, 7);
ASSERT VALUES result (id, r) VALUES (1, 7.0);

--@test: INTEGER to STRING
CREATE STREAM result AS SELECT id, CAST(i AS STRING) AS r FROM s;
INSERT INTO s (id, i) VALUES (1, -7);
ASSERT VALUES result (id, r) VALUES (1, '-7');

--@test: BIGINT to INTEGER keeps the lower 32 bits
CREATE STREAM result AS SELECT id, CAST(g AS INT) AS r FROM s;
INSERT INTO s (id, g) VALUES (1, 7);
INSERT INTO s (id, g) VALUES (2, 4294967297);
INSERT INTO s (id, g) VALUES (3, 2147483648);
ASSERT VALUES result (id, r) VALUES (1, 7);
ASSERT VALUES result (id, r) VALUES (2, 1);
ASSERT VALUES result (id, r) VALUES (3, -2147483648);

--@test: BIGINT to STRING
CREATE STREAM result AS SELECT id, CAST(g AS STRING) AS r FROM s;
INSERT INTO s (id, g) VALUES (1, 12345678901);
ASSERT VALUES result (id, r) VALUES (1, '12345678901');

--@test: BIGINT to DOUBLE
CREATE STREAM result AS SELECT id, CAST(g AS DOUBLE) AS r FROM s;
INSERT INTO s (id, g) VALUES (1, 12345678901);
ASSERT VALUES result (id, r) VALUES (1, 1.2345678901E10);

--@test: DOUBLE to INTEGER loses the fraction and stops at the bounds
CREATE STREAM result AS SELECT id, CAST(d AS INT) AS r FROM s;
INSERT INTO s (id, d) VALUES (1, 2.9);
INSERT INTO s (id, d) VALUES (2, -2.9);
INSERT INTO s (id, d) VALUES (3, 1E10);
INSERT INTO s (id, d) VALUES (4, -1E10);
ASSERT VALUES result (id, r) VALUES (1, 2);
ASSERT VALUES result (id, r) VALUES (2, -2);
ASSERT VALUES result (id, r) VALUES (3, 2147483647);
ASSERT VALUES result (id, r) VALUES (4, -2147483648);

--@test: DOUBLE to BIGINT
CREATE STREAM result AS SELECT id, CAST(d AS BIGINT) AS r FROM s;
INSERT INTO s (id, d) VALUES (1, 1E10);
INSERT INTO s (id, d) VALUES (2, 1E30);
ASSERT VALUES result (id, r) VALUES (1, 10000000000);
ASSERT VALUES result (id, r) VALUES (2, 9223372036854775807);

--@test: DOUBLE to STRING, as Java writes it
CREATE STREAM result AS SELECT id, CAST(d AS STRING) AS r FROM s;
INSERT INTO s (id, d) VALUES (1, 1.0);
INSERT INTO s (id, d) VALUES (2, 0.1);
INSERT INTO s (id, d) VALUES (3, 1234567.0);
INSERT INTO s (id, d) VALUES (4, 12345678.0);
INSERT INTO s (id, d) VALUES (5, 0.001);
INSERT INTO s (id, d) VALUES (6, 0.0001);
INSERT INTO s (id, d) VALUES (7, -2.5E-10);
ASSERT VALUES result (id, r) VALUES (1, '1.0');
ASSERT VALUES result (id, r) VALUES (2, '0.1');
ASSERT VALUES result (id, r) VALUES (3, '1234567.0');
ASSERT VALUES result (id, r) VALUES (4, '1.2345678E7');
ASSERT VALUES result (id, r) VALUES (5, '0.001');
ASSERT VALUES result (id, r) VALUES (6, '1.0E-4');
ASSERT VALUES result (id, r) VALUES (7, '-2.5E-10');

--@test: DECIMAL to DOUBLE
CREATE STREAM result AS SELECT id, CAST(m AS DOUBLE) AS r FROM s;
INSERT INTO s (id, m) VALUES (1, 12.50);
ASSERT VALUES result (id, r) VALUES (1, 12.5);

--@test: DECIMAL to BIGINT
CREATE STREAM result AS SELECT id, CAST(m AS BIGINT) AS r FROM s;
INSERT INTO s (id, m) VALUES (1, 12.99);
ASSERT VALUES result (id, r) VALUES (1, 12);

--@test: BOOLEAN to STRING
CREATE STREAM result AS SELECT id, CAST(b AS STRING) AS r FROM s;
INSERT INTO s (id, b) VALUES (1, TRUE);
INSERT INTO s (id, b) VALUES (2, FALSE);
ASSERT VALUES result (id, r) VALUES (1, 'true');
ASSERT VALUES result (id, r) VALUES (2, 'false');

--@test: STRING to BOOLEAN takes any beginning of true and yes
CREATE STREAM result AS SELECT id, CAST(t AS BOOLEAN) AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'true');
INSERT INTO s (id, t) VALUES (2, 'TRUE');
INSERT INTO s (id, t) VALUES (3, 't');
INSERT INTO s (id, t) VALUES (4, 'Ye');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, TRUE);
ASSERT VALUES result (id, r) VALUES (3, TRUE);
ASSERT VALUES result (id, r) VALUES (4, TRUE);

--@test: STRING to BOOLEAN takes all other text as false
CREATE STREAM result AS SELECT id, CAST(t AS BOOLEAN) AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'false');
INSERT INTO s (id, t) VALUES (2, 'no');
INSERT INTO s (id, t) VALUES (3, 'truest');
INSERT INTO s (id, t) VALUES (4, '');
ASSERT VALUES result (id, r) VALUES (1, FALSE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);
ASSERT VALUES result (id, r) VALUES (3, FALSE);
ASSERT VALUES result (id, r) VALUES (4, FALSE);

--@test: STRING to INTEGER, with space around the number
CREATE STREAM result AS SELECT id, CAST(t AS INT) AS r FROM s;
INSERT INTO s (id, t) VALUES (1, '42');
INSERT INTO s (id, t) VALUES (2, '-42');
INSERT INTO s (id, t) VALUES (3, '+42');
INSERT INTO s (id, t) VALUES (4, '  42 ');
ASSERT VALUES result (id, r) VALUES (1, 42);
ASSERT VALUES result (id, r) VALUES (2, -42);
ASSERT VALUES result (id, r) VALUES (3, 42);
ASSERT VALUES result (id, r) VALUES (4, 42);

--@test: STRING to INTEGER is null where the text is none
CREATE STREAM result AS SELECT id, CAST(t AS INT) AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'forty-two');
INSERT INTO s (id, t) VALUES (2, '4.2');
INSERT INTO s (id, t) VALUES (3, '');
INSERT INTO s (id, t) VALUES (4, '2147483648');
INSERT INTO s (id, t) VALUES (5, '1_000');
ASSERT VALUES result (id, r) VALUES (1, NULL);
ASSERT VALUES result (id, r) VALUES (2, NULL);
ASSERT VALUES result (id, r) VALUES (3, NULL);
ASSERT VALUES result (id, r) VALUES (4, NULL);
ASSERT VALUES result (id, r) VALUES (5, NULL);

--@test: STRING to BIGINT
CREATE STREAM result AS SELECT id, CAST(t AS BIGINT) AS r FROM s;
INSERT INTO s (id, t) VALUES (1, '2147483648');
INSERT INTO s (id, t) VALUES (2, '9223372036854775808');
ASSERT VALUES result (id, r) VALUES (1, 2147483648);
ASSERT VALUES result (id, r) VALUES (2, NULL);

--@test: STRING to DOUBLE
CREATE STREAM result AS SELECT id, CAST(t AS DOUBLE) AS r FROM s;
INSERT INTO s (id, t) VALUES (1, '2.5');
INSERT INTO s (id, t) VALUES (2, ' 1E3 ');
INSERT INTO s (id, t) VALUES (3, '2,5');
ASSERT VALUES result (id, r) VALUES (1, 2.5);
ASSERT VALUES result (id, r) VALUES (2, 1000.0);
ASSERT VALUES result (id, r) VALUES (3, NULL);

--@test: to its own type
CREATE STREAM result AS SELECT id, CAST(i AS INT) AS a, CAST(t AS VARCHAR) AS b FROM s;
INSERT INTO s (id, i, t) VALUES (1, 7, 'x');
ASSERT VALUES result (id, a, b) VALUES (1, 7, 'x');

--@test: a cast within an expression
CREATE STREAM result AS SELECT id, CAST(t AS INT) * 2 + 1 AS r FROM s;
INSERT INTO s (id, t) VALUES (1, '20');
ASSERT VALUES result (id, r) VALUES (1, 41);

--@test: a cast of a cast
CREATE STREAM result AS SELECT id, CAST(CAST(d AS INT) AS STRING) AS r FROM s;
INSERT INTO s (id, d) VALUES (1, 7.9);
ASSERT VALUES result (id, r) VALUES (1, '7');

--@test: a cast in a condition
CREATE STREAM result AS SELECT id FROM s WHERE CAST(t AS INT) > 5;
INSERT INTO s (id, t) VALUES (1, '5');
INSERT INTO s (id, t) VALUES (2, 'x');
INSERT INTO s (id, t) VALUES (3, '6');
ASSERT VALUES result (id) VALUES (3);

--@test: an array element by element
CREATE STREAM result AS SELECT id, CAST(a AS ARRAY<STRING>) AS r, CAST(a AS ARRAY<DOUBLE>) AS u FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, NULL, 3]);
ASSERT VALUES result (id, r, u) VALUES (1, ARRAY['1', NULL, '3'], ARRAY[1.0, NULL, 3.0]);

--@test: a map value by value
CREATE STREAM result AS SELECT id, CAST(p AS MAP<STRING, STRING>) AS r FROM s;
INSERT INTO s (id, p) VALUES (1, MAP('a' := 1));
ASSERT VALUES result (id, r) VALUES (1, MAP('a' := '1'));

--@test: a struct field by field: a new field is null, an old one goes
CREATE STREAM result AS SELECT id, CAST(q AS STRUCT<x STRING, z INT>) AS r FROM s;
INSERT INTO s (id, q) VALUES (1, STRUCT(x := 7, y := 'why'));
ASSERT VALUES result (id, r) VALUES (1, STRUCT(x := '7', z := CAST(NULL AS INT)));

--@test: an array as text
CREATE STREAM result AS SELECT id, CAST(a AS STRING) AS r FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, NULL, 3]);
ASSERT VALUES result (id, r) VALUES (1, '[1, null, 3]');

--@test: a map as text
CREATE STREAM result AS SELECT id, CAST(p AS STRING) AS r FROM s;
INSERT INTO s (id, p) VALUES (1, MAP('a' := 1));
ASSERT VALUES result (id, r) VALUES (1, '{a=1}');

--@test: a struct as text
CREATE STREAM result AS SELECT id, CAST(q AS STRING) AS r FROM s;
INSERT INTO s (id, q) VALUES (1, STRUCT(x := 7, y := 'why'));
ASSERT VALUES result (id, r) VALUES (1, 'Struct{X=7,Y=why}');

--@test: a user's own type
CREATE TYPE money AS DECIMAL(8, 2);
CREATE STREAM result AS SELECT id, CAST(t AS money) AS r FROM s;
ASSERT STREAM result (id INT KEY, r DECIMAL(8, 2)) WITH (kafka_topic='RESULT');
INSERT INTO s (id, t) VALUES (1, '3.999');
ASSERT VALUES result (id, r) VALUES (1, 4.00);

--@test: an INTEGER is no BOOLEAN
--@expected.error: SqlError
--@expected.message: a INTEGER cannot be cast to BOOLEAN
CREATE STREAM result AS SELECT id, CAST(i AS BOOLEAN) AS r FROM s;

--@test: a BOOLEAN is no INTEGER
--@expected.error: SqlError
--@expected.message: a BOOLEAN cannot be cast to INTEGER
CREATE STREAM result AS SELECT id, CAST(b AS INT) AS r FROM s;

--@test: an array does not become an array of what its elements cannot be
--@expected.error: SqlError
--@expected.message: a ARRAY<INTEGER> cannot be cast to ARRAY<BOOLEAN>
CREATE STREAM result AS SELECT id, CAST(a AS ARRAY<BOOLEAN>) AS r FROM s;

--@test: a text does not become an array
--@expected.error: SqlError
--@expected.message: a STRING cannot be cast to ARRAY<INTEGER>
CREATE STREAM result AS SELECT id, CAST(t AS ARRAY<INT>) AS r FROM s;

--@test: an unknown type
--@expected.error: SqlError
--@expected.message: unknown type INTEGR
--@expected.message: Did you mean INTEGER?
CREATE STREAM result AS SELECT id, CAST(t AS integr) AS r FROM s;

--@test: a CAST without AS
--@expected.error: SqlError
--@expected.message: expected 'AS', found ','
CREATE STREAM result AS SELECT id, CAST(t, INT) AS r FROM s;
