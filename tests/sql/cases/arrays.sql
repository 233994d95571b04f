-- ARRAY: elements are counted from 1, and from the end with negative numbers.

CREATE STREAM s (id INT KEY, a ARRAY<INT>, n ARRAY<ARRAY<STRING>>, i INT, j INT, d DOUBLE, t STRING) WITH (kafka_topic='s', value_format='JSON');

--@test: the first element is number 1
CREATE STREAM result AS SELECT id, a[1] AS x, a[3] AS y FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[10, 20, 30]);
ASSERT VALUES result (id, x, y) VALUES (1, 10, 30);

--@test: negative numbers count from the end
CREATE STREAM result AS SELECT id, a[-1] AS x, a[-3] AS y FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[10, 20, 30]);
ASSERT VALUES result (id, x, y) VALUES (1, 30, 10);

--@test: beyond both ends there is null
CREATE STREAM result AS SELECT id, a[0] AS x, a[4] AS y, a[-4] AS z FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[10, 20, 30]);
ASSERT VALUES result (id, x, y, z) VALUES (1, NULL, NULL, NULL);

--@test: an element of null is null, and so is one at null
CREATE STREAM result AS SELECT id, a[i] AS x FROM s;
INSERT INTO s (id, a, i) VALUES (1, NULL, 1);
INSERT INTO s (id, a, i) VALUES (2, ARRAY[10], NULL);
INSERT INTO s (id, a, i) VALUES (3, ARRAY[10], 1);
ASSERT VALUES result (id, x) VALUES (1, NULL);
ASSERT VALUES result (id, x) VALUES (2, NULL);
ASSERT VALUES result (id, x) VALUES (3, 10);

--@test: an element that is null
CREATE STREAM result AS SELECT id, a[2] AS x, a FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[10, NULL, 30]);
ASSERT VALUES result (id, x, a) VALUES (1, NULL, ARRAY[10, NULL, 30]);

--@test: the index is an expression
CREATE STREAM result AS SELECT id, a[i + 1] AS x, a[a[1]] AS y FROM s;
INSERT INTO s (id, a, i) VALUES (1, ARRAY[3, 20, 30], 1);
ASSERT VALUES result (id, x, y) VALUES (1, 20, 30);

--@test: an array within an array
CREATE STREAM result AS SELECT id, n[1][2] AS x, n[2] AS y FROM s;
INSERT INTO s (id, n) VALUES (1, ARRAY[ARRAY['a', 'b'], ARRAY['c']]);
ASSERT VALUES result (id, x, y) VALUES (1, 'b', ARRAY['c']);

--@test: an array is made
CREATE STREAM result AS SELECT id, ARRAY[i, j, i + j] AS x FROM s;
ASSERT STREAM result (id INT KEY, x ARRAY<INT>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i, j) VALUES (1, 2, 3);
ASSERT VALUES result (id, x) VALUES (1, ARRAY[2, 3, 5]);

--@test: elements are brought to one type
CREATE STREAM result AS SELECT id, ARRAY[i, d] AS x, ARRAY[1, 3000000000] AS y, ARRAY[1, 2.5] AS z FROM s;
ASSERT STREAM result (id INT KEY, x ARRAY<DOUBLE>, y ARRAY<BIGINT>, z ARRAY<DECIMAL(11, 1)>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i, d) VALUES (1, 2, 0.5);
ASSERT VALUES result (id, x, y, z) VALUES (1, ARRAY[2.0, 0.5], ARRAY[1, 3000000000], ARRAY[1.0, 2.5]);

--@test: a number in quotes among numbers is a number
CREATE STREAM result AS SELECT id, ARRAY[i, '7', '3e2'] AS x FROM s;
ASSERT STREAM result (id INT KEY, x ARRAY<DOUBLE>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i) VALUES (1, 2);
ASSERT VALUES result (id, x) VALUES (1, ARRAY[2.0, 7.0, 300.0]);

--@test: a number among texts is a text
CREATE STREAM result AS SELECT id, ARRAY[t, 7, TRUE] AS x FROM s;
ASSERT STREAM result (id INT KEY, x ARRAY<STRING>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, t) VALUES (1, 'seven');
ASSERT VALUES result (id, x) VALUES (1, ARRAY['seven', '7', 'true']);

--@test: structs are brought to one that has all fields
CREATE STREAM result AS SELECT id, ARRAY[STRUCT(x := i), STRUCT(y := t)] AS r FROM s;
ASSERT STREAM result (id INT KEY, r ARRAY<STRUCT<x INT, y STRING>>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i, t) VALUES (1, 2, 'two');
ASSERT VALUES result (id, r) VALUES (1, ARRAY[STRUCT(x := 2, y := CAST(NULL AS STRING)), STRUCT(x := CAST(NULL AS INT), y := 'two')]);

