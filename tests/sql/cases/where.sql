-- WHERE: which records pass.

CREATE STREAM orders (id INT KEY, item STRING, price DOUBLE, amount INT, paid BOOLEAN) WITH (kafka_topic='orders', value_format='JSON');

--@test: only records that meet the condition pass
CREATE STREAM result AS SELECT id, amount FROM orders WHERE amount > 2;
INSERT INTO orders (id, amount) VALUES (1, 1);
INSERT INTO orders (id, amount) VALUES (2, 2);
INSERT INTO orders (id, amount) VALUES (3, 3);
ASSERT VALUES result (id, amount) VALUES (3, 3);

--@test: >= takes the bound itself
CREATE STREAM result AS SELECT id, amount FROM orders WHERE amount >= 2;
INSERT INTO orders (id, amount) VALUES (1, 1);
INSERT INTO orders (id, amount) VALUES (2, 2);
ASSERT VALUES result (id, amount) VALUES (2, 2);

--@test: < leaves the bound out
CREATE STREAM result AS SELECT id, amount FROM orders WHERE amount < 2;
INSERT INTO orders (id, amount) VALUES (2, 2);
INSERT INTO orders (id, amount) VALUES (1, 1);
ASSERT VALUES result (id, amount) VALUES (1, 1);

--@test: <= takes the bound itself
CREATE STREAM result AS SELECT id, amount FROM orders WHERE amount <= 2;
INSERT INTO orders (id, amount) VALUES (3, 3);
INSERT INTO orders (id, amount) VALUES (2, 2);
ASSERT VALUES result (id, amount) VALUES (2, 2);

--@test: = finds a text, in its exact case
CREATE STREAM result AS SELECT id, item FROM orders WHERE item = 'tea';
INSERT INTO orders (id, item) VALUES (1, 'Tea');
INSERT INTO orders (id, item) VALUES (2, 'tea');
ASSERT VALUES result (id, item) VALUES (2, 'tea');

--@test: <> and != mean the same
CREATE STREAM a AS SELECT id, item FROM orders WHERE item <> 'tea';
CREATE STREAM b AS SELECT id, item FROM orders WHERE item != 'tea';
INSERT INTO orders (id, item) VALUES (1, 'tea');
INSERT INTO orders (id, item) VALUES (2, 'milk');
ASSERT VALUES a (id, item) VALUES (2, 'milk');
ASSERT VALUES b (id, item) VALUES (2, 'milk');

--@test: texts are ordered by their characters
CREATE STREAM result AS SELECT id, item FROM orders WHERE item > 'milk';
INSERT INTO orders (id, item) VALUES (1, 'bread');
INSERT INTO orders (id, item) VALUES (2, 'tea');
INSERT INTO orders (id, item) VALUES (3, 'Zebra');
INSERT INTO orders (id, item) VALUES (4, 'milky');
ASSERT VALUES result (id, item) VALUES (2, 'tea');
ASSERT VALUES result (id, item) VALUES (4, 'milky');

--@test: AND needs both
CREATE STREAM result AS SELECT id FROM orders WHERE amount > 1 AND item = 'tea';
INSERT INTO orders (id, amount, item) VALUES (1, 2, 'milk');
INSERT INTO orders (id, amount, item) VALUES (2, 1, 'tea');
INSERT INTO orders (id, amount, item) VALUES (3, 2, 'tea');
ASSERT VALUES result (id) VALUES (3);

--@test: OR needs one
CREATE STREAM result AS SELECT id FROM orders WHERE amount > 1 OR item = 'tea';
INSERT INTO orders (id, amount, item) VALUES (1, 1, 'milk');
INSERT INTO orders (id, amount, item) VALUES (2, 1, 'tea');
INSERT INTO orders (id, amount, item) VALUES (3, 2, 'milk');
ASSERT VALUES result (id) VALUES (2);
ASSERT VALUES result (id) VALUES (3);

--@test: AND binds more strongly than OR
CREATE STREAM result AS SELECT id FROM orders WHERE item = 'tea' OR item = 'milk' AND amount > 1;
INSERT INTO orders (id, item, amount) VALUES (1, 'milk', 1);
INSERT INTO orders (id, item, amount) VALUES (2, 'tea', 1);
ASSERT VALUES result (id) VALUES (2);

--@test: parentheses change what binds
CREATE STREAM result AS SELECT id FROM orders WHERE (item = 'tea' OR item = 'milk') AND amount > 1;
INSERT INTO orders (id, item, amount) VALUES (1, 'tea', 1);
INSERT INTO orders (id, item, amount) VALUES (2, 'milk', 2);
ASSERT VALUES result (id) VALUES (2);

--@test: NOT turns a condition round
CREATE STREAM result AS SELECT id FROM orders WHERE NOT item = 'tea';
INSERT INTO orders (id, item) VALUES (1, 'tea');
INSERT INTO orders (id, item) VALUES (2, 'milk');
ASSERT VALUES result (id) VALUES (2);

--@test: NOT binds more strongly than AND
CREATE STREAM result AS SELECT id FROM orders WHERE NOT item = 'tea' AND amount = 1;
INSERT INTO orders (id, item, amount) VALUES (1, 'milk', 2);
INSERT INTO orders (id, item, amount) VALUES (2, 'milk', 1);
ASSERT VALUES result (id) VALUES (2);

