"""A certificate authority of one's own: what `moldau certs` and the test kit issue certificates with.

Start reading with `authority`. Decides and signs; `certificate_folder` keeps the files.
"""
