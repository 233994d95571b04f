-- Errors: each says what, where (line and column, a caret below the place) and what to do.

CREATE STREAM s (id INT KEY, name STRING, amount INT) WITH (kafka_topic='s', value_format='JSON');

--@test: the line, the column and the caret
--@expected.message: line 12:10: unknown column AMOUN
--@expected.message:          ^
--@expected.message: Did you mean AMOUNT?
CREATE STREAM r AS
  SELECT id,
         name,
         amoun
  FROM s;

--@test: no suggestion where nothing is near: all columns are told
--@expected.message: unknown column ZZZ
--@expected.message: The columns are ID, NAME, AMOUNT.
CREATE STREAM r AS SELECT id, zzz FROM s;

--@test: an unknown stream, and the nearest
--@expected.message: SS does not exist
--@expected.message: Did you mean S?
CREATE STREAM r AS SELECT id FROM ss;

--@test: an unknown stream that is near nothing
--@expected.message: PAGEVIEWS does not exist
--@expected.message: A topic becomes a source by CREATE STREAM or CREATE TABLE.
CREATE STREAM r AS SELECT id FROM pageviews;

--@test: an unknown function, and the nearest
--@expected.message: unknown function UCAS
--@expected.message: Did you mean UCASE?
CREATE STREAM r AS SELECT id, UCAS(name) AS n FROM s;

