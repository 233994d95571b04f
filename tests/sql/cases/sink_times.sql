-- TIMESTAMP in the WITH of a query: its records have the time that a column holds.

CREATE STREAM s (id INT KEY, ms BIGINT, day STRING) WITH (kafka_topic='s', value_format='JSON');

--@test: a column of milliseconds
CREATE STREAM r WITH (timestamp='ms') AS SELECT id, ms FROM s;
INSERT INTO s (rowtime, id, ms) VALUES (5, 1, 1000);
ASSERT VALUES r (rowtime, id, ms) VALUES (1000, 1, 1000);

--@test: text with a pattern
CREATE STREAM r WITH (timestamp='day', timestamp_format='yyyy-MM-dd') AS SELECT id, day FROM s;
INSERT INTO s (rowtime, id, day) VALUES (5, 1, '1970-01-02');
ASSERT VALUES r (rowtime, id, day) VALUES (86400000, 1, '1970-01-02');

--@test: a record without a time keeps its own, and so does one whose text is none
CREATE STREAM r WITH (timestamp='day', timestamp_format='yyyy-MM-dd') AS SELECT id, day FROM s;
INSERT INTO s (rowtime, id) VALUES (5, 1);
INSERT INTO s (rowtime, id, day) VALUES (6, 2, 'someday');
ASSERT VALUES r (rowtime, id) VALUES (5, 1);
ASSERT VALUES r (rowtime, id, day) VALUES (6, 2, 'someday');

--@test: of a table
CREATE TABLE t WITH (timestamp='last') AS SELECT id, MAX(ms) AS last FROM s GROUP BY id;
INSERT INTO s (rowtime, id, ms) VALUES (5, 1, 1000);
INSERT INTO s (rowtime, id, ms) VALUES (6, 1, 900);
ASSERT VALUES t (rowtime, id, last) VALUES (1000, 1, 1000);
ASSERT VALUES t (rowtime, id, last) VALUES (1000, 1, 1000);
