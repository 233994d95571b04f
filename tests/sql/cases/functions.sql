-- Scalar functions in statements: one case for each family. Their own examples are tested one by one elsewhere.

CREATE STREAM s (id INT KEY, a STRING, b STRING, i INT, d DOUBLE, m DECIMAL(5, 2), l ARRAY<STRING>, n ARRAY<INT>, p MAP<STRING, INT>, y BYTES) WITH (kafka_topic='s', value_format='JSON');

--@test: ABS keeps the type
CREATE STREAM r AS SELECT id, ABS(i) AS x, ABS(d) AS y, ABS(m) AS z FROM s;
ASSERT STREAM r (id INT KEY, x INT, y DOUBLE, z DECIMAL(5, 2)) WITH (kafka_topic='R');
INSERT INTO s (id, i, d, m) VALUES (1, -3, -0.5, -1.25);
ASSERT VALUES r (id, x, y, z) VALUES (1, 3, 0.5, 1.25);

--@test: CEIL and FLOOR
CREATE STREAM r AS SELECT id, CEIL(d) AS x, FLOOR(d) AS y FROM s;
INSERT INTO s (id, d) VALUES (1, 1.2);
INSERT INTO s (id, d) VALUES (2, -1.2);
ASSERT VALUES r (id, x, y) VALUES (1, 2.0, 1.0);
ASSERT VALUES r (id, x, y) VALUES (2, -1.0, -2.0);

--@test: ROUND of a double is a BIGINT, a half goes up
CREATE STREAM r AS SELECT id, ROUND(d) AS x FROM s;
ASSERT STREAM r (id INT KEY, x BIGINT) WITH (kafka_topic='R');
INSERT INTO s (id, d) VALUES (1, 2.5);
INSERT INTO s (id, d) VALUES (2, -2.5);
ASSERT VALUES r (id, x) VALUES (1, 3);
ASSERT VALUES r (id, x) VALUES (2, -2);

--@test: SQRT, POWER, SIGN
CREATE STREAM r AS SELECT id, SQRT(d) AS x, POWER(d, 2) AS y, SIGN(i) AS z FROM s;
INSERT INTO s (id, d, i) VALUES (1, 9.0, -5);
ASSERT VALUES r (id, x, y, z) VALUES (1, 3.0, 81.0, -1);

--@test: GREATEST and LEAST leave nulls out
CREATE STREAM r AS SELECT id, GREATEST(i, 5, 3) AS x, LEAST(i, 5, 3) AS y FROM s;
INSERT INTO s (id, i) VALUES (1, 7);
INSERT INTO s (id, i) VALUES (2, NULL);
ASSERT VALUES r (id, x, y) VALUES (1, 7, 3);
ASSERT VALUES r (id, x, y) VALUES (2, 5, 3);

--@test: GENERATE_SERIES takes both ends
CREATE STREAM r AS SELECT id, GENERATE_SERIES(1, i) AS x, GENERATE_SERIES(0, 10, 5) AS y FROM s;
INSERT INTO s (id, i) VALUES (1, 3);
ASSERT VALUES r (id, x, y) VALUES (1, ARRAY[1, 2, 3], ARRAY[0, 5, 10]);

--@test: a table of GENERATE_SERIES
CREATE STREAM r AS SELECT id, EXPLODE(GENERATE_SERIES(1, i)) AS x FROM s;
INSERT INTO s (id, i) VALUES (1, 2);
ASSERT VALUES r (id, x) VALUES (1, 1);
ASSERT VALUES r (id, x) VALUES (1, 2);

--@test: LPAD and RPAD
CREATE STREAM r AS SELECT id, LPAD(a, 5, '*') AS x, RPAD(a, 5, '-+') AS y, LPAD(a, 2, '*') AS z FROM s;
INSERT INTO s (id, a) VALUES (1, 'abc');
ASSERT VALUES r (id, x, y, z) VALUES (1, '**abc', 'abc-+', 'ab');

--@test: INSTR counts from 1, 0 is nowhere
CREATE STREAM r AS SELECT id, INSTR(a, 'o') AS x, INSTR(a, 'z') AS y FROM s;
INSERT INTO s (id, a) VALUES (1, 'foo');
ASSERT VALUES r (id, x, y) VALUES (1, 2, 0);

--@test: INITCAP
CREATE STREAM r AS SELECT id, INITCAP(a) AS x FROM s;
INSERT INTO s (id, a) VALUES (1, 'the SECOND word');
ASSERT VALUES r (id, x) VALUES (1, 'The Second Word');

--@test: CONCAT_WS leaves nulls out
CREATE STREAM r AS SELECT id, CONCAT_WS(', ', a, b, 'end') AS x FROM s;
INSERT INTO s (id, a, b) VALUES (1, 'one', NULL);
ASSERT VALUES r (id, x) VALUES (1, 'one, end');

