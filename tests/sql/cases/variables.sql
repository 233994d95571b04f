-- DEFINE: variables in the place of names and constants. SET: properties of the session.

CREATE STREAM s (id INT KEY, name STRING, amount INT) WITH (kafka_topic='s', value_format='JSON');

--@test: a number
DEFINE least = '10';
CREATE STREAM r AS SELECT id FROM s WHERE amount > ${least};
INSERT INTO s (id, amount) VALUES (1, 10);
INSERT INTO s (id, amount) VALUES (2, 11);
ASSERT VALUES r (id) VALUES (2);

--@test: within a text
DEFINE format = 'JSON';
DEFINE prefix = 'my';
CREATE STREAM r WITH (kafka_topic='${prefix}-topic', value_format='${format}') AS SELECT id, name FROM s;
ASSERT STREAM r (id INT KEY, name STRING) WITH (kafka_topic='my-topic', value_format='JSON');

--@test: the name of a stream and of a column
DEFINE target = 'r';
DEFINE column = 'name';
CREATE STREAM ${target} AS SELECT id, ${column} FROM s;
INSERT INTO s (id, name) VALUES (1, 'x');
ASSERT VALUES r (id, name) VALUES (1, 'x');

--@test: a text with quotes of its own
DEFINE wanted = '''tea''';
CREATE STREAM r AS SELECT id FROM s WHERE name = ${wanted};
INSERT INTO s (id, name) VALUES (1, 'milk');
INSERT INTO s (id, name) VALUES (2, 'tea');
ASSERT VALUES r (id) VALUES (2);

--@test: a value is replaced by a later one
DEFINE least = '10';
DEFINE least = '20';
CREATE STREAM r AS SELECT id FROM s WHERE amount > ${least};
INSERT INTO s (id, amount) VALUES (1, 15);
INSERT INTO s (id, amount) VALUES (2, 25);
ASSERT VALUES r (id) VALUES (2);

--@test: a variable that was taken away
--@expected.message: variable 'least' is not defined
DEFINE least = '10';
UNDEFINE least;
CREATE STREAM r AS SELECT id FROM s WHERE amount > ${least};

--@test: a variable cannot bring a whole statement
--@expected.error: SqlError
--@expected.message: which is neither a name nor a constant
DEFINE more = '1; DROP STREAM s';
CREATE STREAM r AS SELECT id FROM s WHERE amount > ${more};

--@test: SET changes the session and no result
SET 'auto.offset.reset' = 'earliest';
CREATE STREAM r AS SELECT id FROM s;
UNSET 'auto.offset.reset';
INSERT INTO s (id) VALUES (1);
ASSERT VALUES r (id) VALUES (1);
