-- Run with: moldau sql test examples/sql_functions/cases.sql --functions examples/sql_functions

--@test: a function of one value marks the readings that do not fit together
CREATE STREAM car_sensor (car_id STRING KEY, event_id STRING, sensor_input STRING)
  WITH (KAFKA_TOPIC='car-sensors', VALUE_FORMAT='JSON');
CREATE STREAM checked AS SELECT car_id, event_id, ANOMALY(sensor_input) AS state FROM car_sensor;

INSERT INTO car_sensor VALUES ('Car_1', 'Event_1', '85.0,1.0,50');
INSERT INTO car_sensor VALUES ('Car_2', 'Event_2', '140.0,1.0,50');
INSERT INTO car_sensor VALUES ('Car_3', 'Event_3', 'no reading');

ASSERT VALUES checked (car_id, event_id, state) VALUES ('Car_1', 'Event_1', 'normal');
ASSERT VALUES checked (car_id, event_id, state) VALUES ('Car_2', 'Event_2', 'anomaly');
ASSERT VALUES checked (car_id, event_id, state) VALUES ('Car_3', 'Event_3', NULL);

--@test: a table function makes a row of each reading
CREATE STREAM car_sensor (car_id STRING KEY, sensor_input STRING)
  WITH (KAFKA_TOPIC='car-sensors', VALUE_FORMAT='JSON');
CREATE STREAM single AS SELECT car_id, READINGS(sensor_input) AS reading FROM car_sensor;

INSERT INTO car_sensor VALUES ('Car_1', '85.0,1.0');

ASSERT VALUES single (car_id, reading) VALUES ('Car_1', 85.0E0);
ASSERT VALUES single (car_id, reading) VALUES ('Car_1', 1.0E0);

--@test: an aggregate folds the rows of a group
CREATE STREAM speeds (car_id STRING KEY, speed DOUBLE) WITH (KAFKA_TOPIC='speeds', VALUE_FORMAT='JSON');
CREATE TABLE means AS SELECT car_id, ROUND(GEOMETRIC_MEAN(speed)) AS mean FROM speeds GROUP BY car_id;

INSERT INTO speeds VALUES ('Car_1', 20);
INSERT INTO speeds VALUES ('Car_1', 80);

ASSERT VALUES means (car_id, mean) VALUES ('Car_1', 20);
ASSERT VALUES means (car_id, mean) VALUES ('Car_1', 40);
