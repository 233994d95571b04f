-- NULL: what operators make of it. A comparison with null is false, so its NOT is true.

CREATE STREAM s (id INT KEY, i INT, j INT, t STRING, b BOOLEAN, d DOUBLE) WITH (kafka_topic='s', value_format='JSON');

--@test: arithmetic with null is null
CREATE STREAM result AS SELECT id, i + j AS a, i - j AS b, i * j AS c, i / j AS d, i % j AS e FROM s;
INSERT INTO s (id, i, j) VALUES (1, NULL, 2);
INSERT INTO s (id, i, j) VALUES (2, 2, NULL);
INSERT INTO s (id, i, j) VALUES (3, NULL, NULL);
ASSERT VALUES result (id, a, b, c, d, e) VALUES (1, NULL, NULL, NULL, NULL, NULL);
ASSERT VALUES result (id, a, b, c, d, e) VALUES (2, NULL, NULL, NULL, NULL, NULL);
ASSERT VALUES result (id, a, b, c, d, e) VALUES (3, NULL, NULL, NULL, NULL, NULL);

--@test: minus null is null
CREATE STREAM result AS SELECT id, -i AS a, -d AS b FROM s;
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, a, b) VALUES (1, NULL, NULL);

--@test: text joined with null is null
CREATE STREAM result AS SELECT id, t + 'x' AS a, 'x' || t AS b FROM s;
INSERT INTO s (id, t) VALUES (1, NULL);
INSERT INTO s (id, t) VALUES (2, '');
ASSERT VALUES result (id, a, b) VALUES (1, NULL, NULL);
ASSERT VALUES result (id, a, b) VALUES (2, 'x', 'x');

--@test: a comparison with null is false
CREATE STREAM result AS SELECT id, i = j AS a, i <> j AS b, i < j AS c, i <= j AS d, i > j AS e, i >= j AS f FROM s;
INSERT INTO s (id, i, j) VALUES (1, NULL, 1);
INSERT INTO s (id, i, j) VALUES (2, 1, NULL);
INSERT INTO s (id, i, j) VALUES (3, NULL, NULL);
ASSERT VALUES result (id, a, b, c, d, e, f) VALUES (1, FALSE, FALSE, FALSE, FALSE, FALSE, FALSE);
ASSERT VALUES result (id, a, b, c, d, e, f) VALUES (2, FALSE, FALSE, FALSE, FALSE, FALSE, FALSE);
ASSERT VALUES result (id, a, b, c, d, e, f) VALUES (3, FALSE, FALSE, FALSE, FALSE, FALSE, FALSE);

--@test: NOT of a comparison with null is true
CREATE STREAM result AS SELECT id FROM s WHERE NOT i = 1;
INSERT INTO s (id, i) VALUES (1, 1);
INSERT INTO s (id, i) VALUES (2, NULL);
ASSERT VALUES result (id) VALUES (2);

--@test: = NULL finds nothing, IS NULL does
CREATE STREAM a AS SELECT id FROM s WHERE i = NULL;
CREATE STREAM b AS SELECT id FROM s WHERE i IS NULL;
INSERT INTO s (id, i) VALUES (1, 1);
INSERT INTO s (id, i) VALUES (2, NULL);
ASSERT VALUES b (id) VALUES (2);

--@test: = NULL finds nothing
--@expected.error: AssertionError
--@expected.message: A has 0 records
CREATE STREAM a AS SELECT id FROM s WHERE i = NULL;
INSERT INTO s (id, i) VALUES (2, NULL);
ASSERT VALUES a (id) VALUES (2);

--@test: IS NOT NULL
CREATE STREAM result AS SELECT id FROM s WHERE t IS NOT NULL;
INSERT INTO s (id, t) VALUES (1, NULL);
INSERT INTO s (id, t) VALUES (2, '');
ASSERT VALUES result (id) VALUES (2);

--@test: IS NULL is never null itself
CREATE STREAM result AS SELECT id, i IS NULL AS a, i IS NOT NULL AS b FROM s;
INSERT INTO s (id, i) VALUES (1, NULL);
INSERT INTO s (id, i) VALUES (2, 0);
ASSERT VALUES result (id, a, b) VALUES (1, TRUE, FALSE);
ASSERT VALUES result (id, a, b) VALUES (2, FALSE, TRUE);

