-- Pseudo columns: ROWTIME, ROWPARTITION, ROWOFFSET; columns filled from headers.

CREATE STREAM s (id INT KEY, v INT) WITH (kafka_topic='s', value_format='JSON');
CREATE TABLE t (id INT PRIMARY KEY, w INT) WITH (kafka_topic='t', value_format='JSON');

--@test: * leaves pseudo columns out
CREATE STREAM r AS SELECT * FROM s;
ASSERT STREAM r (id INT KEY, v INT) WITH (kafka_topic='R');

--@test: ROWTIME under another name is a column
CREATE STREAM r AS SELECT id, rowtime AS t FROM s;
ASSERT STREAM r (id INT KEY, t BIGINT) WITH (kafka_topic='R');
INSERT INTO s (rowtime, id) VALUES (77, 1);
ASSERT VALUES r (rowtime, id, t) VALUES (77, 1, 77);

--@test: ROWPARTITION and ROWOFFSET tell where the record is
CREATE STREAM r AS SELECT id, rowpartition AS p, rowoffset AS o FROM s;
ASSERT STREAM r (id INT KEY, p INT, o BIGINT) WITH (kafka_topic='R');
INSERT INTO s (id) VALUES (1);
INSERT INTO s (id) VALUES (2);
ASSERT VALUES r (id, p, o) VALUES (1, 0, 0);
ASSERT VALUES r (id, p, o) VALUES (2, 0, 1);

--@test: ROWOFFSET in a condition
CREATE STREAM r AS SELECT id FROM s WHERE rowoffset >= 1;
INSERT INTO s (id) VALUES (1);
INSERT INTO s (id) VALUES (2);
ASSERT VALUES r (id) VALUES (2);

--@test: an aggregate of ROWOFFSET
CREATE TABLE r AS SELECT id, MAX(rowoffset) AS o FROM s GROUP BY id;
INSERT INTO s (id) VALUES (1);
INSERT INTO s (id) VALUES (1);
ASSERT VALUES r (id, o) VALUES (1, 0);
ASSERT VALUES r (id, o) VALUES (1, 1);

--@test: places of both sides of a join
CREATE STREAM r AS SELECT s.id AS id, s.rowoffset AS so, t.rowoffset AS tof, t.rowtime AS tt FROM s JOIN t ON s.id = t.id;
INSERT INTO t (rowtime, id, w) VALUES (3, 2, 0);
INSERT INTO t (rowtime, id, w) VALUES (4, 1, 0);
INSERT INTO s (rowtime, id) VALUES (9, 1);
ASSERT VALUES r (rowtime, id, so, tof, tt) VALUES (9, 1, 0, 1, 4);

--@test: places of a table's rows
CREATE TABLE r AS SELECT id, w, rowoffset AS o FROM t;
INSERT INTO t (id, w) VALUES (1, 5);
INSERT INTO t (id, w) VALUES (1, 6);
ASSERT VALUES r (id, w, o) VALUES (1, 5, 0);
ASSERT VALUES r (id, w, o) VALUES (1, 6, 1);

--@test: all headers of a record; INSERT writes none
CREATE STREAM h (id INT KEY, hs ARRAY<STRUCT<key STRING, value BYTES>> HEADERS) WITH (kafka_topic='h', value_format='JSON');
CREATE STREAM r AS SELECT id, ARRAY_LENGTH(hs) AS n FROM h;
INSERT INTO h (id) VALUES (1);
ASSERT VALUES r (id, n) VALUES (1, 0);

--@test: one header; it is null where the record has none
CREATE STREAM h (id INT KEY, v INT, trace BYTES HEADER('trace')) WITH (kafka_topic='h', value_format='JSON');
CREATE STREAM r AS SELECT id, v, trace FROM h;
ASSERT STREAM r (id INT KEY, v INT, trace BYTES) WITH (kafka_topic='R');
INSERT INTO h (id, v) VALUES (1, 5);
ASSERT VALUES r (id, v, trace) VALUES (1, 5, NULL);

--@test: ROWTIME keeps its name for itself
--@expected.message: ROWTIME is the name of a pseudo column
CREATE STREAM r AS SELECT id, rowtime FROM s;

--@test: ROWTIME is ambiguous only with a source
--@expected.message: unknown column ROWTIM
--@expected.message: Did you mean ROWTIME?
CREATE STREAM r AS SELECT id, rowtim AS x FROM s;

--@test: HEADERS of another type
--@expected.message: column HS is HEADERS, so its type must be ARRAY<STRUCT<KEY STRING, VALUE BYTES>>, not STRING
CREATE STREAM h (id INT KEY, hs STRING HEADERS) WITH (kafka_topic='h', value_format='JSON');

--@test: a HEADER of another type
--@expected.message: column X is a HEADER, so its type must be BYTES, not STRING
CREATE STREAM h (id INT KEY, x STRING HEADER('x')) WITH (kafka_topic='h', value_format='JSON');

--@test: a table has no headers
--@expected.message: a table has no header columns
CREATE TABLE h (id INT PRIMARY KEY, x BYTES HEADER('x')) WITH (kafka_topic='h', value_format='JSON');

--@test: a header cannot be inserted
--@expected.message: column X is filled from headers and cannot be inserted
CREATE STREAM h (id INT KEY, x BYTES HEADER('x')) WITH (kafka_topic='h', value_format='JSON');
INSERT INTO h (id, x) VALUES (1, 'AA==');
