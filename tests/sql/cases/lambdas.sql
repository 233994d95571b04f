-- Lambdas: x => ..., (x, y) => ..., as arguments of TRANSFORM, FILTER and REDUCE.

CREATE STREAM s (id INT KEY, a ARRAY<INT>, n ARRAY<ARRAY<INT>>, m MAP<STRING, INT>, i INT, t STRING) WITH (kafka_topic='s', value_format='JSON');

--@test: TRANSFORM computes each element
CREATE STREAM result AS SELECT id, TRANSFORM(a, x => x * 10) AS r FROM s;
ASSERT STREAM result (id INT KEY, r ARRAY<INT>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, a) VALUES (1, ARRAY[1, 2, 3]);
ASSERT VALUES result (id, r) VALUES (1, ARRAY[10, 20, 30]);

--@test: TRANSFORM may change the type
CREATE STREAM result AS SELECT id, TRANSFORM(a, x => 'n' || CAST(x AS STRING)) AS r FROM s;
ASSERT STREAM result (id INT KEY, r ARRAY<STRING>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, a) VALUES (1, ARRAY[1, 2]);
ASSERT VALUES result (id, r) VALUES (1, ARRAY['n1', 'n2']);

--@test: a lambda sees the columns around it
CREATE STREAM result AS SELECT id, TRANSFORM(a, x => x + i) AS r FROM s;
INSERT INTO s (id, a, i) VALUES (1, ARRAY[1, 2], 5);
ASSERT VALUES result (id, r) VALUES (1, ARRAY[6, 7]);

--@test: a parameter hides a column of its name
CREATE STREAM result AS SELECT id, TRANSFORM(a, i => i + 1) AS r, i FROM s;
INSERT INTO s (id, a, i) VALUES (1, ARRAY[1, 2], 100);
ASSERT VALUES result (id, r, i) VALUES (1, ARRAY[2, 3], 100);

--@test: FILTER keeps what meets the condition
CREATE STREAM result AS SELECT id, FILTER(a, x => x > 1) AS r FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, 2, 3]);
ASSERT VALUES result (id, r) VALUES (1, ARRAY[2, 3]);

--@test: REDUCE folds from the left
CREATE STREAM result AS SELECT id, REDUCE(a, 0, (sum, x) => sum * 10 + x) AS r FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, 2, 3]);
ASSERT VALUES result (id, r) VALUES (1, 123);

--@test: a lambda within a lambda
CREATE STREAM result AS SELECT id, TRANSFORM(n, x => REDUCE(x, 0, (sum, y) => sum + y)) AS r FROM s;
INSERT INTO s (id, n) VALUES (1, ARRAY[ARRAY[1, 2], ARRAY[3, 4]]);
ASSERT VALUES result (id, r) VALUES (1, ARRAY[3, 7]);

--@test: calls within calls
CREATE STREAM result AS SELECT id, FILTER(TRANSFORM(a, x => x * 2), x => x > 2) AS r FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, 2, 3]);
ASSERT VALUES result (id, r) VALUES (1, ARRAY[4, 6]);

--@test: TRANSFORM of a map has one lambda for keys and one for values
CREATE STREAM result AS SELECT id, TRANSFORM(m, (k, v) => k || '!', (k, v) => v + 1) AS r FROM s;
INSERT INTO s (id, m) VALUES (1, MAP('a' := 1));
ASSERT VALUES result (id, r) VALUES (1, MAP('a!' := 2));

--@test: FILTER of a map
CREATE STREAM result AS SELECT id, FILTER(m, (k, v) => k = 'a' OR v > 5) AS r FROM s;
INSERT INTO s (id, m) VALUES (1, MAP('a' := 1, 'b' := 2, 'c' := 9));
ASSERT VALUES result (id, r) VALUES (1, MAP('a' := 1, 'c' := 9));

--@test: REDUCE of a map
CREATE STREAM result AS SELECT id, REDUCE(m, 100, (sum, k, v) => sum + v) AS r FROM s;
INSERT INTO s (id, m) VALUES (1, MAP('a' := 1, 'b' := 2));
ASSERT VALUES result (id, r) VALUES (1, 103);

--@test: a CASE in a lambda
CREATE STREAM result AS SELECT id, TRANSFORM(a, x => CASE WHEN x % 2 = 0 THEN 'even' ELSE 'odd' END) AS r FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, 2]);
ASSERT VALUES result (id, r) VALUES (1, ARRAY['odd', 'even']);

--@test: the lambda of null is not called
CREATE STREAM result AS SELECT id, TRANSFORM(a, x => x + 1) AS r FROM s;
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, r) VALUES (1, NULL);

--@test: a lambda by itself
--@expected.error: SqlError
--@expected.message: expected 'FROM', found '=>'
CREATE STREAM result AS SELECT id, a x => x + 1 FROM s;

--@test: a parameter that is unknown
--@expected.error: SqlError
--@expected.message: unknown column Y
CREATE STREAM result AS SELECT id, TRANSFORM(a, x => y + 1) AS r FROM s;

--@test: a lambda with too many parameters
--@expected.error: SqlError
--@expected.message: TRANSFORM does not take
CREATE STREAM result AS SELECT id, TRANSFORM(a, (x, y) => x) AS r FROM s;

--@test: the condition of FILTER is a condition
--@expected.error: SqlError
--@expected.message: the lambda of FILTER gives INTEGER and should give BOOLEAN
CREATE STREAM result AS SELECT id, FILTER(a, x => x + 1) AS r FROM s;
