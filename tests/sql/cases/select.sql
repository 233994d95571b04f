-- SELECT: which columns come out, in which order, under which names.

CREATE STREAM orders (id INT KEY, item STRING, price DOUBLE, amount INT) WITH (kafka_topic='orders', value_format='JSON');

--@test: * is every column in its order
CREATE STREAM result AS SELECT * FROM orders;
ASSERT STREAM result (id INT KEY, item STRING, price DOUBLE, amount INT) WITH (kafka_topic='RESULT', value_format='JSON');
INSERT INTO orders (rowtime, id, item, price, amount) VALUES (5, 1, 'tea', 2.5, 3);
ASSERT VALUES result (rowtime, id, item, price, amount) VALUES (5, 1, 'tea', 2.5, 3);

--@test: columns come out in the order of the SELECT, the key first
CREATE STREAM result AS SELECT amount, item, id FROM orders;
ASSERT STREAM result (id INT KEY, amount INT, item STRING) WITH (kafka_topic='RESULT');
INSERT INTO orders (id, item, amount) VALUES (1, 'tea', 3);
ASSERT VALUES result (id, amount, item) VALUES (1, 3, 'tea');

--@test: a column is left out
CREATE STREAM result AS SELECT id, item FROM orders;
ASSERT STREAM result (id INT KEY, item STRING) WITH (kafka_topic='RESULT');
INSERT INTO orders (id, item, price) VALUES (1, 'tea', 2.5);
ASSERT VALUES result (id, item) VALUES (1, 'tea');

--@test: AS names a column
CREATE STREAM result AS SELECT id, item AS what FROM orders;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, what) VALUES (1, 'tea');

--@test: a name may stand without AS
CREATE STREAM result AS SELECT id, item what FROM orders;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, what) VALUES (1, 'tea');

--@test: the key gets another name
CREATE STREAM result AS SELECT id AS number, item FROM orders;
ASSERT STREAM result (number INT KEY, item STRING) WITH (kafka_topic='RESULT');
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (number, item) VALUES (1, 'tea');

--@test: a column twice, under two names
CREATE STREAM result AS SELECT id, item AS a, item AS b FROM orders;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, a, b) VALUES (1, 'tea', 'tea');

--@test: two names swapped
CREATE STREAM result AS SELECT id, price AS amount, amount AS price FROM orders;
INSERT INTO orders (id, price, amount) VALUES (1, 2.5, 3);
ASSERT VALUES result (id, amount, price) VALUES (1, 2.5, 3);

--@test: an expression without a name is called KSQL_COL_0, the next one KSQL_COL_1
CREATE STREAM result AS SELECT id, amount + 1, item, amount + 2 FROM orders;
ASSERT STREAM result (id INT KEY, ksql_col_0 INT, item STRING, ksql_col_1 INT) WITH (kafka_topic='RESULT');
INSERT INTO orders (id, item, amount) VALUES (1, 'tea', 3);
ASSERT VALUES result (id, ksql_col_0, item, ksql_col_1) VALUES (1, 4, 'tea', 5);

--@test: a number given by the system leaves out a name that is taken
CREATE STREAM result AS SELECT id, item AS ksql_col_0, amount + 1 FROM orders;
INSERT INTO orders (id, item, amount) VALUES (1, 'tea', 3);
ASSERT VALUES result (id, ksql_col_0, ksql_col_1) VALUES (1, 'tea', 4);

--@test: constants
CREATE STREAM result AS SELECT id, 7 AS seven, 'x' AS x, TRUE AS yes, 1.5 AS d, 2E0 AS e FROM orders;
ASSERT STREAM result (id INT KEY, seven INT, x STRING, yes BOOLEAN, d DECIMAL(2, 1), e DOUBLE) WITH (kafka_topic='RESULT');
INSERT INTO orders (id) VALUES (1);
ASSERT VALUES result (id, seven, x, yes, d, e) VALUES (1, 7, 'x', TRUE, 1.5, 2.0);

--@test: * and more
CREATE STREAM result AS SELECT *, price * amount AS total FROM orders;
INSERT INTO orders (id, item, price, amount) VALUES (1, 'tea', 2.5, 4);
ASSERT VALUES result (id, item, price, amount, total) VALUES (1, 'tea', 2.5, 4, 10.0);

--@test: the source's name before a column
CREATE STREAM result AS SELECT orders.id, orders.item FROM orders;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, item) VALUES (1, 'tea');