--@test: IS NULL of an expression
CREATE STREAM result AS SELECT id, i + 1 IS NULL AS a FROM s;
INSERT INTO s (id, i) VALUES (1, NULL);
INSERT INTO s (id, i) VALUES (2, 1);
ASSERT VALUES result (id, a) VALUES (1, TRUE);
ASSERT VALUES result (id, a) VALUES (2, FALSE);

--@test: IS DISTINCT FROM knows null as a value
CREATE STREAM result AS SELECT id, i IS DISTINCT FROM j AS a, i IS NOT DISTINCT FROM j AS b FROM s;
INSERT INTO s (id, i, j) VALUES (1, NULL, NULL);
INSERT INTO s (id, i, j) VALUES (2, NULL, 1);
INSERT INTO s (id, i, j) VALUES (3, 1, NULL);
INSERT INTO s (id, i, j) VALUES (4, 1, 1);
INSERT INTO s (id, i, j) VALUES (5, 1, 2);
ASSERT VALUES result (id, a, b) VALUES (1, FALSE, TRUE);
ASSERT VALUES result (id, a, b) VALUES (2, TRUE, FALSE);
ASSERT VALUES result (id, a, b) VALUES (3, TRUE, FALSE);
ASSERT VALUES result (id, a, b) VALUES (4, FALSE, TRUE);
ASSERT VALUES result (id, a, b) VALUES (5, TRUE, FALSE);

--@test: IS DISTINCT FROM of numbers of two kinds
CREATE STREAM result AS SELECT id, i IS DISTINCT FROM d AS a FROM s;
INSERT INTO s (id, i, d) VALUES (1, 1, 1.0);
INSERT INTO s (id, i, d) VALUES (2, 1, 1.5);
ASSERT VALUES result (id, a) VALUES (1, FALSE);
ASSERT VALUES result (id, a) VALUES (2, TRUE);

--@test: false AND null is false, true AND null is null
CREATE STREAM result AS SELECT id, (i = 1) AND b AS a FROM s;
INSERT INTO s (id, i, b) VALUES (1, 2, NULL);
INSERT INTO s (id, i, b) VALUES (2, 1, NULL);
INSERT INTO s (id, i, b) VALUES (3, 1, TRUE);
ASSERT VALUES result (id, a) VALUES (1, FALSE);
ASSERT VALUES result (id, a) VALUES (2, NULL);
ASSERT VALUES result (id, a) VALUES (3, TRUE);

--@test: true OR null is true, false OR null is null
CREATE STREAM result AS SELECT id, (i = 1) OR b AS a FROM s;
INSERT INTO s (id, i, b) VALUES (1, 1, NULL);
INSERT INTO s (id, i, b) VALUES (2, 2, NULL);
INSERT INTO s (id, i, b) VALUES (3, 2, FALSE);
ASSERT VALUES result (id, a) VALUES (1, TRUE);
ASSERT VALUES result (id, a) VALUES (2, NULL);
ASSERT VALUES result (id, a) VALUES (3, FALSE);

--@test: NOT null is null
CREATE STREAM result AS SELECT id, NOT b AS a FROM s;
INSERT INTO s (id, b) VALUES (1, NULL);
INSERT INTO s (id, b) VALUES (2, FALSE);
ASSERT VALUES result (id, a) VALUES (1, NULL);
ASSERT VALUES result (id, a) VALUES (2, TRUE);

--@test: a null condition is not met
CREATE STREAM result AS SELECT id FROM s WHERE b;
INSERT INTO s (id, b) VALUES (1, NULL);
INSERT INTO s (id, b) VALUES (2, TRUE);
ASSERT VALUES result (id) VALUES (2);

--@test: null is in no list
CREATE STREAM result AS SELECT id, i IN (1, 2) AS a, i NOT IN (1, 2) AS b FROM s;
INSERT INTO s (id, i) VALUES (1, NULL);
ASSERT VALUES result (id, a, b) VALUES (1, FALSE, TRUE);

--@test: a null in the list is never found
CREATE STREAM result AS SELECT id, i IN (1, NULL) AS a FROM s;
INSERT INTO s (id, i) VALUES (1, NULL);
INSERT INTO s (id, i) VALUES (2, 1);
INSERT INTO s (id, i) VALUES (3, 2);
ASSERT VALUES result (id, a) VALUES (1, FALSE);
ASSERT VALUES result (id, a) VALUES (2, TRUE);
ASSERT VALUES result (id, a) VALUES (3, FALSE);

