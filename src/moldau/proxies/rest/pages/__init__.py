"""The routes described: as OpenAPI, and as a page that lets one try them."""
