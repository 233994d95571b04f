-- DATE, TIME and TIMESTAMP: written as text in statements, compared with each other and with text. UTC unless a zone is said.

CREATE STREAM s (id INT KEY, d DATE, e DATE, t TIME, ts TIMESTAMP, ts2 TIMESTAMP, x STRING, n BIGINT) WITH (kafka_topic='s', value_format='JSON');

--@test: values of all three are copied
CREATE STREAM result AS SELECT id, d, t, ts FROM s;
ASSERT STREAM result (id INT KEY, d DATE, t TIME, ts TIMESTAMP) WITH (kafka_topic='RESULT');
INSERT INTO s (id, d, t, ts) VALUES (1, '2020-02-29', '23:59:59', '2020-02-29T10:15:30.123');
ASSERT VALUES result (id, d, t, ts) VALUES (1, '2020-02-29', '23:59:59', '2020-02-29T10:15:30.123');

--@test: a timestamp that is cut short begins at its beginning
CREATE STREAM result AS SELECT id, CAST(ts AS STRING) AS r FROM s;
INSERT INTO s (id, ts) VALUES (1, '2020');
INSERT INTO s (id, ts) VALUES (2, '2020-02');
INSERT INTO s (id, ts) VALUES (3, '2020-02-29');
INSERT INTO s (id, ts) VALUES (4, '2020-02-29T10');
INSERT INTO s (id, ts) VALUES (5, '2020-02-29T10:15');
INSERT INTO s (id, ts) VALUES (6, '2020-02-29T10:15:30');
ASSERT VALUES result (id, r) VALUES (1, '2020-01-01T00:00:00.000');
ASSERT VALUES result (id, r) VALUES (2, '2020-02-01T00:00:00.000');
ASSERT VALUES result (id, r) VALUES (3, '2020-02-29T00:00:00.000');
ASSERT VALUES result (id, r) VALUES (4, '2020-02-29T10:00:00.000');
ASSERT VALUES result (id, r) VALUES (5, '2020-02-29T10:15:00.000');
ASSERT VALUES result (id, r) VALUES (6, '2020-02-29T10:15:30.000');

--@test: a timestamp with a zone is brought to UTC
CREATE STREAM result AS SELECT id, CAST(ts AS STRING) AS r FROM s;
INSERT INTO s (id, ts) VALUES (1, '2020-02-29T10:15:30Z');
INSERT INTO s (id, ts) VALUES (2, '2020-02-29T10:15:30+0200');
INSERT INTO s (id, ts) VALUES (3, '2020-02-29T10:15:30-01:30');
ASSERT VALUES result (id, r) VALUES (1, '2020-02-29T10:15:30.000');
ASSERT VALUES result (id, r) VALUES (2, '2020-02-29T08:15:30.000');
ASSERT VALUES result (id, r) VALUES (3, '2020-02-29T11:45:30.000');

--@test: a timestamp before 1970
CREATE STREAM result AS SELECT id, CAST(ts AS STRING) AS r FROM s;
INSERT INTO s (id, ts) VALUES (1, '1969-12-31T23:59:59.999');
ASSERT VALUES result (id, r) VALUES (1, '1969-12-31T23:59:59.999');

--@test: a date and a time as text
CREATE STREAM result AS SELECT id, CAST(d AS STRING) AS x, CAST(t AS STRING) AS y FROM s;
INSERT INTO s (id, d, t) VALUES (1, '2020-02-29', '10:15:30');
INSERT INTO s (id, d, t) VALUES (2, '1969-12-31', '10:15');
INSERT INTO s (id, d, t) VALUES (3, '2020-01-01', '10:15:30.5');
ASSERT VALUES result (id, x, y) VALUES (1, '2020-02-29', '10:15:30');
ASSERT VALUES result (id, x, y) VALUES (2, '1969-12-31', '10:15');
ASSERT VALUES result (id, x, y) VALUES (3, '2020-01-01', '10:15:30.500');

--@test: text as a date, a time, a timestamp
CREATE STREAM result AS SELECT id, CAST(x AS DATE) AS a FROM s;
INSERT INTO s (id, x) VALUES (1, '2020-02-29');
INSERT INTO s (id, x) VALUES (2, '2021-02-29');
INSERT INTO s (id, x) VALUES (3, 'today');
ASSERT VALUES result (id, a) VALUES (1, '2020-02-29');
ASSERT VALUES result (id, a) VALUES (2, NULL);
ASSERT VALUES result (id, a) VALUES (3, NULL);

