-- STRUCT: fields are read with ->, structs are made with STRUCT(name := value).

CREATE STREAM s (id INT KEY, a STRUCT<street STRING, city STRUCT<name STRING, zip INT>>, i INT, t STRING) WITH (kafka_topic='s', value_format='JSON');

--@test: a field
CREATE STREAM result AS SELECT id, a->street AS r FROM s;
INSERT INTO s (id, a) VALUES (1, STRUCT(street := 'Long', city := STRUCT(name := 'Brno', zip := 60200)));
ASSERT VALUES result (id, r) VALUES (1, 'Long');

--@test: a field of a field
CREATE STREAM result AS SELECT id, a->city->zip + 1 AS r FROM s;
INSERT INTO s (id, a) VALUES (1, STRUCT(street := 'Long', city := STRUCT(name := 'Brno', zip := 60200)));
ASSERT VALUES result (id, r) VALUES (1, 60201);

--@test: a field without a name of its own has the field's name
CREATE STREAM result AS SELECT id, a->street, a->city->name FROM s;
ASSERT STREAM result (id INT KEY, street STRING, name STRING) WITH (kafka_topic='RESULT');
INSERT INTO s (id, a) VALUES (1, STRUCT(street := 'Long', city := STRUCT(name := 'Brno', zip := 60200)));
ASSERT VALUES result (id, street, name) VALUES (1, 'Long', 'Brno');

--@test: two fields of one name: the second gets a number
CREATE STREAM p (id INT KEY, a STRUCT<name STRING>, b STRUCT<name STRING>) WITH (kafka_topic='p', value_format='JSON');
CREATE STREAM result AS SELECT id, a->name, b->name FROM p;
INSERT INTO p (id, a, b) VALUES (1, STRUCT(name := 'x'), STRUCT(name := 'y'));
ASSERT VALUES result (id, name, name_1) VALUES (1, 'x', 'y');

--@test: all fields
CREATE STREAM result AS SELECT id, a->city->* FROM s;
ASSERT STREAM result (id INT KEY, name STRING, zip INT) WITH (kafka_topic='RESULT');
INSERT INTO s (id, a) VALUES (1, STRUCT(street := 'Long', city := STRUCT(name := 'Brno', zip := 60200)));
ASSERT VALUES result (id, name, zip) VALUES (1, 'Brno', 60200);

--@test: the struct as it is
CREATE STREAM result AS SELECT id, a->city AS c FROM s;
ASSERT STREAM result (id INT KEY, c STRUCT<name STRING, zip INT>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, a) VALUES (1, STRUCT(street := 'Long', city := STRUCT(name := 'Brno', zip := 60200)));
ASSERT VALUES result (id, c) VALUES (1, STRUCT(name := 'Brno', zip := 60200));

--@test: a field of null is null
CREATE STREAM result AS SELECT id, a->street AS x, a->city->zip AS y FROM s;
INSERT INTO s (id) VALUES (1);
INSERT INTO s (id, a) VALUES (2, STRUCT(street := 'Long'));
ASSERT VALUES result (id, x, y) VALUES (1, NULL, NULL);
ASSERT VALUES result (id, x, y) VALUES (2, 'Long', NULL);

--@test: the source's name before the struct
CREATE STREAM result AS SELECT q.id, q.a->street AS r FROM s q;
INSERT INTO s (id, a) VALUES (1, STRUCT(street := 'Long'));
ASSERT VALUES result (id, r) VALUES (1, 'Long');

--@test: a field in a condition
CREATE STREAM result AS SELECT id FROM s WHERE a->city->name = 'Brno';
INSERT INTO s (id, a) VALUES (1, STRUCT(city := STRUCT(name := 'Praha')));
INSERT INTO s (id, a) VALUES (2, STRUCT(city := STRUCT(name := 'Brno')));
ASSERT VALUES result (id) VALUES (2);

--@test: a struct is made
CREATE STREAM result AS SELECT id, STRUCT(x := i, y := t || '!') AS r FROM s;
ASSERT STREAM result (id INT KEY, r STRUCT<x INT, y STRING>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i, t) VALUES (1, 7, 'hey');
ASSERT VALUES result (id, r) VALUES (1, STRUCT(x := 7, y := 'hey!'));

