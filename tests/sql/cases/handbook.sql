-- Queries as people know them from KSQL 5.3 (no EMIT CHANGES, KEY among the properties, VARCHAR), and those of the
-- documents: frauds, pages by region, important customers.

--@test: payments that are probably fraud
CREATE STREAM payments (id VARCHAR KEY, fraudProbability DOUBLE) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='payments');
CREATE STREAM fraudulent_payments AS SELECT * FROM payments WHERE fraudProbability > 0.8;
INSERT INTO payments (id, fraudProbability) VALUES ('a', 0.8);
INSERT INTO payments (id, fraudProbability) VALUES ('b', 0.81);
ASSERT VALUES fraudulent_payments (id, fraudProbability) VALUES ('b', 0.81);

--@test: possible_fraud: the fourth attempt within five seconds
CREATE STREAM authorization_attempts (card_number VARCHAR KEY, attempt INT) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='attempts');
CREATE TABLE possible_fraud AS SELECT card_number, count(*) FROM authorization_attempts WINDOW TUMBLING (SIZE 5 SECONDS) GROUP BY card_number HAVING count(*) > 3;
INSERT INTO authorization_attempts (rowtime, card_number, attempt) VALUES (1000, 'c1', 1);
INSERT INTO authorization_attempts (rowtime, card_number, attempt) VALUES (2000, 'c1', 2);
INSERT INTO authorization_attempts (rowtime, card_number, attempt) VALUES (3000, 'c2', 1);
INSERT INTO authorization_attempts (rowtime, card_number, attempt) VALUES (4000, 'c1', 3);
INSERT INTO authorization_attempts (rowtime, card_number, attempt) VALUES (4999, 'c1', 4);
INSERT INTO authorization_attempts (rowtime, card_number, attempt) VALUES (5000, 'c1', 5);
ASSERT VALUES possible_fraud (rowtime, windowstart, windowend, card_number, ksql_col_0) VALUES (4999, 0, 5000, 'c1', 4);

--@test: a stream without a key column over a topic
CREATE STREAM pageviews (viewtime BIGINT, user_id VARCHAR, page_id VARCHAR) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='my-pageviews-topic');
CREATE STREAM copy AS SELECT * FROM pageviews;
INSERT INTO pageviews (viewtime, user_id, page_id) VALUES (1, 'User_9', 'Page_42');
ASSERT VALUES copy (viewtime, user_id, page_id) VALUES (1, 'User_9', 'Page_42');

--@test: a table whose key is named among the properties, with the hint at today's form
--@expected.warning: is the form of KSQL 5
CREATE TABLE users (usertimestamp BIGINT, user_id VARCHAR, gender VARCHAR, region_id VARCHAR) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='my-users-topic', KEY='user_id');
ASSERT TABLE users (user_id STRING PRIMARY KEY, usertimestamp BIGINT, gender STRING, region_id STRING) WITH (kafka_topic='my-users-topic');
INSERT INTO users (user_id, gender) VALUES ('u1', 'OTHER');
ASSERT VALUES users (user_id, gender) VALUES ('u1', 'OTHER');

--@test: vip_actions: what important customers do
CREATE STREAM clickstream (user_id VARCHAR KEY, pageid VARCHAR, action VARCHAR) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='clickstream');
CREATE TABLE users (user_id VARCHAR PRIMARY KEY, level VARCHAR) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='users');
CREATE STREAM vip_actions AS SELECT c.user_id, pageid, action FROM clickstream c LEFT JOIN users u ON c.user_id = u.user_id WHERE u.level = 'Platinum';
INSERT INTO users (user_id, level) VALUES ('u1', 'Platinum');
INSERT INTO users (user_id, level) VALUES ('u2', 'Gold');
INSERT INTO clickstream (user_id, pageid, action) VALUES ('u2', 'p1', 'view');
INSERT INTO clickstream (user_id, pageid, action) VALUES ('u3', 'p1', 'view');
INSERT INTO clickstream (user_id, pageid, action) VALUES ('u1', 'p2', 'buy');
ASSERT VALUES vip_actions (c_user_id, pageid, action) VALUES ('u1', 'p2', 'buy');