--@test: text as a time
CREATE STREAM result AS SELECT id, CAST(x AS TIME) AS a FROM s;
INSERT INTO s (id, x) VALUES (1, '08:05');
INSERT INTO s (id, x) VALUES (2, '25:00');
ASSERT VALUES result (id, a) VALUES (1, '08:05:00');
ASSERT VALUES result (id, a) VALUES (2, NULL);

--@test: text as a timestamp
CREATE STREAM result AS SELECT id, CAST(x AS TIMESTAMP) AS a FROM s;
INSERT INTO s (id, x) VALUES (1, '2020-02-29T10:15');
INSERT INTO s (id, x) VALUES (2, 'yesterday');
ASSERT VALUES result (id, a) VALUES (1, '2020-02-29T10:15:00');
ASSERT VALUES result (id, a) VALUES (2, NULL);

--@test: a timestamp as a date and as a time
CREATE STREAM result AS SELECT id, CAST(ts AS DATE) AS a, CAST(ts AS TIME) AS b FROM s;
INSERT INTO s (id, ts) VALUES (1, '2020-02-29T10:15:30');
INSERT INTO s (id, ts) VALUES (2, '1969-12-31T23:00:00');
ASSERT VALUES result (id, a, b) VALUES (1, '2020-02-29', '10:15:30');
ASSERT VALUES result (id, a, b) VALUES (2, '1969-12-31', '23:00:00');

--@test: a date as a timestamp is its midnight
CREATE STREAM result AS SELECT id, CAST(d AS TIMESTAMP) AS a FROM s;
INSERT INTO s (id, d) VALUES (1, '2020-02-29');
ASSERT VALUES result (id, a) VALUES (1, '2020-02-29T00:00:00');

--@test: a timestamp compared with a text
CREATE STREAM result AS SELECT id FROM s WHERE ts >= '2020-02-29T10:00:00';
INSERT INTO s (id, ts) VALUES (1, '2020-02-29T09:59:59.999');
INSERT INTO s (id, ts) VALUES (2, '2020-02-29T10:00:00');
ASSERT VALUES result (id) VALUES (2);

--@test: a text compared with a timestamp
CREATE STREAM result AS SELECT id FROM s WHERE '2020-02' < ts;
INSERT INTO s (id, ts) VALUES (1, '2020-02-01');
INSERT INTO s (id, ts) VALUES (2, '2020-02-01T00:00:00.001');
ASSERT VALUES result (id) VALUES (2);

--@test: a date compared with a text
CREATE STREAM result AS SELECT id FROM s WHERE d = '2020-02-29';
INSERT INTO s (id, d) VALUES (1, '2020-02-28');
INSERT INTO s (id, d) VALUES (2, '2020-02-29');
ASSERT VALUES result (id) VALUES (2);

--@test: a time compared with a text
CREATE STREAM result AS SELECT id FROM s WHERE t BETWEEN '09:00' AND '17:00';
INSERT INTO s (id, t) VALUES (1, '08:59:59');
INSERT INTO s (id, t) VALUES (2, '17:00:00');
ASSERT VALUES result (id) VALUES (2);

--@test: dates compared with each other
CREATE STREAM result AS SELECT id, d < e AS a, d = e AS b FROM s;
INSERT INTO s (id, d, e) VALUES (1, '2020-01-31', '2020-02-01');
INSERT INTO s (id, d, e) VALUES (2, '2020-02-01', '2020-02-01');
ASSERT VALUES result (id, a, b) VALUES (1, TRUE, FALSE);
ASSERT VALUES result (id, a, b) VALUES (2, FALSE, TRUE);

--@test: a date compared with a timestamp counts as its midnight
CREATE STREAM result AS SELECT id, d = ts AS a, d < ts AS b FROM s;
INSERT INTO s (id, d, ts) VALUES (1, '2020-02-29', '2020-02-29T00:00:00');
INSERT INTO s (id, d, ts) VALUES (2, '2020-02-29', '2020-02-29T00:00:01');
ASSERT VALUES result (id, a, b) VALUES (1, TRUE, FALSE);
ASSERT VALUES result (id, a, b) VALUES (2, FALSE, TRUE);

--@test: a timestamp in a list of texts
CREATE STREAM result AS SELECT id FROM s WHERE d IN ('2020-01-01', '2020-01-02');
INSERT INTO s (id, d) VALUES (1, '2020-01-03');
INSERT INTO s (id, d) VALUES (2, '2020-01-02');
ASSERT VALUES result (id) VALUES (2);

--@test: the time of the record compared with a text
CREATE STREAM result AS SELECT id FROM s WHERE rowtime >= '2020-02-29T10:00:00';
INSERT INTO s (rowtime, id) VALUES (1582970399999, 1);
INSERT INTO s (rowtime, id) VALUES (1582970400000, 2);
ASSERT VALUES result (rowtime, id) VALUES (1582970400000, 2);