--@test: a struct within a struct is made
CREATE STREAM result AS SELECT id, STRUCT(x := STRUCT(y := i)) AS r FROM s;
INSERT INTO s (id, i) VALUES (1, 7);
ASSERT VALUES result (id, r) VALUES (1, STRUCT(x := STRUCT(y := 7)));

--@test: a field of a struct that was just made
CREATE STREAM result AS SELECT id, STRUCT(x := i + 1, y := t)->x AS r FROM s;
INSERT INTO s (id, i) VALUES (1, 7);
ASSERT VALUES result (id, r) VALUES (1, 8);

--@test: fields keep their case in back-ticks
CREATE STREAM result AS SELECT id, STRUCT(`x` := i, x := t) AS r FROM s;
ASSERT STREAM result (id INT KEY, r STRUCT<`x` INT, x STRING>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i, t) VALUES (1, 7, 'seven');
ASSERT VALUES result (id, r) VALUES (1, STRUCT(`x` := 7, x := 'seven'));

--@test: structs are equal if all fields are
CREATE STREAM result AS SELECT id, a->city = STRUCT(name := 'Brno', zip := 60200) AS r FROM s;
INSERT INTO s (id, a) VALUES (1, STRUCT(city := STRUCT(name := 'Brno', zip := 60200)));
INSERT INTO s (id, a) VALUES (2, STRUCT(city := STRUCT(name := 'Brno', zip := 60201)));
ASSERT VALUES result (id, r) VALUES (1, TRUE);
ASSERT VALUES result (id, r) VALUES (2, FALSE);

--@test: a struct as the key
CREATE STREAM k (id STRUCT<x INT> KEY, v INT) WITH (kafka_topic='k', key_format='JSON', value_format='JSON');
CREATE STREAM result AS SELECT id, id->x + v AS r FROM k;
INSERT INTO k (id, v) VALUES (STRUCT(x := 1), 5);
ASSERT VALUES result (id, r) VALUES (STRUCT(x := 1), 6);

--@test: an array of structs
CREATE STREAM l (id INT KEY, v ARRAY<STRUCT<x INT, y STRING>>) WITH (kafka_topic='l', value_format='JSON');
CREATE STREAM result AS SELECT id, v[1]->y AS r FROM l;
INSERT INTO l (id, v) VALUES (1, ARRAY[STRUCT(x := 1, y := 'one'), STRUCT(x := 2, y := 'two')]);
ASSERT VALUES result (id, r) VALUES (1, 'one');

--@test: a type of the user's own
CREATE TYPE point AS STRUCT<x INT, y INT>;
CREATE STREAM l (id INT KEY, p point, q ARRAY<point>) WITH (kafka_topic='l', value_format='JSON');
CREATE STREAM result AS SELECT id, p->x + q[1]->y AS r FROM l;
INSERT INTO l (id, p, q) VALUES (1, STRUCT(x := 1, y := 2), ARRAY[STRUCT(x := 3, y := 4)]);
ASSERT VALUES result (id, r) VALUES (1, 5);

--@test: an unknown field
--@expected.error: SqlError
--@expected.message: the STRUCT has no field STRET
--@expected.message: Did you mean STREET?
CREATE STREAM result AS SELECT id, a->stret FROM s;

--@test: a field of what is no struct
--@expected.error: SqlError
--@expected.message: -> reads a field of a STRUCT, not of STRING
CREATE STREAM result AS SELECT id, t->x FROM s;

--@test: structs have no order
--@expected.error: SqlError
--@expected.message: have no order
CREATE STREAM result AS SELECT id, a->city < a->city AS r FROM s;

--@test: a field without a type
--@expected.error: SqlError
--@expected.message: field X is NULL and so has no type
CREATE STREAM result AS SELECT id, STRUCT(x := NULL) AS r FROM s;

--@test: a field twice
--@expected.error: SqlError
--@expected.message: the STRUCT has two fields X
CREATE STREAM result AS SELECT id, STRUCT(x := 1, x := 2) AS r FROM s;