--@test: an alias of the source before a column
CREATE STREAM result AS SELECT o.id, o.item FROM orders AS o;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, item) VALUES (1, 'tea');

--@test: an alias of the source without AS
CREATE STREAM result AS SELECT o.id, item FROM orders o;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, item) VALUES (1, 'tea');

--@test: all columns of an alias
CREATE STREAM result AS SELECT o.* FROM orders o;
INSERT INTO orders (id, item, price, amount) VALUES (1, 'tea', 2.5, 3);
ASSERT VALUES result (id, item, price, amount) VALUES (1, 'tea', 2.5, 3);

--@test: names are upper-cased, whatever the case they are written in
CREATE STREAM Result AS SELECT ID, Item, PRICE FROM Orders;
INSERT INTO ORDERS (iD, iTEM, pRICE) VALUES (1, 'tea', 2.5);
ASSERT VALUES rESULT (id, ITEM, price) VALUES (1, 'tea', 2.5);

--@test: back-ticks keep the case of a name
CREATE STREAM result AS SELECT id, item AS `Item`, item FROM orders;
ASSERT STREAM result (id INT KEY, `Item` STRING, item STRING) WITH (kafka_topic='RESULT');
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, `Item`, item) VALUES (1, 'tea', 'tea');

--@test: back-ticks around an upper-case name change nothing
CREATE STREAM result AS SELECT `ID`, `ITEM` FROM `ORDERS`;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, item) VALUES (1, 'tea');

--@test: a name with a space and one that is a keyword
CREATE STREAM result AS SELECT id, item AS `the item`, amount AS `SELECT` FROM orders;
INSERT INTO orders (id, item, amount) VALUES (1, 'tea', 3);
ASSERT VALUES result (id, `the item`, `SELECT`) VALUES (1, 'tea', 3);

--@test: a stream whose name keeps its case
CREATE STREAM `result` AS SELECT id, item FROM orders;
ASSERT STREAM `result` (id INT KEY, item STRING) WITH (kafka_topic='result');
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES `result` (id, item) VALUES (1, 'tea');

--@test: the time of the record stays
CREATE STREAM result AS SELECT id, item FROM orders;
INSERT INTO orders (rowtime, id, item) VALUES (1234, 1, 'tea');
ASSERT VALUES result (rowtime, id, item) VALUES (1234, 1, 'tea');

--@test: a stream of a stream of a stream
CREATE STREAM a AS SELECT id, amount + 1 AS amount FROM orders;
CREATE STREAM b AS SELECT id, amount * 2 AS amount FROM a;
CREATE STREAM c AS SELECT id, amount - 3 AS amount FROM b;
INSERT INTO orders (id, amount) VALUES (1, 4);
ASSERT VALUES c (id, amount) VALUES (1, 7);

--@test: two queries of one stream
CREATE STREAM a AS SELECT id, item FROM orders;
CREATE STREAM b AS SELECT id, price FROM orders;
INSERT INTO orders (id, item, price) VALUES (1, 'tea', 2.5);
ASSERT VALUES a (id, item) VALUES (1, 'tea');
ASSERT VALUES b (id, price) VALUES (1, 2.5);

--@test: columns that are missing in the record are null
CREATE STREAM result AS SELECT * FROM orders;
INSERT INTO orders (id) VALUES (1);
ASSERT VALUES result (id, item, price, amount) VALUES (1, NULL, NULL, NULL);

--@test: a record without a key
CREATE STREAM result AS SELECT * FROM orders;
INSERT INTO orders (item) VALUES ('tea');
ASSERT VALUES result (id, item) VALUES (NULL, 'tea');

--@test: a stream without a key column
CREATE STREAM keyless (item STRING) WITH (kafka_topic='keyless', value_format='JSON');
CREATE STREAM result AS SELECT item FROM keyless;
ASSERT STREAM result (item STRING) WITH (kafka_topic='RESULT');
INSERT INTO keyless (item) VALUES ('tea');
ASSERT VALUES result (item) VALUES ('tea');

--@test: a stream of nothing but its key
CREATE STREAM result AS SELECT id FROM orders;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id) VALUES (1);

--@test: the same expression with and without parentheses
CREATE STREAM result AS SELECT id, amount + 2 * 3 AS a, (amount + 2) * 3 AS b FROM orders;
INSERT INTO orders (id, amount) VALUES (1, 4);
ASSERT VALUES result (id, a, b) VALUES (1, 10, 18);