--@test: a boolean column is a condition
CREATE STREAM result AS SELECT id FROM orders WHERE paid;
INSERT INTO orders (id, paid) VALUES (1, FALSE);
INSERT INTO orders (id, paid) VALUES (2, NULL);
INSERT INTO orders (id, paid) VALUES (3, TRUE);
ASSERT VALUES result (id) VALUES (3);

--@test: NOT of a boolean column
CREATE STREAM result AS SELECT id FROM orders WHERE NOT paid;
INSERT INTO orders (id, paid) VALUES (1, TRUE);
INSERT INTO orders (id, paid) VALUES (2, FALSE);
ASSERT VALUES result (id) VALUES (2);

--@test: booleans compared
CREATE STREAM result AS SELECT id FROM orders WHERE paid = FALSE;
INSERT INTO orders (id, paid) VALUES (1, TRUE);
INSERT INTO orders (id, paid) VALUES (2, FALSE);
ASSERT VALUES result (id) VALUES (2);

--@test: WHERE TRUE lets all pass, WHERE FALSE none
CREATE STREAM a AS SELECT id FROM orders WHERE TRUE;
CREATE STREAM b AS SELECT id FROM orders WHERE FALSE;
INSERT INTO orders (id) VALUES (1);
ASSERT VALUES a (id) VALUES (1);

--@test: nothing passes WHERE FALSE
--@expected.error: AssertionError
--@expected.message: B has 0 records
CREATE STREAM b AS SELECT id FROM orders WHERE FALSE;
INSERT INTO orders (id) VALUES (1);
ASSERT VALUES b (id) VALUES (1);

--@test: the key in a condition
CREATE STREAM result AS SELECT id, item FROM orders WHERE id = 2;
INSERT INTO orders (id, item) VALUES (1, 'tea');
INSERT INTO orders (id, item) VALUES (2, 'milk');
ASSERT VALUES result (id, item) VALUES (2, 'milk');

--@test: a condition over a column that is not selected
CREATE STREAM result AS SELECT id, item FROM orders WHERE price > 2.0;
INSERT INTO orders (id, item, price) VALUES (1, 'tea', 1.0);
INSERT INTO orders (id, item, price) VALUES (2, 'milk', 3.0);
ASSERT VALUES result (id, item) VALUES (2, 'milk');

--@test: a condition over an expression
CREATE STREAM result AS SELECT id FROM orders WHERE price * amount >= 10;
INSERT INTO orders (id, price, amount) VALUES (1, 2.5, 3);
INSERT INTO orders (id, price, amount) VALUES (2, 2.5, 4);
ASSERT VALUES result (id) VALUES (2);

--@test: the time of the record in a condition
CREATE STREAM result AS SELECT id FROM orders WHERE rowtime >= 100;
INSERT INTO orders (rowtime, id) VALUES (99, 1);
INSERT INTO orders (rowtime, id) VALUES (100, 2);
ASSERT VALUES result (rowtime, id) VALUES (100, 2);

--@test: columns compared with each other
CREATE STREAM result AS SELECT id FROM orders WHERE price > amount;
INSERT INTO orders (id, price, amount) VALUES (1, 2.0, 2);
INSERT INTO orders (id, price, amount) VALUES (2, 2.5, 2);
ASSERT VALUES result (id) VALUES (2);

--@test: a condition that fails is not met, and the next record is read
CREATE STREAM result AS SELECT id FROM orders WHERE 10 / amount > 1;
INSERT INTO orders (id, amount) VALUES (1, 0);
INSERT INTO orders (id, amount) VALUES (2, 5);
ASSERT VALUES result (id) VALUES (2);

--@test: a condition that fails is not computed where it is not needed
CREATE STREAM result AS SELECT id FROM orders WHERE amount = 0 OR 10 / amount > 1;
INSERT INTO orders (id, amount) VALUES (1, 0);
ASSERT VALUES result (id) VALUES (1);

--@test: a filter of a filter
CREATE STREAM a AS SELECT id, amount FROM orders WHERE amount > 1;
CREATE STREAM b AS SELECT id, amount FROM a WHERE amount < 4;
INSERT INTO orders (id, amount) VALUES (1, 1);
INSERT INTO orders (id, amount) VALUES (2, 4);
INSERT INTO orders (id, amount) VALUES (3, 2);
ASSERT VALUES b (id, amount) VALUES (3, 2);

--@test: a tombstone of a stream does not pass a condition about its columns
CREATE STREAM result AS SELECT id, amount FROM orders WHERE amount > 0;
INSERT INTO orders (id, amount) VALUES (1, 5);
ASSERT VALUES result (id, amount) VALUES (1, 5);

--@test: a number is no condition
--@expected.error: SqlError
--@expected.message: WHERE needs a condition, not a INTEGER
CREATE STREAM result AS SELECT id FROM orders WHERE amount;

--@test: a text is no operand of AND
--@expected.error: SqlError
--@expected.message: expected a condition, found a STRING
CREATE STREAM result AS SELECT id FROM orders WHERE paid AND item;

--@test: a text and a number cannot be compared
--@expected.error: SqlError
--@expected.message: STRING and INTEGER cannot be compared
CREATE STREAM result AS SELECT id FROM orders WHERE item = 5;

--@test: booleans have no order
--@expected.error: SqlError
--@expected.message: values of BOOLEAN have no order
CREATE STREAM result AS SELECT id FROM orders WHERE paid > FALSE;

--@test: an alias of the SELECT is unknown in WHERE
--@expected.error: SqlError
--@expected.message: unknown column TOTAL
CREATE STREAM result AS SELECT id, amount AS total FROM orders WHERE total > 1;