--@test: null is between nothing
CREATE STREAM result AS SELECT id, i BETWEEN 1 AND 3 AS a, i NOT BETWEEN 1 AND 3 AS b FROM s;
INSERT INTO s (id, i) VALUES (1, NULL);
ASSERT VALUES result (id, a, b) VALUES (1, FALSE, TRUE);

--@test: BETWEEN with a null bound
CREATE STREAM result AS SELECT id, i BETWEEN j AND 3 AS a FROM s;
INSERT INTO s (id, i, j) VALUES (1, 2, NULL);
INSERT INTO s (id, i, j) VALUES (2, 2, 2);
ASSERT VALUES result (id, a) VALUES (1, FALSE);
ASSERT VALUES result (id, a) VALUES (2, TRUE);

--@test: LIKE of null is null
CREATE STREAM result AS SELECT id, t LIKE '%' AS a FROM s;
INSERT INTO s (id, t) VALUES (1, NULL);
INSERT INTO s (id, t) VALUES (2, '');
ASSERT VALUES result (id, a) VALUES (1, NULL);
ASSERT VALUES result (id, a) VALUES (2, TRUE);

--@test: CAST of null is null
CREATE STREAM result AS SELECT id, CAST(i AS STRING) AS a, CAST(t AS INT) AS b, CAST(d AS DECIMAL(4, 2)) AS c FROM s;
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, a, b, c) VALUES (1, NULL, NULL, NULL);

--@test: CAST gives NULL a type
CREATE STREAM result AS SELECT id, CAST(NULL AS BIGINT) AS a FROM s;
ASSERT STREAM result (id INT KEY, a BIGINT) WITH (kafka_topic='RESULT');
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, a) VALUES (1, NULL);

--@test: COALESCE takes the first that is not null
CREATE STREAM result AS SELECT id, COALESCE(i, j, 7) AS a FROM s;
INSERT INTO s (id, i, j) VALUES (1, NULL, NULL);
INSERT INTO s (id, i, j) VALUES (2, NULL, 5);
INSERT INTO s (id, i, j) VALUES (3, 3, 5);
ASSERT VALUES result (id, a) VALUES (1, 7);
ASSERT VALUES result (id, a) VALUES (2, 5);
ASSERT VALUES result (id, a) VALUES (3, 3);

--@test: IFNULL
CREATE STREAM result AS SELECT id, IFNULL(t, 'none') AS a FROM s;
INSERT INTO s (id, t) VALUES (1, NULL);
INSERT INTO s (id, t) VALUES (2, '');
ASSERT VALUES result (id, a) VALUES (1, 'none');
ASSERT VALUES result (id, a) VALUES (2, '');

--@test: NULLIF is null where both are equal
CREATE STREAM result AS SELECT id, NULLIF(i, j) AS a FROM s;
INSERT INTO s (id, i, j) VALUES (1, 2, 2);
INSERT INTO s (id, i, j) VALUES (2, 2, 3);
INSERT INTO s (id, i, j) VALUES (3, NULL, 3);
ASSERT VALUES result (id, a) VALUES (1, NULL);
ASSERT VALUES result (id, a) VALUES (2, 2);
ASSERT VALUES result (id, a) VALUES (3, NULL);

--@test: CASE takes a condition with null as not met
CREATE STREAM result AS SELECT id, CASE WHEN i > 1 THEN 'large' ELSE 'other' END AS a FROM s;
INSERT INTO s (id, i) VALUES (1, NULL);
INSERT INTO s (id, i) VALUES (2, 2);
ASSERT VALUES result (id, a) VALUES (1, 'other');
ASSERT VALUES result (id, a) VALUES (2, 'large');

--@test: a value of all nulls is a value and no tombstone
CREATE STREAM result AS SELECT * FROM s;
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, i) VALUES (1, NULL);

--@test: NULL alone has no type
--@expected.error: SqlError
--@expected.message: column A is NULL and so has no type
--@expected.message: CAST(NULL AS STRING) has one.
CREATE STREAM result AS SELECT id, NULL AS a FROM s;

--@test: two NULLs have no sum
--@expected.error: SqlError
--@expected.message: + between two NULLs has no type
CREATE STREAM result AS SELECT id, NULL + NULL AS a FROM s;
