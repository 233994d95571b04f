-- Formats, keys of several columns, and the properties of WITH.

--@test: a JSON key of two columns
CREATE STREAM s (a STRING KEY, b INT KEY, v INT) WITH (kafka_topic='s', key_format='JSON', value_format='JSON');
CREATE STREAM r AS SELECT b, a, v FROM s;
ASSERT STREAM r (a STRING KEY, b INT KEY, v INT) WITH (kafka_topic='R', key_format='JSON');
INSERT INTO s (a, b, v) VALUES ('x', 1, 2);
ASSERT VALUES r (a, b, v) VALUES ('x', 1, 2);

--@test: a part of a key may be null
CREATE STREAM s (a STRING KEY, b INT KEY, v INT) WITH (kafka_topic='s', key_format='JSON', value_format='JSON');
CREATE STREAM r AS SELECT * FROM s;
INSERT INTO s (b, v) VALUES (1, 2);
ASSERT VALUES r (a, b, v) VALUES (NULL, 1, 2);

--@test: groups by both columns of the key, in their order and in the other
CREATE STREAM s (a STRING KEY, b INT KEY, v INT) WITH (kafka_topic='s', key_format='JSON', value_format='JSON');
CREATE TABLE p AS SELECT a, b, COUNT(*) AS n FROM s GROUP BY a, b;
CREATE TABLE q AS SELECT b, a, COUNT(*) AS n FROM s GROUP BY b, a;
INSERT INTO s (a, b) VALUES ('x', 1);
ASSERT VALUES p (a, b, n) VALUES ('x', 1, 1);
ASSERT VALUES q (a, b, n) VALUES ('x', 1, 1);

--@test: groups by one column of the key
CREATE STREAM s (a STRING KEY, b INT KEY, v INT) WITH (kafka_topic='s', key_format='JSON', value_format='JSON');
CREATE TABLE p AS SELECT a, SUM(v) AS n FROM s GROUP BY a;
INSERT INTO s (a, b, v) VALUES ('x', 1, 5);
INSERT INTO s (a, b, v) VALUES ('x', 2, 6);
ASSERT VALUES p (a, n) VALUES ('x', 5);
ASSERT VALUES p (a, n) VALUES ('x', 11);

--@test: a table with a key of two columns
CREATE TABLE t (a STRING PRIMARY KEY, b INT PRIMARY KEY, v INT) WITH (kafka_topic='t', key_format='JSON', value_format='JSON');
CREATE TABLE r AS SELECT a, b, v + 1 AS w FROM t;
INSERT INTO t (a, b, v) VALUES ('x', 1, 2);
ASSERT VALUES r (a, b, w) VALUES ('x', 1, 3);

--@test: KAFKA keys of all their types
CREATE STREAM a (k INT KEY, v INT) WITH (kafka_topic='a', value_format='JSON');
CREATE STREAM b (k BIGINT KEY, v INT) WITH (kafka_topic='b', value_format='JSON');
CREATE STREAM c (k DOUBLE KEY, v INT) WITH (kafka_topic='c', value_format='JSON');
CREATE STREAM d (k STRING KEY, v INT) WITH (kafka_topic='d', value_format='JSON');
INSERT INTO a (k, v) VALUES (-1, 1);
INSERT INTO b (k, v) VALUES (5000000000, 1);
INSERT INTO c (k, v) VALUES (0.5, 1);
INSERT INTO d (k, v) VALUES ('ř', 1);
ASSERT VALUES a (k, v) VALUES (-1, 1);
ASSERT VALUES b (k, v) VALUES (5000000000, 1);
ASSERT VALUES c (k, v) VALUES (0.5, 1);
ASSERT VALUES d (k, v) VALUES ('ř', 1);

--@test: FORMAT is the format of both
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', format='JSON');
ASSERT STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', key_format='JSON', value_format='JSON');

--@test: a query changes the format
CREATE STREAM s (k INT KEY, v INT, w STRING) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r WITH (value_format='DELIMITED') AS SELECT * FROM s;
CREATE STREAM q WITH (value_format='JSON', key_format='JSON') AS SELECT * FROM r;
ASSERT STREAM r (k INT KEY, v INT, w STRING) WITH (kafka_topic='R', value_format='DELIMITED');
INSERT INTO s (k, v, w) VALUES (1, 2, 'x');
ASSERT VALUES r (k, v, w) VALUES (1, 2, 'x');
ASSERT VALUES q (k, v, w) VALUES (1, 2, 'x');

--@test: DELIMITED: a delimiter and a quote within a text
CREATE STREAM s (k INT KEY, a STRING, b STRING) WITH (kafka_topic='s', value_format='DELIMITED');
CREATE STREAM r AS SELECT * FROM s;
INSERT INTO s (k, a, b) VALUES (1, 'one, two', 'a "word"');
ASSERT VALUES r (k, a, b) VALUES (1, 'one, two', 'a "word"');

--@test: DELIMITED with another delimiter
CREATE STREAM s (k INT KEY, a STRING, b INT) WITH (kafka_topic='s', value_format='DELIMITED', value_delimiter='|');
CREATE STREAM r AS SELECT * FROM s;
INSERT INTO s (k, a, b) VALUES (1, 'x', 2);
ASSERT VALUES r (k, a, b) VALUES (1, 'x', 2);

--@test: DELIMITED with a TAB
CREATE STREAM s (k INT KEY, a STRING, b INT) WITH (kafka_topic='s', value_format='DELIMITED', value_delimiter='TAB');
INSERT INTO s (k, a, b) VALUES (1, 'x', 2);
ASSERT VALUES s (k, a, b) VALUES (1, 'x', 2);

