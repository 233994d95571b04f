-- MAP: values are read by key, maps are made with MAP(key := value).

CREATE STREAM s (id INT KEY, m MAP<STRING, INT>, n MAP<STRING, MAP<STRING, STRING>>, i INT, t STRING, d DOUBLE) WITH (kafka_topic='s', value_format='JSON');

--@test: a value by its key
CREATE STREAM result AS SELECT id, m['a'] AS x, m['b'] + 1 AS y FROM s;
INSERT INTO s (id, m) VALUES (1, MAP('a' := 10, 'b' := 20));
ASSERT VALUES result (id, x, y) VALUES (1, 10, 21);

--@test: a key that is not there is null
CREATE STREAM result AS SELECT id, m['z'] AS x FROM s;
INSERT INTO s (id, m) VALUES (1, MAP('a' := 10));
ASSERT VALUES result (id, x) VALUES (1, NULL);

--@test: keys keep their case
CREATE STREAM result AS SELECT id, m['A'] AS x FROM s;
INSERT INTO s (id, m) VALUES (1, MAP('a' := 10));
ASSERT VALUES result (id, x) VALUES (1, NULL);

--@test: a value of null is null
CREATE STREAM result AS SELECT id, m['a'] AS x, n['a']['b'] AS y FROM s;
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, x, y) VALUES (1, NULL, NULL);

--@test: the key is a column
CREATE STREAM result AS SELECT id, m[t] AS x FROM s;
INSERT INTO s (id, m, t) VALUES (1, MAP('a' := 10), 'a');
INSERT INTO s (id, m, t) VALUES (2, MAP('a' := 10), NULL);
ASSERT VALUES result (id, x) VALUES (1, 10);
ASSERT VALUES result (id, x) VALUES (2, NULL);

--@test: a map within a map
CREATE STREAM result AS SELECT id, n['a']['b'] AS x FROM s;
INSERT INTO s (id, n) VALUES (1, MAP('a' := MAP('b' := 'deep')));
ASSERT VALUES result (id, x) VALUES (1, 'deep');

--@test: a map is made
CREATE STREAM result AS SELECT id, MAP('one' := i, t := i + 1) AS x FROM s;
ASSERT STREAM result (id INT KEY, x MAP<STRING, INT>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i, t) VALUES (1, 1, 'two');
ASSERT VALUES result (id, x) VALUES (1, MAP('one' := 1, 'two' := 2));

--@test: values are brought to one type
CREATE STREAM result AS SELECT id, MAP('i' := i, 'd' := d) AS x FROM s;
ASSERT STREAM result (id INT KEY, x MAP<STRING, DOUBLE>) WITH (kafka_topic='RESULT');
INSERT INTO s (id, i, d) VALUES (1, 1, 2.5);
ASSERT VALUES result (id, x) VALUES (1, MAP('i' := 1.0, 'd' := 2.5));

--@test: a value that is null
CREATE STREAM result AS SELECT id, MAP('a' := i, 'b' := NULL) AS x FROM s;
INSERT INTO s (id, i) VALUES (1, 1);
ASSERT VALUES result (id, x) VALUES (1, MAP('a' := 1, 'b' := NULL));

--@test: maps are equal if all entries are, in any order
CREATE STREAM result AS SELECT id, m = MAP('a' := 1, 'b' := 2) AS x FROM s;
INSERT INTO s (id, m) VALUES (1, MAP('b' := 2, 'a' := 1));
INSERT INTO s (id, m) VALUES (2, MAP('a' := 1));
ASSERT VALUES result (id, x) VALUES (1, TRUE);
ASSERT VALUES result (id, x) VALUES (2, FALSE);

--@test: the last of two equal keys counts
CREATE STREAM result AS SELECT id, MAP('a' := 1, 'a' := 2) AS x FROM s;
INSERT INTO s (id) VALUES (1);
ASSERT VALUES result (id, x) VALUES (1, MAP('a' := 2));

--@test: MAP_KEYS, MAP_VALUES of one entry
CREATE STREAM result AS SELECT id, MAP_KEYS(m) AS x, MAP_VALUES(m) AS y FROM s;
INSERT INTO s (id, m) VALUES (1, MAP('a' := 10));
ASSERT VALUES result (id, x, y) VALUES (1, ARRAY['a'], ARRAY[10]);

--@test: a key of another type
--@expected.error: SqlError
--@expected.message: the key is INTEGER and should be STRING
CREATE STREAM result AS SELECT id, m[1] AS x FROM s;

--@test: values of types that do not go together
--@expected.error: SqlError
--@expected.message: the values of the MAP have different types: INTEGER and STRING
CREATE STREAM result AS SELECT id, MAP('a' := i, 'b' := t) AS x FROM s;

--@test: a map without entries
--@expected.error: SqlError
--@expected.message: a MAP without entries has no type
CREATE STREAM result AS SELECT id, MAP() AS x FROM s;

--@test: a map cannot be a key
--@expected.error: SqlError
--@expected.message: a key cannot contain a MAP
CREATE STREAM k (id MAP<STRING, INT> KEY, v INT) WITH (kafka_topic='k', key_format='JSON', value_format='JSON');
