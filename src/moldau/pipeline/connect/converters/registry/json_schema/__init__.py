"""JSON Schema: schemas of Connect as JSON Schemas and back, as Confluent's JsonSchemaData maps them."""