--@test: the largest and the smallest date of a group
CREATE TABLE result AS SELECT id, MIN(d) AS a, MAX(d) AS b FROM s GROUP BY id;
INSERT INTO s (id, d) VALUES (1, '2020-02-01');
INSERT INTO s (id, d) VALUES (1, '2020-01-01');
ASSERT VALUES result (id, a, b) VALUES (1, '2020-02-01', '2020-02-01');
ASSERT VALUES result (id, a, b) VALUES (1, '2020-01-01', '2020-02-01');

--@test: FORMAT_TIMESTAMP and PARSE_TIMESTAMP
CREATE STREAM result AS SELECT id, FORMAT_TIMESTAMP(ts, 'dd.MM.yyyy HH:mm') AS a, PARSE_TIMESTAMP(x, 'yyyy/MM/dd HH.mm') AS b FROM s;
INSERT INTO s (id, ts, x) VALUES (1, '2020-02-29T10:15:30', '2020/02/28 07.05');
ASSERT VALUES result (id, a, b) VALUES (1, '29.02.2020 10:15', '2020-02-28T07:05:00');

--@test: FORMAT_DATE and PARSE_DATE
CREATE STREAM result AS SELECT id, FORMAT_DATE(d, 'EEE, d MMM yy') AS a, PARSE_DATE(x, 'dd-MM-yyyy') AS b FROM s;
INSERT INTO s (id, d, x) VALUES (1, '2020-02-29', '01-03-2020');
ASSERT VALUES result (id, a, b) VALUES (1, 'Sat, 29 Feb 20', '2020-03-01');

--@test: TIMESTAMPADD and TIMESTAMPSUB
CREATE STREAM result AS SELECT id, TIMESTAMPADD(HOURS, 3, ts) AS a, TIMESTAMPSUB(DAYS, 1, ts) AS b FROM s;
INSERT INTO s (id, ts) VALUES (1, '2020-03-01T22:00:00');
ASSERT VALUES result (id, a, b) VALUES (1, '2020-03-02T01:00:00', '2020-02-29T22:00:00');

--@test: DATEADD and DATESUB
CREATE STREAM result AS SELECT id, DATEADD(DAYS, 1, d) AS a, DATESUB(DAYS, 1, d) AS b FROM s;
INSERT INTO s (id, d) VALUES (1, '2020-02-29');
ASSERT VALUES result (id, a, b) VALUES (1, '2020-03-01', '2020-02-28');

--@test: TIMEADD goes around midnight
CREATE STREAM result AS SELECT id, TIMEADD(HOURS, 3, t) AS a, TIMESUB(MINUTES, 30, t) AS b FROM s;
INSERT INTO s (id, t) VALUES (1, '22:00:00');
ASSERT VALUES result (id, a, b) VALUES (1, '01:00:00', '21:30:00');

--@test: UNIX_TIMESTAMP and FROM_UNIXTIME
CREATE STREAM result AS SELECT id, UNIX_TIMESTAMP(ts) AS a, FROM_UNIXTIME(n) AS b FROM s;
ASSERT STREAM result (id INT KEY, a BIGINT, b TIMESTAMP) WITH (kafka_topic='RESULT');
INSERT INTO s (id, ts, n) VALUES (1, '1970-01-01T00:00:01', 1500);
ASSERT VALUES result (id, a, b) VALUES (1, 1000, '1970-01-01T00:00:01.5');

--@test: a text that is no timestamp in a comparison
--@expected.error: SqlError
--@expected.message: 'noon' is no TIMESTAMP; one looks like '2020-01-31T10:15:30.123'
CREATE STREAM result AS SELECT id FROM s WHERE ts > 'noon';

--@test: a text that is no date in a comparison
--@expected.error: SqlError
--@expected.message: '2021-02-29' is no DATE
CREATE STREAM result AS SELECT id FROM s WHERE d > '2021-02-29';

--@test: a time and a timestamp do not compare
--@expected.error: SqlError
--@expected.message: TIME and TIMESTAMP cannot be compared
CREATE STREAM result AS SELECT id FROM s WHERE t = ts;

--@test: times have no sum
--@expected.error: SqlError
--@expected.message: + needs two numbers, not TIMESTAMP and INTEGER
CREATE STREAM result AS SELECT id, ts + 1 AS r FROM s;

--@test: a text that is no date cannot be inserted
--@expected.error: SqlError
--@expected.message: 'soon' is no DATE
INSERT INTO s (id, d) VALUES (1, 'soon');
