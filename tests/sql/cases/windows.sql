-- WINDOW: groups by time. The start of a window is in, its end is not. Records later than the grace period are dropped.

CREATE STREAM s (id INT KEY, i INT) WITH (kafka_topic='s', value_format='JSON');

--@test: tumbling windows follow each other without a gap
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 MILLISECONDS) GROUP BY id;
ASSERT TABLE result (id INT PRIMARY KEY, n BIGINT) WITH (kafka_topic='RESULT', window_type='tumbling', window_size='10 milliseconds');
INSERT INTO s (rowtime, id) VALUES (0, 1);
INSERT INTO s (rowtime, id) VALUES (9, 1);
INSERT INTO s (rowtime, id) VALUES (10, 1);
INSERT INTO s (rowtime, id) VALUES (25, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (0, 0, 10, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (9, 0, 10, 1, 2);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (10, 10, 20, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (25, 20, 30, 1, 1);

--@test: each key has its own windows
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (100, 1);
INSERT INTO s (rowtime, id) VALUES (200, 2);
INSERT INTO s (rowtime, id) VALUES (300, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (100, 0, 1000, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (200, 0, 1000, 2, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (300, 0, 1000, 1, 2);

--@test: a record out of order goes into its own window
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 MILLISECONDS) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (25, 1);
INSERT INTO s (rowtime, id) VALUES (5, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (25, 20, 30, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (5, 0, 10, 1, 1);

--@test: without GRACE PERIOD a record may be 24 hours late
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (89999999, 1);
INSERT INTO s (rowtime, id) VALUES (0, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (89999999, 86400000, 90000000, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (0, 0, 3600000, 1, 1);

--@test: a record after the grace period is dropped
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 MILLISECONDS, GRACE PERIOD 5 MILLISECONDS) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (1, 1);
INSERT INTO s (rowtime, id) VALUES (14, 1);
INSERT INTO s (rowtime, id) VALUES (2, 1);
INSERT INTO s (rowtime, id) VALUES (15, 1);
INSERT INTO s (rowtime, id) VALUES (3, 1);
INSERT INTO s (rowtime, id) VALUES (16, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (1, 0, 10, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (14, 10, 20, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (2, 0, 10, 1, 2);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (15, 10, 20, 1, 2);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (16, 10, 20, 1, 3);

--@test: with GRACE PERIOD 0 a window ends with the first record behind it
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 MILLISECONDS, GRACE PERIOD 0 MILLISECONDS) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (1, 1);
INSERT INTO s (rowtime, id) VALUES (10, 1);
INSERT INTO s (rowtime, id) VALUES (9, 1);
INSERT INTO s (rowtime, id) VALUES (11, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (1, 0, 10, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (10, 10, 20, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (11, 10, 20, 1, 2);

--@test: the end of grace counts for all keys
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 MILLISECONDS, GRACE PERIOD 0 MILLISECONDS) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (20, 1);
INSERT INTO s (rowtime, id) VALUES (5, 2);
INSERT INTO s (rowtime, id) VALUES (21, 2);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (20, 20, 30, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (21, 20, 30, 2, 1);

--@test: the bounds of the window are columns of the value under other names
CREATE TABLE result AS SELECT id, windowstart AS ws, windowend AS we, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id;
ASSERT TABLE result (id INT PRIMARY KEY, ws BIGINT, we BIGINT, n BIGINT) WITH (kafka_topic='RESULT');
INSERT INTO s (rowtime, id) VALUES (1500, 1);
ASSERT VALUES result (windowstart, windowend, id, ws, we, n) VALUES (1000, 2000, 1, 1000, 2000, 1);

--@test: the length of the window in an expression
CREATE TABLE result AS SELECT id, (windowend - windowstart) / 1000 AS seconds FROM s WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (61000, 1);
ASSERT VALUES result (windowstart, windowend, id, seconds) VALUES (60000, 120000, 1, 60);

--@test: HAVING in windows
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id HAVING COUNT(*) > 1;
INSERT INTO s (rowtime, id) VALUES (100, 1);
INSERT INTO s (rowtime, id) VALUES (1100, 1);
INSERT INTO s (rowtime, id) VALUES (1200, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (1200, 1000, 2000, 1, 2);

--@test: WHERE and windows
CREATE TABLE result AS SELECT id, SUM(i) AS x FROM s WINDOW TUMBLING (SIZE 1 SECOND) WHERE i > 0 GROUP BY id;
INSERT INTO s (rowtime, id, i) VALUES (100, 1, -5);
INSERT INTO s (rowtime, id, i) VALUES (200, 1, 5);
ASSERT VALUES result (rowtime, windowstart, windowend, id, x) VALUES (200, 0, 1000, 1, 5);

--@test: units of time, singular and plural, in any case
CREATE TABLE a AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 minute) GROUP BY id;
CREATE TABLE b AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (size 60 Seconds) GROUP BY id;
CREATE TABLE c AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 60000 MILLISECONDS) GROUP BY id;
CREATE TABLE d AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 DAY) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (60001, 1);
ASSERT VALUES a (windowstart, windowend, id, n) VALUES (60000, 120000, 1, 1);
ASSERT VALUES b (windowstart, windowend, id, n) VALUES (60000, 120000, 1, 1);
ASSERT VALUES c (windowstart, windowend, id, n) VALUES (60000, 120000, 1, 1);
ASSERT VALUES d (windowstart, windowend, id, n) VALUES (0, 86400000, 1, 1);

--@test: hopping windows overlap: a record is in several
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW HOPPING (SIZE 10 MILLISECONDS, ADVANCE BY 5 MILLISECONDS) GROUP BY id;
ASSERT TABLE result (id INT PRIMARY KEY, n BIGINT) WITH (kafka_topic='RESULT', window_type='hopping', window_size='10 milliseconds');
INSERT INTO s (rowtime, id) VALUES (7, 1);
INSERT INTO s (rowtime, id) VALUES (12, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (7, 0, 10, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (7, 5, 15, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (12, 5, 15, 1, 2);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (12, 10, 20, 1, 1);

--@test: hopping windows at time 0 begin with the first
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW HOPPING (SIZE 10 MILLISECONDS, ADVANCE BY 5 MILLISECONDS) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (2, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (2, 0, 10, 1, 1);

--@test: three hops a window
CREATE TABLE result AS SELECT id, SUM(i) AS x FROM s WINDOW HOPPING (SIZE 30 SECONDS, ADVANCE BY 10 SECONDS) GROUP BY id;
INSERT INTO s (rowtime, id, i) VALUES (25000, 1, 5);
ASSERT VALUES result (rowtime, windowstart, windowend, id, x) VALUES (25000, 0, 30000, 1, 5);
ASSERT VALUES result (rowtime, windowstart, windowend, id, x) VALUES (25000, 10000, 40000, 1, 5);
ASSERT VALUES result (rowtime, windowstart, windowend, id, x) VALUES (25000, 20000, 50000, 1, 5);

--@test: hopping with grace: late records reach only the windows that are open
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW HOPPING (SIZE 10 MILLISECONDS, ADVANCE BY 5 MILLISECONDS, GRACE PERIOD 0 MILLISECONDS) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (12, 1);
INSERT INTO s (rowtime, id) VALUES (7, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (12, 5, 15, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (12, 10, 20, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (12, 5, 15, 1, 2);

--@test: EMIT FINAL writes a window once, when it has closed
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 MILLISECONDS, GRACE PERIOD 0 MILLISECONDS) GROUP BY id EMIT FINAL;
INSERT INTO s (rowtime, id) VALUES (1, 1);
INSERT INTO s (rowtime, id) VALUES (2, 1);
INSERT INTO s (rowtime, id) VALUES (9, 1);
INSERT INTO s (rowtime, id) VALUES (10, 1);
INSERT INTO s (rowtime, id) VALUES (20, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (9, 0, 10, 1, 3);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (10, 10, 20, 1, 1);

--@test: EMIT FINAL waits for the grace period
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 MILLISECONDS, GRACE PERIOD 5 MILLISECONDS) GROUP BY id EMIT FINAL;
INSERT INTO s (rowtime, id) VALUES (1, 1);
INSERT INTO s (rowtime, id) VALUES (14, 2);
INSERT INTO s (rowtime, id) VALUES (2, 1);
INSERT INTO s (rowtime, id) VALUES (15, 2);
ASSERT VALUES result (windowstart, windowend, rowtime, id, n) VALUES (0, 10, 2, 1, 2);

--@test: EMIT FINAL with HAVING
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 MILLISECONDS, GRACE PERIOD 0 MILLISECONDS) GROUP BY id HAVING COUNT(*) > 1 EMIT FINAL;
INSERT INTO s (rowtime, id) VALUES (1, 1);
INSERT INTO s (rowtime, id) VALUES (11, 1);
INSERT INTO s (rowtime, id) VALUES (12, 1);
INSERT INTO s (rowtime, id) VALUES (21, 1);
ASSERT VALUES result (windowstart, windowend, rowtime, id, n) VALUES (10, 20, 12, 1, 2);

--@test: EMIT FINAL of hopping windows
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW HOPPING (SIZE 10 MILLISECONDS, ADVANCE BY 5 MILLISECONDS, GRACE PERIOD 0 MILLISECONDS) GROUP BY id EMIT FINAL;
INSERT INTO s (rowtime, id) VALUES (7, 1);
INSERT INTO s (rowtime, id) VALUES (8, 1);
INSERT INTO s (rowtime, id) VALUES (15, 1);
ASSERT VALUES result (windowstart, windowend, rowtime, id, n) VALUES (0, 10, 8, 1, 2);
ASSERT VALUES result (windowstart, windowend, rowtime, id, n) VALUES (5, 15, 8, 1, 2);

--@test: a session goes on while records come within its gap
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW SESSION (10 MILLISECONDS) GROUP BY id;
ASSERT TABLE result (id INT PRIMARY KEY, n BIGINT) WITH (kafka_topic='RESULT', window_type='session');
INSERT INTO s (rowtime, id) VALUES (0, 1);
INSERT INTO s (rowtime, id) VALUES (10, 1);
INSERT INTO s (rowtime, id) VALUES (25, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (0, 0, 0, 1, 1);
ASSERT NULL VALUES result (windowstart, windowend, id) KEY (0, 0, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (10, 0, 10, 1, 2);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (25, 25, 25, 1, 1);

--@test: a record between two sessions makes one of them
CREATE TABLE result AS SELECT id, SUM(i) AS x FROM s WINDOW SESSION (10 MILLISECONDS) GROUP BY id;
INSERT INTO s (rowtime, id, i) VALUES (0, 1, 1);
INSERT INTO s (rowtime, id, i) VALUES (15, 1, 2);
INSERT INTO s (rowtime, id, i) VALUES (8, 1, 4);
ASSERT VALUES result (rowtime, windowstart, windowend, id, x) VALUES (0, 0, 0, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, x) VALUES (15, 15, 15, 1, 2);
ASSERT NULL VALUES result (windowstart, windowend, id) KEY (0, 0, 1);
ASSERT NULL VALUES result (windowstart, windowend, id) KEY (15, 15, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, x) VALUES (15, 0, 15, 1, 7);

--@test: sessions of two keys do not touch
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW SESSION (10 MILLISECONDS) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (0, 1);
INSERT INTO s (rowtime, id) VALUES (5, 2);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (0, 0, 0, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (5, 5, 5, 2, 1);

--@test: a session's record after its grace period is dropped
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW SESSION (10 MILLISECONDS, GRACE PERIOD 0 MILLISECONDS) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (100, 1);
INSERT INTO s (rowtime, id) VALUES (50, 1);
INSERT INTO s (rowtime, id) VALUES (200, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (100, 100, 100, 1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (200, 200, 200, 1, 1);

--@test: EMIT FINAL of sessions
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW SESSION (10 MILLISECONDS, GRACE PERIOD 0 MILLISECONDS) GROUP BY id EMIT FINAL;
INSERT INTO s (rowtime, id) VALUES (0, 1);
INSERT INTO s (rowtime, id) VALUES (5, 1);
INSERT INTO s (rowtime, id) VALUES (100, 2);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (5, 0, 5, 1, 2);

--@test: HAVING of sessions
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW SESSION (10 MILLISECONDS) GROUP BY id HAVING COUNT(*) > 1;
INSERT INTO s (rowtime, id) VALUES (0, 1);
INSERT INTO s (rowtime, id) VALUES (5, 1);
INSERT INTO s (rowtime, id) VALUES (7, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (5, 0, 5, 1, 2);
ASSERT NULL VALUES result (windowstart, windowend, id) KEY (0, 5, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (7, 0, 7, 1, 3);

--@test: a table of windows is read with its windows
CREATE TABLE counts AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id;
CREATE STREAM changes (id INT KEY, n BIGINT) WITH (kafka_topic='COUNTS', value_format='JSON', window_type='tumbling', window_size='1 second');
CREATE STREAM result AS SELECT id, n * 10 AS m, windowstart AS ws FROM changes;
INSERT INTO s (rowtime, id) VALUES (1500, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, m, ws) VALUES (1500, 1000, 2000, 1, 10, 1000);

--@test: a table of windows is filtered: a window that does not pass is a tombstone
CREATE TABLE counts AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id;
CREATE TABLE often AS SELECT id, n FROM counts WHERE n > 1;
INSERT INTO s (rowtime, id) VALUES (1, 1);
INSERT INTO s (rowtime, id) VALUES (2, 1);
ASSERT NULL VALUES often (windowstart, windowend, id) KEY (0, 1000, 1);
ASSERT VALUES often (rowtime, windowstart, windowend, id, n) VALUES (2, 0, 1000, 1, 2);

--@test: a stream of windows gets a key without a window
CREATE TABLE counts AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id;
CREATE STREAM changes (id INT KEY, n BIGINT) WITH (kafka_topic='COUNTS', value_format='JSON', window_type='tumbling', window_size='1 second');
CREATE STREAM result AS SELECT n, id, windowstart AS ws FROM changes PARTITION BY n;
INSERT INTO s (rowtime, id) VALUES (1500, 1);
ASSERT VALUES result (rowtime, n, id, ws) VALUES (1500, 1, 1, 1000);

--@test: groups of a stream of windows
CREATE TABLE counts AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id;
CREATE STREAM changes (id INT KEY, n BIGINT) WITH (kafka_topic='COUNTS', value_format='JSON', window_type='tumbling', window_size='1 second');
CREATE TABLE result AS SELECT id, MAX(n) AS m FROM changes GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (1, 1);
INSERT INTO s (rowtime, id) VALUES (2, 1);
ASSERT VALUES result (id, m) VALUES (1, 1);
ASSERT VALUES result (id, m) VALUES (1, 2);

--@test: windows by several columns
CREATE TABLE result WITH (key_format='JSON') AS SELECT i, id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY i, id;
INSERT INTO s (rowtime, id, i) VALUES (1, 7, 2);
ASSERT VALUES result (windowstart, windowend, rowtime, i, id, n) VALUES (0, 1000, 1, 2, 7, 1);

--@test: the start of a window compared with a text
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id HAVING windowstart >= '1970-01-01T00:00:02';
INSERT INTO s (rowtime, id) VALUES (1999, 1);
INSERT INTO s (rowtime, id) VALUES (2000, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (2000, 2000, 3000, 1, 1);

--@test: RETENTION is how long windows are kept
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 SECONDS, RETENTION 2 DAYS, GRACE PERIOD 1 DAY) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (1, 0, 10000, 1, 1);

--@test: a window may have a name
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW w TUMBLING (SIZE 1 SECOND) GROUP BY id;
INSERT INTO s (rowtime, id) VALUES (1, 1);
ASSERT VALUES result (rowtime, windowstart, windowend, id, n) VALUES (1, 0, 1000, 1, 1);

--@test: RETENTION shorter than window and grace
--@expected.error: SqlError
--@expected.message: the RETENTION is shorter than the window and its GRACE PERIOD
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 10 SECONDS, RETENTION 11 SECONDS, GRACE PERIOD 2 SECONDS) GROUP BY id;

--@test: WINDOW without GROUP BY
--@expected.error: SqlError
--@expected.message: WINDOW needs GROUP BY
CREATE STREAM result AS SELECT id, i FROM s WINDOW TUMBLING (SIZE 1 SECOND);

--@test: EMIT FINAL without WINDOW
--@expected.error: SqlError
--@expected.message: EMIT FINAL needs a WINDOW
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s GROUP BY id EMIT FINAL;

--@test: WINDOW over a table
--@expected.error: SqlError
--@expected.message: WINDOW groups the records of streams, not the rows of a table
CREATE TABLE t (id INT PRIMARY KEY, i INT) WITH (kafka_topic='t', value_format='JSON');
CREATE TABLE result AS SELECT i, COUNT(*) AS n FROM t WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY i;

--@test: a window of nothing
--@expected.error: SqlError
--@expected.message: size
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 0 SECONDS) GROUP BY id;

--@test: a hop longer than the window
--@expected.error: SqlError
--@expected.message: advance
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW HOPPING (SIZE 1 SECOND, ADVANCE BY 2 SECONDS) GROUP BY id;

--@test: months have no fixed length
--@expected.error: SqlError
--@expected.message: MONTHS have no fixed length
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 MONTH) GROUP BY id;

--@test: a unit of time with a slip of the pen
--@expected.error: SqlError
--@expected.message: expected a unit of time, found 'SECONDZ'
--@expected.message: Did you mean SECOND?
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 5 secondz) GROUP BY id;

--@test: an unknown kind of window
--@expected.error: SqlError
--@expected.message: expected one of TUMBLING, HOPPING, SESSION
CREATE TABLE result AS SELECT id, COUNT(*) AS n FROM s WINDOW SLIDING (SIZE 5 SECONDS) GROUP BY id;

--@test: the bounds of a window keep their names for themselves
--@expected.error: SqlError
--@expected.message: WINDOWSTART is the name of a pseudo column
CREATE TABLE result AS SELECT id, windowstart, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY id;

--@test: bounds without a window
--@expected.error: SqlError
--@expected.message: unknown column WINDOWSTART
CREATE TABLE result AS SELECT id, windowstart AS ws, COUNT(*) AS n FROM s GROUP BY id;