--@test: DELIMITED: numbers, booleans and nulls
CREATE STREAM s (k INT KEY, a BOOLEAN, b BIGINT, c DOUBLE, d DECIMAL(5, 2), e STRING) WITH (kafka_topic='s', value_format='DELIMITED');
CREATE STREAM r AS SELECT * FROM s;
INSERT INTO s (k, a, b, c, d) VALUES (1, TRUE, 5000000000, 0.5, 1.25);
ASSERT VALUES r (k, a, b, c, d, e) VALUES (1, TRUE, 5000000000, 0.5, 1.25, NULL);

--@test: a value of one column in KAFKA
CREATE STREAM s (k INT KEY, v BIGINT) WITH (kafka_topic='s', value_format='KAFKA');
CREATE STREAM r AS SELECT k, v + 1 AS v FROM s;
INSERT INTO s (k, v) VALUES (1, 2);
ASSERT VALUES r (k, v) VALUES (1, 3);

--@test: a single column without a record around it
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON', wrap_single_value=false);
CREATE STREAM r AS SELECT k, v + 1 AS v FROM s;
ASSERT STREAM r (k INT KEY, v INT) WITH (kafka_topic='R', wrap_single_value=true);
INSERT INTO s (k, v) VALUES (1, 2);
ASSERT VALUES r (k, v) VALUES (1, 3);

--@test: the format NONE of a key that is not there
CREATE STREAM s (v INT) WITH (kafka_topic='s', key_format='NONE', value_format='JSON');
CREATE STREAM r AS SELECT v FROM s;
INSERT INTO s (v) VALUES (5);
ASSERT VALUES r (v) VALUES (5);

--@test: bytes are written in Base64
CREATE STREAM s (k INT KEY, v BYTES) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r AS SELECT k, v, FROM_BYTES(v, 'utf8') AS x FROM s;
INSERT INTO s (k, v) VALUES (1, 'YWJj');
ASSERT VALUES r (k, v, x) VALUES (1, 'YWJj', 'abc');

--@test: properties in any case
CREATE STREAM s (k INT KEY, v INT) with (KAFKA_topic='S1', Value_Format='json', PARTITIONS=2);
ASSERT STREAM s (k INT KEY, v INT) WITH (kafka_topic='S1', value_format='JSON');

--@test: the topic has the name of the stream where none is said
CREATE STREAM s (k INT KEY, v INT) WITH (value_format='JSON', partitions=1);
ASSERT STREAM s (k INT KEY, v INT) WITH (kafka_topic='S');

--@test: a topic of a query's own
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM r WITH (kafka_topic='elsewhere') AS SELECT * FROM s;
ASSERT STREAM r (k INT KEY, v INT) WITH (kafka_topic='elsewhere');

--@test: KAFKA holds one column
--@expected.message: format KAFKA holds a single column, and the key has 2
CREATE STREAM s (a INT KEY, b INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON');

--@test: KAFKA holds no boolean
--@expected.message: format KAFKA does not support the type BOOLEAN
CREATE STREAM s (a BOOLEAN KEY, v INT) WITH (kafka_topic='s', value_format='JSON');

--@test: DELIMITED holds no array
--@expected.message: format DELIMITED does not support the type ARRAY<INTEGER>
CREATE STREAM s (a INT KEY, v ARRAY<INT>) WITH (kafka_topic='s', value_format='DELIMITED');

--@test: NONE holds no column
--@expected.message: format NONE holds no columns, and the key has K
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', key_format='NONE', value_format='JSON');

--@test: an unknown format
--@expected.message: unknown format JASON
--@expected.message: Did you mean JSON?
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='JASON');

--@test: an unknown property
--@expected.message: unknown property VALUE_FORMATT
--@expected.message: Did you mean VALUE_FORMAT?
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_formatt='JSON');

--@test: FORMAT together with VALUE_FORMAT
--@expected.message: VALUE_FORMAT and FORMAT cannot be given together
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', format='JSON', value_format='JSON');

--@test: a property twice
--@expected.message: property KAFKA_TOPIC is given twice
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', kafka_topic='t', value_format='JSON');

--@test: a property of another type
--@expected.message: property PARTITIONS has the value 'many'; it takes a whole number
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON', partitions='many');

--@test: no partitions
--@expected.message: PARTITIONS must be at least 1, not 0
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON', partitions=0);

--@test: a value without quotes
--@expected.message: property VALUE_FORMAT needs a constant
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format=JSON);

--@test: a delimiter of two characters
--@expected.message: VALUE_DELIMITER is '||'; it takes one character
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='DELIMITED', value_delimiter='||');

--@test: a delimiter of another format
--@expected.message: VALUE_DELIMITER has no meaning for the format JSON
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON', value_delimiter='|');

--@test: WRAP_SINGLE_VALUE of two columns
--@expected.message: WRAP_SINGLE_VALUE is about values of a single column; this one has 2
CREATE STREAM s (k INT KEY, v INT, w INT) WITH (kafka_topic='s', value_format='JSON', wrap_single_value=false);

--@test: a window without a size
--@expected.message: WINDOW_TYPE TUMBLING needs WINDOW_SIZE
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON', window_type='tumbling');

--@test: a session has no size
--@expected.message: sessions have no fixed size
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON', window_type='session', window_size='1 second');

--@test: a size without a window
--@expected.message: WINDOW_SIZE needs WINDOW_TYPE
CREATE STREAM s (k INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON', window_size='1 second');