--@test: a function with arguments of other types
--@expected.message: UCASE does not take (INTEGER)
--@expected.message: It takes: UCASE(
CREATE STREAM r AS SELECT id, UCASE(amount) AS n FROM s;

--@test: a function with too many arguments
--@expected.message: LEN does not take (STRING, STRING)
CREATE STREAM r AS SELECT id, LEN(name, name) AS n FROM s;

--@test: a misspelt keyword at the beginning
--@expected.message: expected a statement, found 'CREATTE'
--@expected.message: Did you mean CREATE?
CREATTE STREAM r AS SELECT id FROM s;

--@test: a misspelt SELECT
--@expected.message: expected 'SELECT', found 'SELEECT'
CREATE STREAM r AS SELEECT id FROM s;

--@test: a misspelt FROM is read as a name
--@expected.message: expected 'FROM', found 'S'
--@expected.message: Did you mean FROM?
CREATE STREAM r AS SELECT id FRM s;

--@test: a misspelt WHERE is read as an alias
--@expected.message: expected ';' at the end of the statement, found 'AMOUNT'
--@expected.message: Did you mean WHERE?
CREATE STREAM r AS SELECT id FROM s WHEREE amount > 1;

--@test: a missing semicolon between two statements
--@expected.message: expected ';' at the end of the statement, found 'CREATE'
CREATE STREAM r AS SELECT id FROM s
CREATE STREAM q AS SELECT id FROM s;

--@test: a comma too many
--@expected.message: expected an expression, found the keyword FROM
CREATE STREAM r AS SELECT id, FROM s;

--@test: a comma too few is read as an alias
--@expected.message: expected 'FROM', found 'AMOUNT'
CREATE STREAM r AS SELECT id name amount FROM s;

--@test: a parenthesis that is not closed
--@expected.message: expected ')', found 'AS'
CREATE STREAM r AS SELECT id, (amount + 1 AS x FROM s;

--@test: a parenthesis too many
--@expected.message: expected 'FROM', found ')'
CREATE STREAM r AS SELECT id, amount + 1) AS x FROM s;

--@test: an operator without its right side
--@expected.message: expected an expression, found the keyword FROM
CREATE STREAM r AS SELECT id, amount + FROM s;

--@test: a string that is not closed
--@expected.message: the string that begins here has no end
CREATE STREAM r AS SELECT id FROM s WHERE name = 'open;

--@test: a name in back-ticks that is not closed
--@expected.message: the quoted name that begins here has no end
CREATE STREAM r AS SELECT `id FROM s;

--@test: a comment that is not closed
--@expected.message: the comment that begins here has no end
CREATE STREAM r AS SELECT id /* FROM s;

--@test: a character that means nothing
--@expected.message: unexpected character '#'
CREATE STREAM r AS SELECT id # FROM s;

--@test: a keyword as a name
--@expected.message: expected the name of the stream, found the keyword TABLE
--@expected.message: quote it with back-ticks: `TABLE`
CREATE STREAM table AS SELECT id FROM s;

--@test: a name that begins with a digit
--@expected.message: a name cannot begin with a digit: 2ND
CREATE STREAM 2nd AS SELECT id FROM s;

--@test: SELECT DISTINCT
--@expected.message: SELECT DISTINCT is not supported
--@expected.message: GROUP BY gives each value once
CREATE STREAM r AS SELECT DISTINCT name FROM s;

--@test: ORDER BY
--@expected.message: a stream has no end, so ORDER BY is not supported
CREATE STREAM r AS SELECT id FROM s ORDER BY id;

--@test: UNION
--@expected.message: UNION is not supported
--@expected.message: INSERT INTO one stream from several queries.
CREATE STREAM r AS SELECT id FROM s UNION SELECT id FROM s;

--@test: a query inside a query
--@expected.message: a query inside a query is not supported
CREATE STREAM r AS SELECT id FROM (SELECT id FROM s);

--@test: two sources with a comma
--@expected.message: one FROM names one source
CREATE STREAM r AS SELECT id FROM s, s;

--@test: clauses in another order
--@expected.message: WHERE stands too late
--@expected.message: The order of clauses is WINDOW, WHERE, GROUP BY, PARTITION BY, HAVING, EMIT, LIMIT.
CREATE TABLE r AS SELECT id, COUNT(*) AS n FROM s GROUP BY id WHERE amount > 1;

--@test: a persistent query has no LIMIT
--@expected.message: a query that fills a stream or table has no LIMIT
CREATE STREAM r AS SELECT id FROM s LIMIT 5;

--@test: a function of columns alone has no *
--@expected.message: UCASE(*) has no meaning
CREATE STREAM r AS SELECT id, UCASE(*) AS n FROM s;

--@test: a lambda where none is taken
--@expected.message: UCASE does not take (LAMBDA)
CREATE STREAM r AS SELECT id, UCASE(x => x) AS n FROM s;

--@test: all columns of an unknown source
--@expected.message: unknown source T
CREATE STREAM r AS SELECT t.* FROM s;

--@test: ->* of what is no struct
--@expected.message: ->* takes the fields of a STRUCT
CREATE STREAM r AS SELECT id, name->* FROM s;

--@test: PARTITION BY together with GROUP BY
--@expected.message: PARTITION BY and GROUP BY exclude each other
CREATE TABLE r AS SELECT id, COUNT(*) AS n FROM s GROUP BY id PARTITION BY id;

--@test: columns in a CREATE AS SELECT
--@expected.message: a statement with AS SELECT has its columns from the SELECT
CREATE STREAM r (id INT KEY) WITH (kafka_topic='r') AS SELECT id FROM s;

--@test: a SOURCE made by AS SELECT
--@expected.message: a SOURCE stream or table is defined over a topic, not by AS SELECT
CREATE SOURCE STREAM r AS SELECT id FROM s;

--@test: a variable that nobody has defined
--@expected.message: variable 'limit' is not defined
--@expected.message: DEFINE limit = 'value';
CREATE STREAM r AS SELECT id FROM s WHERE amount > ${limit};

--@test: nested more than a hundred levels deep
--@expected.message: nested more than 100 levels deep
CREATE STREAM r AS SELECT id, ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((amount)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) AS x FROM s;

--@test: EMIT without a word behind it
--@expected.message: expected one of CHANGES, FINAL
CREATE STREAM r AS SELECT id FROM s EMIT;
