"""The demo of `moldau up --demo`: page views, enriched and counted in SQL.

`statements.sql` is all there is to see: the streams and tables, to be read and copied. `page_views.py` produces their
input, in a process of its own. `demo.py` starts both and says what to try. Only `moldau up` imports it.
"""