--@test: SPLIT
CREATE STREAM r AS SELECT id, SPLIT(a, '.') AS x, SPLIT(a, '.')[2] AS y FROM s;
INSERT INTO s (id, a) VALUES (1, 'a.b.c');
ASSERT VALUES r (id, x, y) VALUES (1, ARRAY['a', 'b', 'c'], 'b');

--@test: SPLIT_TO_MAP
CREATE STREAM r AS SELECT id, SPLIT_TO_MAP(a, ';', '=') AS x FROM s;
INSERT INTO s (id, a) VALUES (1, 'k=v;q=w');
ASSERT VALUES r (id, x) VALUES (1, MAP('k' := 'v', 'q' := 'w'));

--@test: MASK: letters, digits and the rest
CREATE STREAM r AS SELECT id, MASK(a) AS x, MASK_LEFT(a, 2) AS y, MASK_KEEP_RIGHT(a, 2) AS z FROM s;
INSERT INTO s (id, a) VALUES (1, 'Ab-12');
ASSERT VALUES r (id, x, y, z) VALUES (1, 'Xx-nn', 'Xx-12', 'Xx-12');

--@test: ELT and FIELD
CREATE STREAM r AS SELECT id, ELT(i, 'x', 'y') AS x, FIELD(a, 'p', 'q') AS y FROM s;
INSERT INTO s (id, i, a) VALUES (1, 2, 'q');
INSERT INTO s (id, i, a) VALUES (2, 5, 'z');
ASSERT VALUES r (id, x, y) VALUES (1, 'y', 2);
ASSERT VALUES r (id, x, y) VALUES (2, NULL, 0);

--@test: TO_BYTES, FROM_BYTES and ENCODE
CREATE STREAM r AS SELECT id, FROM_BYTES(TO_BYTES(a, 'utf8'), 'hex') AS x, ENCODE(a, 'utf8', 'base64') AS y FROM s;
INSERT INTO s (id, a) VALUES (1, 'abc');
ASSERT VALUES r (id, x, y) VALUES (1, '616263', 'YWJj');

--@test: REGEXP_EXTRACT and REGEXP_REPLACE
CREATE STREAM r AS SELECT id, REGEXP_EXTRACT('([a-z]+)-([0-9]+)', a, 2) AS x, REGEXP_REPLACE(a, '[0-9]', '#') AS y FROM s;
INSERT INTO s (id, a) VALUES (1, 'id-42');
ASSERT VALUES r (id, x, y) VALUES (1, '42', 'id-##');

--@test: EXTRACTJSONFIELD
CREATE STREAM r AS SELECT id, EXTRACTJSONFIELD(a, '$.log.cloud') AS x, EXTRACTJSONFIELD(a, '$.log.n[1]') AS y FROM s;
INSERT INTO s (id, a) VALUES (1, '{"log": {"cloud": "gcp", "n": [7, 8]}}');
ASSERT VALUES r (id, x, y) VALUES (1, 'gcp', '8');

--@test: IS_JSON_STRING and JSON_ARRAY_LENGTH
CREATE STREAM r AS SELECT id, IS_JSON_STRING(a) AS x, JSON_ARRAY_LENGTH(a) AS y FROM s;
INSERT INTO s (id, a) VALUES (1, '[1, 2]');
INSERT INTO s (id, a) VALUES (2, '[1, 2');
ASSERT VALUES r (id, x, y) VALUES (1, TRUE, 2);
ASSERT VALUES r (id, x, y) VALUES (2, FALSE, NULL);

--@test: JSON_ARRAY_CONTAINS
CREATE STREAM r AS SELECT id, JSON_ARRAY_CONTAINS(a, 2) AS x, JSON_ARRAY_CONTAINS(a, 9) AS y FROM s;
INSERT INTO s (id, a) VALUES (1, '[1, 2, "x"]');
ASSERT VALUES r (id, x, y) VALUES (1, TRUE, FALSE);

--@test: TO_JSON_STRING
CREATE STREAM r AS SELECT id, TO_JSON_STRING(n) AS x, TO_JSON_STRING(i) AS y FROM s;
INSERT INTO s (id, n, i) VALUES (1, ARRAY[1, 2], 5);
ASSERT VALUES r (id, x, y) VALUES (1, '[1,2]', '5');

--@test: parts of an address of the web
CREATE STREAM r AS SELECT id, URL_EXTRACT_HOST(a) AS h, URL_EXTRACT_PORT(a) AS p, URL_EXTRACT_PATH(a) AS q, URL_EXTRACT_PARAMETER(a, 'x') AS x FROM s;
INSERT INTO s (id, a) VALUES (1, 'https://example.org:8080/a/b?x=1&y=2#top');
ASSERT VALUES r (id, h, p, q, x) VALUES (1, 'example.org', 8080, '/a/b', '1');