--@test: the same with its misprint: the sources are ambiguous about user_id
--@expected.error: SqlError
--@expected.message: USER_ID is ambiguous
--@expected.message: Write C.USER_ID or U.USER_ID.
CREATE STREAM clickstream (user_id VARCHAR KEY, pageid VARCHAR) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='clickstream');
CREATE TABLE users (user_id VARCHAR PRIMARY KEY, level VARCHAR) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='users');
CREATE STREAM vip_actions AS SELECT user_id, pageid FROM clickstream c LEFT JOIN users u ON c.user_id = u.user_id WHERE u.level = 'Platinum';

--@test: pageviews_regions: two columns group, the unit of time is singular and lower case
--@expected.warning: The key of PAGEVIEWS_REGIONS is written as JSON
CREATE STREAM pageviews (userid VARCHAR KEY, gender VARCHAR, regionid VARCHAR) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='pageviews_enriched');
CREATE TABLE pageviews_regions AS SELECT gender, regionid, COUNT(*) AS num_users FROM pageviews WINDOW TUMBLING (size 30 second) GROUP BY gender, regionid HAVING COUNT(*) > 1;
INSERT INTO pageviews (rowtime, userid, gender, regionid) VALUES (1000, 'u1', 'FEMALE', 'r1');
INSERT INTO pageviews (rowtime, userid, gender, regionid) VALUES (2000, 'u2', 'FEMALE', 'r2');
INSERT INTO pageviews (rowtime, userid, gender, regionid) VALUES (29999, 'u3', 'FEMALE', 'r1');
INSERT INTO pageviews (rowtime, userid, gender, regionid) VALUES (30000, 'u3', 'FEMALE', 'r2');
ASSERT VALUES pageviews_regions (rowtime, windowstart, windowend, gender, regionid, num_users) VALUES (29999, 0, 30000, 'FEMALE', 'r1', 2);

--@test: sensors of one model; the target has another name than the source
CREATE STREAM car_sensor (car_id VARCHAR KEY, event_id VARCHAR, car_model_id VARCHAR, sensor_input DOUBLE) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='car_sensor');
CREATE TABLE car_models (car_model_id VARCHAR PRIMARY KEY, car_model_type VARCHAR) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='car_models');
CREATE STREAM audi_sensor AS SELECT c.car_model_id, car_id, event_id, sensor_input FROM car_sensor c LEFT JOIN car_models m ON c.car_model_id = m.car_model_id WHERE m.car_model_type = 'Audi_A8';
INSERT INTO car_models (car_model_id, car_model_type) VALUES ('m1', 'Audi_A8');
INSERT INTO car_sensor (car_id, event_id, car_model_id, sensor_input) VALUES ('x', 'e1', 'm2', 1.0);
INSERT INTO car_sensor (car_id, event_id, car_model_id, sensor_input) VALUES ('y', 'e2', 'm1', 2.0);
ASSERT VALUES audi_sensor (c_car_model_id, car_id, event_id, sensor_input) VALUES ('m1', 'y', 'e2', 2.0);

--@test: a stream cannot be made from itself
--@expected.error: SqlError
--@expected.message: CAR_SENSOR exists already
CREATE STREAM car_sensor (car_id VARCHAR KEY, sensor_input DOUBLE) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='car_sensor');
CREATE STREAM car_sensor AS SELECT car_id, sensor_input FROM car_sensor;

--@test: a function that nobody has written yet
--@expected.error: SqlError
--@expected.message: unknown function ANOMALY
CREATE STREAM car_sensor (car_id VARCHAR KEY, sensor_input DOUBLE) WITH (VALUE_FORMAT='JSON', KAFKA_TOPIC='car_sensor');
CREATE STREAM anomalies AS SELECT car_id, ANOMALY(sensor_input) FROM car_sensor;
