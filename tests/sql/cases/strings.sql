-- Texts: literals, joining, comparing.

CREATE STREAM s (id INT KEY, a STRING, b STRING) WITH (kafka_topic='s', value_format='JSON');

--@test: + and || join texts
CREATE STREAM result AS SELECT id, a + b AS x, a || b AS y, a || '-' || b AS z FROM s;
INSERT INTO s (id, a, b) VALUES (1, 'left', 'right');
ASSERT VALUES result (id, x, y, z) VALUES (1, 'leftright', 'leftright', 'left-right');

--@test: a sum is computed before it is joined
CREATE STREAM result AS SELECT id, a || CAST(1 + 2 AS STRING) AS x FROM s;
INSERT INTO s (id, a) VALUES (1, 'n');
ASSERT VALUES result (id, x) VALUES (1, 'n3');

--@test: a quote within a text is written twice
CREATE STREAM result AS SELECT id, 'it''s' AS x, '''' AS y FROM s WHERE a = 'don''t';
INSERT INTO s (id, a) VALUES (1, 'dont');
INSERT INTO s (id, a) VALUES (2, 'don''t');
ASSERT VALUES result (id, x, y) VALUES (2, 'it''s', '''');

--@test: the empty text is not null
CREATE STREAM result AS SELECT id, a = '' AS x, a IS NULL AS y FROM s;
INSERT INTO s (id, a) VALUES (1, '');
ASSERT VALUES result (id, x, y) VALUES (1, TRUE, FALSE);

--@test: text in all scripts
CREATE STREAM result AS SELECT id, a || ' — ' || b AS x FROM s;
INSERT INTO s (id, a, b) VALUES (1, 'Vltava', 'Влтава 河 🐟');
ASSERT VALUES result (id, x) VALUES (1, 'Vltava — Влтава 河 🐟');

--@test: a back-slash and a double quote mean themselves
CREATE STREAM result AS SELECT id, a || '\n"' AS x FROM s;
INSERT INTO s (id, a) VALUES (1, '\');
ASSERT VALUES result (id, x) VALUES (1, '\\n"');

--@test: a text over two lines
CREATE STREAM result AS SELECT id, 'one
two' AS x FROM s;
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, x) VALUES (1, 'one
two');

--@test: what looks like a comment within a text is text
CREATE STREAM result AS SELECT id, 'a -- b /* c */ ; d' AS x FROM s;
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, x) VALUES (1, 'a -- b /* c */ ; d');

--@test: upper case comes before lower case, a beginning before the whole
CREATE STREAM result AS SELECT id, a < b AS x FROM s;
INSERT INTO s (id, a, b) VALUES (1, 'B', 'a');
INSERT INTO s (id, a, b) VALUES (2, 'ab', 'abc');
INSERT INTO s (id, a, b) VALUES (3, 'b', 'abc');
INSERT INTO s (id, a, b) VALUES (4, '10', '9');
ASSERT VALUES result (id, x) VALUES (1, TRUE);
ASSERT VALUES result (id, x) VALUES (2, TRUE);
ASSERT VALUES result (id, x) VALUES (3, FALSE);
ASSERT VALUES result (id, x) VALUES (4, TRUE);

--@test: VARCHAR is another name of STRING
CREATE STREAM v (id INT KEY, a VARCHAR) WITH (kafka_topic='v', value_format='JSON');
ASSERT STREAM v (id INT KEY, a STRING) WITH (kafka_topic='v');

--@test: UCASE and LCASE
CREATE STREAM result AS SELECT id, UCASE(a) AS x, LCASE(a) AS y FROM s;
INSERT INTO s (id, a) VALUES (1, 'Straße');
ASSERT VALUES result (id, x, y) VALUES (1, 'STRASSE', 'straße');

--@test: LEN counts characters
CREATE STREAM result AS SELECT id, LEN(a) AS x FROM s;
INSERT INTO s (id, a) VALUES (1, 'stream');
INSERT INTO s (id, a) VALUES (2, '');
INSERT INTO s (id, a) VALUES (3, NULL);
ASSERT VALUES result (id, x) VALUES (1, 6);
ASSERT VALUES result (id, x) VALUES (2, 0);
ASSERT VALUES result (id, x) VALUES (3, NULL);

--@test: SUBSTRING counts from 1
CREATE STREAM result AS SELECT id, SUBSTRING(a, 1, 3) AS x, SUBSTRING(a, 3) AS y FROM s;
INSERT INTO s (id, a) VALUES (1, 'stream');
ASSERT VALUES result (id, x, y) VALUES (1, 'str', 'ream');

--@test: SUBSTRING counts from the end with a negative number
CREATE STREAM result AS SELECT id, SUBSTRING(a, -3) AS x, SUBSTRING(a, -3, 2) AS y FROM s;
INSERT INTO s (id, a) VALUES (1, 'stream');
ASSERT VALUES result (id, x, y) VALUES (1, 'eam', 'ea');

--@test: TRIM, CONCAT and REPLACE
CREATE STREAM result AS SELECT id, TRIM(a) AS x, CONCAT(a, b) AS y, REPLACE(b, 'o', '0') AS z FROM s;
INSERT INTO s (id, a, b) VALUES (1, ' in ', 'foo');
ASSERT VALUES result (id, x, y, z) VALUES (1, 'in', ' in foo', 'f00');

--@test: a string without an end
--@expected.error: SqlError
--@expected.message: the string that begins here has no end
--@expected.message: A quote inside a string is written twice: 'it''s'.
CREATE STREAM result AS SELECT id, 'open FROM s;