--@test: URL_ENCODE_PARAM and back
CREATE STREAM r AS SELECT id, URL_ENCODE_PARAM(a) AS x, URL_DECODE_PARAM(URL_ENCODE_PARAM(a)) AS y FROM s;
INSERT INTO s (id, a) VALUES (1, 'a b&c');
ASSERT VALUES r (id, x, y) VALUES (1, 'a+b%26c', 'a b&c');

--@test: ARRAY_JOIN and ARRAY_CONCAT
CREATE STREAM r AS SELECT id, ARRAY_JOIN(l, '-') AS x, ARRAY_CONCAT(l, ARRAY['z']) AS y FROM s;
INSERT INTO s (id, l) VALUES (1, ARRAY['a', 'b']);
ASSERT VALUES r (id, x, y) VALUES (1, 'a-b', ARRAY['a', 'b', 'z']);

--@test: ARRAY_UNION, ARRAY_INTERSECT, ARRAY_EXCEPT
CREATE STREAM r AS SELECT id, ARRAY_UNION(n, ARRAY[2, 9]) AS x, ARRAY_INTERSECT(n, ARRAY[2, 9]) AS y, ARRAY_EXCEPT(n, ARRAY[2, 9]) AS z FROM s;
INSERT INTO s (id, n) VALUES (1, ARRAY[1, 2, 2]);
ASSERT VALUES r (id, x, y, z) VALUES (1, ARRAY[1, 2, 9], ARRAY[2], ARRAY[1]);

--@test: ARRAY_REMOVE
CREATE STREAM r AS SELECT id, ARRAY_REMOVE(n, 2) AS x FROM s;
INSERT INTO s (id, n) VALUES (1, ARRAY[1, 2, 3, 2]);
ASSERT VALUES r (id, x) VALUES (1, ARRAY[1, 3]);

--@test: AS_MAP and MAP_UNION: the second one wins
CREATE STREAM r AS SELECT id, AS_MAP(l, n) AS x, MAP_UNION(p, MAP('a' := 9)) AS y FROM s;
INSERT INTO s (id, l, n, p) VALUES (1, ARRAY['k', 'l'], ARRAY[1, 2], MAP('a' := 1, 'b' := 2));
ASSERT VALUES r (id, x, y) VALUES (1, MAP('k' := 1, 'l' := 2), MAP('a' := 9, 'b' := 2));

--@test: ENTRIES in the order of keys
CREATE STREAM r AS SELECT id, ENTRIES(p, TRUE) AS x FROM s;
INSERT INTO s (id, p) VALUES (1, MAP('b' := 2, 'a' := 1));
ASSERT VALUES r (id, x) VALUES (1, ARRAY[STRUCT(k := 'a', v := 1), STRUCT(k := 'b', v := 2)]);

--@test: functions within functions
CREATE STREAM r AS SELECT id, UCASE(SUBSTRING(TRIM(a), 1, LEN(TRIM(a)) - 1)) AS x FROM s;
INSERT INTO s (id, a) VALUES (1, '  word! ');
ASSERT VALUES r (id, x) VALUES (1, 'WORD');

--@test: a function in WHERE, GROUP BY and HAVING
CREATE TABLE r AS SELECT LEN(a) AS x, COUNT(*) AS c FROM s WHERE UCASE(a) <> 'NO' GROUP BY LEN(a) HAVING ABS(MIN(i)) > 1;
INSERT INTO s (id, a, i) VALUES (1, 'no', -5);
INSERT INTO s (id, a, i) VALUES (2, 'yes', 1);
INSERT INTO s (id, a, i) VALUES (3, 'who', -5);
ASSERT VALUES r (x, c) VALUES (3, 2);

--@test: names of functions in any case
CREATE STREAM r AS SELECT id, uCaSe(a) AS x FROM s;
INSERT INTO s (id, a) VALUES (1, 'x');
ASSERT VALUES r (id, x) VALUES (1, 'X');

--@test: a smaller number is widened for a function
CREATE STREAM r AS SELECT id, SQRT(i) AS x FROM s;
INSERT INTO s (id, i) VALUES (1, 16);
ASSERT VALUES r (id, x) VALUES (1, 4.0);

--@test: a function that fails makes its column null
CREATE STREAM r AS SELECT id, PARSE_DATE(a, 'yyyy-MM-dd') AS x, a FROM s;
INSERT INTO s (id, a) VALUES (1, 'no date');
ASSERT VALUES r (id, x, a) VALUES (1, NULL, 'no date');