--@test: comments of both kinds
CREATE STREAM result AS SELECT id, -- the key
  /* and
     the item */ item FROM orders;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, item) VALUES (1, 'tea');

--@test: the order of records is kept
CREATE STREAM result AS SELECT id, item FROM orders;
INSERT INTO orders (rowtime, id, item) VALUES (30, 1, 'a');
INSERT INTO orders (rowtime, id, item) VALUES (10, 1, 'b');
INSERT INTO orders (rowtime, id, item) VALUES (20, 2, 'c');
ASSERT VALUES result (rowtime, id, item) VALUES (30, 1, 'a');
ASSERT VALUES result (rowtime, id, item) VALUES (10, 1, 'b');
ASSERT VALUES result (rowtime, id, item) VALUES (20, 2, 'c');

--@test: words of other clauses are names of columns
CREATE STREAM words (id INT KEY, key INT, value INT, topic INT, type INT, source INT, date INT, time INT, timestamp INT, count INT, size INT, window INT, partition INT, year INT, day INT, values INT, header INT, zone INT, if INT, add INT, set INT, primary INT, changes INT, final INT, grace INT, period INT, minute INT) WITH (kafka_topic='words', value_format='JSON');
CREATE STREAM result AS SELECT id, key, value, topic, type, source, date, time, timestamp, count, size, window, partition, year, day, values, header, zone, if, add, set, primary, changes, final, grace, period, minute FROM words WHERE key > 0 AND window = 1;
INSERT INTO words (id, key, window, minute) VALUES (1, 2, 1, 3);
ASSERT VALUES result (id, key, window, minute) VALUES (1, 2, 1, 3);

--@test: words of other clauses are aliases
CREATE STREAM result AS SELECT id, item AS value, price AS key, amount AS count FROM orders;
INSERT INTO orders (id, item) VALUES (1, 'tea');
ASSERT VALUES result (id, value) VALUES (1, 'tea');

--@test: double quotes are back-ticks
CREATE STREAM result AS SELECT "ID", "ITEM" AS "theItem" FROM orders;
ASSERT STREAM result (id INT KEY, `theItem` STRING) WITH (kafka_topic='RESULT');

--@test: EMIT CHANGES may stand at the end
CREATE STREAM result AS SELECT id, item FROM orders WHERE amount > 1 EMIT CHANGES;
INSERT INTO orders (id, item, amount) VALUES (1, 'tea', 2);
ASSERT VALUES result (id, item) VALUES (1, 'tea');

--@test: TRUE, FALSE and NULL in any case
CREATE STREAM result AS SELECT id, true AS a, False AS b, cast(null AS int) AS c FROM orders;
INSERT INTO orders (id) VALUES (1);
ASSERT VALUES result (id, a, b, c) VALUES (1, TRUE, FALSE, NULL);

--@test: a condition as a column
CREATE STREAM result AS SELECT id, amount > 1 AS many, (amount > 1) = FALSE AS few FROM orders;
INSERT INTO orders (id, amount) VALUES (1, 2);
ASSERT VALUES result (id, many, few) VALUES (1, TRUE, FALSE);

--@test: the key must be selected
--@expected.error: SqlError
--@expected.message: the key is missing from the SELECT: ORDERS.ID
CREATE STREAM result AS SELECT item FROM orders;

--@test: the key must not be selected twice
--@expected.error: SqlError
--@expected.message: the key is selected twice
CREATE STREAM result AS SELECT id, id AS again FROM orders;

--@test: two columns cannot have one name
--@expected.error: SqlError
--@expected.message: two columns are called ITEM
CREATE STREAM result AS SELECT id, item, price AS item FROM orders;

--@test: a column that is not there, and the nearest one
--@expected.error: SqlError
--@expected.message: unknown column ITEMM
--@expected.message: Did you mean ITEM?
CREATE STREAM result AS SELECT id, itemm FROM orders;

--@test: a name in back-ticks is another name
--@expected.error: SqlError
--@expected.message: unknown column item
CREATE STREAM result AS SELECT id, `item` FROM orders;

--@test: the source's own name is unknown where it has an alias
--@expected.error: SqlError
--@expected.message: unknown source ORDERS
CREATE STREAM result AS SELECT orders.id, item FROM orders AS o;
