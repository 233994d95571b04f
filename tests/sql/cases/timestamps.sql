-- TIMESTAMP and TIMESTAMP_FORMAT: the time of a record is in a column.

--@test: a BIGINT column holds the time, in milliseconds
CREATE STREAM s (id INT KEY, ts BIGINT) WITH (kafka_topic='s', value_format='JSON', timestamp='ts');
CREATE STREAM result AS SELECT id, ts FROM s;
INSERT INTO s (rowtime, id, ts) VALUES (5, 1, 1234);
ASSERT VALUES result (rowtime, id, ts) VALUES (1234, 1, 1234);

--@test: a TIMESTAMP column holds the time
CREATE STREAM s (id INT KEY, ts TIMESTAMP) WITH (kafka_topic='s', value_format='JSON', timestamp='ts');
CREATE STREAM result AS SELECT id FROM s;
INSERT INTO s (rowtime, id, ts) VALUES (5, 1, '1970-01-01T00:00:01.234');
ASSERT VALUES result (rowtime, id) VALUES (1234, 1);

--@test: a STRING column holds the time, in a pattern
CREATE STREAM s (id INT KEY, ts STRING) WITH (kafka_topic='s', value_format='JSON', timestamp='ts', timestamp_format='yyyy-MM-dd HH:mm:ss');
CREATE STREAM result AS SELECT id FROM s;
INSERT INTO s (rowtime, id, ts) VALUES (5, 1, '1970-01-02 00:00:01');
ASSERT VALUES result (rowtime, id) VALUES (86401000, 1);

--@test: a pattern with milliseconds and a zone
CREATE STREAM s (id INT KEY, ts STRING) WITH (kafka_topic='s', value_format='JSON', timestamp='ts', timestamp_format='yyyy-MM-dd''T''HH:mm:ss.SSSX');
CREATE STREAM result AS SELECT id FROM s;
INSERT INTO s (rowtime, id, ts) VALUES (5, 1, '1970-01-01T02:00:00.250+01');
INSERT INTO s (rowtime, id, ts) VALUES (5, 2, '1970-01-01T02:00:00.250Z');
ASSERT VALUES result (rowtime, id) VALUES (3600250, 1);
ASSERT VALUES result (rowtime, id) VALUES (7200250, 2);

--@test: ROWTIME is the time of the column
CREATE STREAM s (id INT KEY, ts BIGINT) WITH (kafka_topic='s', value_format='JSON', timestamp='ts');
CREATE STREAM result AS SELECT id, rowtime AS r FROM s;
INSERT INTO s (rowtime, id, ts) VALUES (5, 1, 1234);
ASSERT VALUES result (rowtime, id, r) VALUES (1234, 1, 1234);

--@test: windows count by the time of the column
CREATE STREAM s (id INT KEY, ts BIGINT) WITH (kafka_topic='s', value_format='JSON', timestamp='ts');
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id;
INSERT INTO s (rowtime, id, ts) VALUES (0, 1, 1500);
INSERT INTO s (rowtime, id, ts) VALUES (0, 1, 1999);
INSERT INTO s (rowtime, id, ts) VALUES (0, 1, 2000);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (1500, 1000, 2000, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (1999, 1000, 2000, 1, 2);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (2000, 2000, 3000, 1, 1);

--@test: the name of the column in back-ticks keeps its case
CREATE STREAM s (id INT KEY, `ts` BIGINT) WITH (kafka_topic='s', value_format='JSON', timestamp='`ts`');
CREATE STREAM result AS SELECT id FROM s;
INSERT INTO s (rowtime, id, `ts`) VALUES (5, 1, 1234);
ASSERT VALUES result (rowtime, id) VALUES (1234, 1);

--@test: a derived stream gets its time from a column of its own
CREATE STREAM s (id INT KEY, ts BIGINT) WITH (kafka_topic='s', value_format='JSON');
CREATE STREAM a WITH (timestamp='later') AS SELECT id, ts + 1000 AS later FROM s;
ASSERT STREAM a (id INT KEY, later BIGINT) WITH (kafka_topic='A', value_format='JSON', timestamp='later');
CREATE STREAM b AS SELECT id FROM a;
INSERT INTO s (rowtime, id, ts) VALUES (5, 1, 1234);
ASSERT VALUES b (rowtime, id) VALUES (2234, 1);

--@test: a table gets its time from a column
CREATE TABLE t (id INT PRIMARY KEY, ts BIGINT) WITH (kafka_topic='t', value_format='JSON', timestamp='ts');
CREATE TABLE result AS SELECT id, ts FROM t;
INSERT INTO t (rowtime, id, ts) VALUES (5, 1, 1234);
ASSERT VALUES result (rowtime, id, ts) VALUES (1234, 1, 1234);

--@test: a record whose column is no time is left out, the next one is read
CREATE STREAM s (id INT KEY, ts STRING) WITH (kafka_topic='s', value_format='JSON', timestamp='ts', timestamp_format='yyyy-MM-dd');
CREATE STREAM result AS SELECT id FROM s;
INSERT INTO s (rowtime, id, ts) VALUES (5, 1, 'tomorrow');
INSERT INTO s (rowtime, id, ts) VALUES (5, 2, '1970-01-02');
ASSERT VALUES result (rowtime, id) VALUES (86400000, 2);

--@test: the column must exist
--@expected.error: SqlError
--@expected.message: the TIMESTAMP column TZ
CREATE STREAM s (id INT KEY, ts BIGINT) WITH (kafka_topic='s', value_format='JSON', timestamp='tz');

--@test: the column must be able to hold a time
--@expected.error: SqlError
--@expected.message: the TIMESTAMP column B is BOOLEAN; it must be BIGINT, TIMESTAMP or STRING
CREATE STREAM s (id INT KEY, b BOOLEAN) WITH (kafka_topic='s', value_format='JSON', timestamp='b');

--@test: text needs a pattern
--@expected.error: SqlError
--@expected.message: the TIMESTAMP column TS is a STRING, so TIMESTAMP_FORMAT is needed
CREATE STREAM s (id INT KEY, ts STRING) WITH (kafka_topic='s', value_format='JSON', timestamp='ts');

--@test: a pattern is for text
--@expected.error: SqlError
--@expected.message: TIMESTAMP_FORMAT is for text, and column TS is BIGINT
CREATE STREAM s (id INT KEY, ts BIGINT) WITH (kafka_topic='s', value_format='JSON', timestamp='ts', timestamp_format='yyyy');

--@test: a pattern needs a column
--@expected.error: SqlError
--@expected.message: TIMESTAMP_FORMAT needs TIMESTAMP
CREATE STREAM s (id INT KEY, ts STRING) WITH (kafka_topic='s', value_format='JSON', timestamp_format='yyyy');