--@test: null among elements
CREATE STREAM result AS SELECT id, ARRAY[NULL, i, NULL] AS x FROM s;
INSERT INTO s (id, i) VALUES (1, 2);
ASSERT VALUES result (id, x) VALUES (1, ARRAY[NULL, 2, NULL]);

--@test: an element of an array that was just made
CREATE STREAM result AS SELECT id, ARRAY['low', 'high'][i] AS x FROM s;
INSERT INTO s (id, i) VALUES (1, 2);
ASSERT VALUES result (id, x) VALUES (1, 'high');

--@test: arrays are equal if all elements are, in their order
CREATE STREAM result AS SELECT id, a = ARRAY[1, 2] AS x, a <> ARRAY[1, 2] AS y FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[1, 2]);
INSERT INTO s (id, a) VALUES (2, ARRAY[2, 1]);
INSERT INTO s (id, a) VALUES (3, ARRAY[1, 2, 3]);
ASSERT VALUES result (id, x, y) VALUES (1, TRUE, FALSE);
ASSERT VALUES result (id, x, y) VALUES (2, FALSE, TRUE);
ASSERT VALUES result (id, x, y) VALUES (3, FALSE, TRUE);

--@test: an array as the key
CREATE STREAM k (id ARRAY<INT> KEY, v INT) WITH (kafka_topic='k', key_format='JSON', value_format='JSON');
CREATE STREAM result AS SELECT id, id[1] + v AS r FROM k;
INSERT INTO k (id, v) VALUES (ARRAY[1, 2], 5);
ASSERT VALUES result (id, r) VALUES (ARRAY[1, 2], 6);

--@test: ARRAY_LENGTH, ARRAY_CONTAINS
CREATE STREAM result AS SELECT id, ARRAY_LENGTH(a) AS x, ARRAY_CONTAINS(a, 20) AS y FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[10, 20, 30]);
INSERT INTO s (id, a) VALUES (2, ARRAY[10]);
ASSERT VALUES result (id, x, y) VALUES (1, 3, TRUE);
ASSERT VALUES result (id, x, y) VALUES (2, 1, FALSE);

--@test: ARRAY_SORT, ARRAY_DISTINCT, ARRAY_MAX, ARRAY_MIN
CREATE STREAM result AS SELECT id, ARRAY_SORT(a) AS x, ARRAY_DISTINCT(a) AS y, ARRAY_MAX(a) AS u, ARRAY_MIN(a) AS v FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[3, 1, 3, 2]);
ASSERT VALUES result (id, x, y, u, v) VALUES (1, ARRAY[1, 2, 3, 3], ARRAY[3, 1, 2], 3, 1);

--@test: SLICE counts from 1, both ends are in
CREATE STREAM result AS SELECT id, SLICE(a, 2, 3) AS x FROM s;
INSERT INTO s (id, a) VALUES (1, ARRAY[10, 20, 30, 40]);
ASSERT VALUES result (id, x) VALUES (1, ARRAY[20, 30]);

--@test: elements of types that do not go together
--@expected.error: SqlError
--@expected.message: the elements of the ARRAY have different types: INTEGER and STRING
CREATE STREAM result AS SELECT id, ARRAY[i, t] AS x FROM s;

--@test: an array without elements
--@expected.error: SqlError
--@expected.message: an ARRAY without elements has no type
CREATE STREAM result AS SELECT id, ARRAY[] AS x FROM s;

--@test: an array of only NULL
--@expected.error: SqlError
--@expected.message: the elements of the ARRAY are all NULL and so have no type
CREATE STREAM result AS SELECT id, ARRAY[NULL] AS x FROM s;

--@test: an index that is no whole number
--@expected.error: SqlError
--@expected.message: the index of an ARRAY is an INTEGER, not STRING
CREATE STREAM result AS SELECT id, a['1'] AS x FROM s;

--@test: an element of what is neither array nor map
--@expected.error: SqlError
--@expected.message: [ ] reads from an ARRAY or a MAP, not from INTEGER
CREATE STREAM result AS SELECT id, i[1] AS x FROM s;

--@test: arrays have no order
--@expected.error: SqlError
--@expected.message: values of ARRAY<INTEGER> have no order
CREATE STREAM result AS SELECT id FROM s WHERE a > ARRAY[1];
