-- LIKE: % stands for any text, _ for any one character. Without ESCAPE there is no escape character.

CREATE STREAM s (id INT KEY, t STRING, p STRING) WITH (kafka_topic='s', value_format='JSON');

--@test: a text without wildcards is compared as a whole
CREATE STREAM result AS SELECT id, t LIKE 'stream' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'stream');
INSERT INTO s (id, t) VALUES (2, 'streams');
INSERT INTO s (id, t) VALUES (3, 'Stream');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);
ASSERT VALUES result (id, r) VALUES (3, FALSE);

--@test: % at the end: begins with
CREATE STREAM result AS SELECT id, t LIKE 'str%' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'stream');
INSERT INTO s (id, t) VALUES (2, 'str');
INSERT INTO s (id, t) VALUES (3, 'a stream');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, TRUE);
ASSERT VALUES result (id, r) VALUES (3, FALSE);

--@test: % at the beginning: ends with
CREATE STREAM result AS SELECT id, t LIKE '%eam' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'stream');
INSERT INTO s (id, t) VALUES (2, 'streams');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: % at both ends: contains
CREATE STREAM result AS SELECT id, t LIKE '%rea%' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'stream');
INSERT INTO s (id, t) VALUES (2, 'rea');
INSERT INTO s (id, t) VALUES (3, 'table');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, TRUE);
ASSERT VALUES result (id, r) VALUES (3, FALSE);

--@test: % in the middle
CREATE STREAM result AS SELECT id, t LIKE 's%m' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'stream');
INSERT INTO s (id, t) VALUES (2, 'sm');
INSERT INTO s (id, t) VALUES (3, 's');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, TRUE);
ASSERT VALUES result (id, r) VALUES (3, FALSE);

--@test: _ is exactly one character
CREATE STREAM result AS SELECT id, t LIKE 't_a' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'tea');
INSERT INTO s (id, t) VALUES (2, 'ta');
INSERT INTO s (id, t) VALUES (3, 'teaa');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);
ASSERT VALUES result (id, r) VALUES (3, FALSE);

--@test: _ and % together: at least two characters
CREATE STREAM result AS SELECT id, t LIKE '__%' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'a');
INSERT INTO s (id, t) VALUES (2, 'ab');
INSERT INTO s (id, t) VALUES (3, 'abc');
ASSERT VALUES result (id, r) VALUES (1, FALSE);
ASSERT VALUES result (id, r) VALUES (2, TRUE);
ASSERT VALUES result (id, r) VALUES (3, TRUE);

--@test: % alone takes everything, also the empty text
CREATE STREAM result AS SELECT id, t LIKE '%' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, '');
INSERT INTO s (id, t) VALUES (2, 'x');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, TRUE);

--@test: the empty pattern takes only the empty text
CREATE STREAM result AS SELECT id, t LIKE '' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, '');
INSERT INTO s (id, t) VALUES (2, 'x');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: a wildcard goes over line ends
CREATE STREAM result AS SELECT id, t LIKE 'a%c' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'a
c');
ASSERT VALUES result (id, r) VALUES (1, TRUE);

--@test: characters of regular expressions mean themselves
CREATE STREAM result AS SELECT id, t LIKE 'a.b*c[d](e)^$' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'a.b*c[d](e)^$');
INSERT INTO s (id, t) VALUES (2, 'aXbbcd(e)^$');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: ESCAPE makes a wildcard mean itself
CREATE STREAM result AS SELECT id, t LIKE '100!%' ESCAPE '!' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, '100%');
INSERT INTO s (id, t) VALUES (2, '1000');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: ESCAPE of an underscore, other wildcards still work
CREATE STREAM result AS SELECT id, t LIKE '%!_id' ESCAPE '!' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'user_id');
INSERT INTO s (id, t) VALUES (2, 'useraid');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: the escape character twice means itself
CREATE STREAM result AS SELECT id, t LIKE 'a!!%' ESCAPE '!' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'a!b');
INSERT INTO s (id, t) VALUES (2, 'ab');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: without ESCAPE a back-slash is a character
CREATE STREAM result AS SELECT id, t LIKE 'a\%' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'a\b');
INSERT INTO s (id, t) VALUES (2, 'a%');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: a back-slash as the escape character
CREATE STREAM result AS SELECT id, t LIKE 'a\%' ESCAPE '\' AS r FROM s;
INSERT INTO s (id, t) VALUES (1, 'a%');
INSERT INTO s (id, t) VALUES (2, 'ab');
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: NOT LIKE
CREATE STREAM result AS SELECT id FROM s WHERE t NOT LIKE '%a%';
INSERT INTO s (id, t) VALUES (1, 'stream');
INSERT INTO s (id, t) VALUES (2, 'flow');
ASSERT VALUES result (id) VALUES (2);

--@test: the pattern is a column
CREATE STREAM result AS SELECT id, t LIKE p AS r FROM s;
INSERT INTO s (id, t, p) VALUES (1, 'stream', 's%');
INSERT INTO s (id, t, p) VALUES (2, 'stream', 't%');
INSERT INTO s (id, t, p) VALUES (3, 'stream', NULL);
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);
ASSERT VALUES result (id, r) VALUES (3, NULL);

--@test: the pattern is an expression
CREATE STREAM result AS SELECT id, t LIKE p || '%' AS r FROM s;
INSERT INTO s (id, t, p) VALUES (1, 'stream', 'str');
ASSERT VALUES result (id, r) VALUES (1, TRUE);

--@test: LIKE in WHERE with AND
CREATE STREAM result AS SELECT id FROM s WHERE t LIKE 's%' AND t LIKE '%m';
INSERT INTO s (id, t) VALUES (1, 'sea');
INSERT INTO s (id, t) VALUES (2, 'stream');
ASSERT VALUES result (id) VALUES (2);

--@test: a number is no text
--@expected.error: SqlError
--@expected.message: LIKE compares texts, not INTEGER
CREATE STREAM result AS SELECT id FROM s WHERE id LIKE '1%';

--@test: a pattern is a text
--@expected.error: SqlError
--@expected.message: LIKE compares texts, not INTEGER
CREATE STREAM result AS SELECT id FROM s WHERE t LIKE 1;

--@test: the escape is one character
--@expected.error: SqlError
--@expected.message: the escape character is one character, not '!!'
CREATE STREAM result AS SELECT id FROM s WHERE t LIKE 'a' ESCAPE '!!';
