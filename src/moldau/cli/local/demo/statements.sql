-- The demo of `moldau up --demo`: who looks at what, and where from. Running it twice changes nothing:
--   moldau sql --file statements.sql

-- Who there is. A table holds the last row of each key.
CREATE TABLE IF NOT EXISTS users (user_id STRING PRIMARY KEY, name STRING, region STRING)
  WITH (KAFKA_TOPIC = 'users', VALUE_FORMAT = 'JSON', PARTITIONS = 2);

-- What they look at. A stream holds every row.
CREATE STREAM IF NOT EXISTS pageviews (user_id STRING KEY, page STRING)
  WITH (KAFKA_TOPIC = 'pageviews', VALUE_FORMAT = 'JSON', PARTITIONS = 2);

-- Each page view, with what is known of its user at that moment.
CREATE STREAM IF NOT EXISTS pageviews_enriched AS
  SELECT views.user_id AS user_id, page, name, region
  FROM pageviews AS views
  JOIN users ON views.user_id = users.user_id
  EMIT CHANGES;

-- How many there are from each region in each minute, and on how many pages.
CREATE TABLE IF NOT EXISTS pageviews_per_region AS
  SELECT region, COUNT(*) AS views, COUNT_DISTINCT(page) AS pages
  FROM pageviews_enriched
  WINDOW TUMBLING (SIZE 1 MINUTE, RETENTION 1 HOUR, GRACE PERIOD 10 SECONDS)
  GROUP BY region
  EMIT CHANGES;
