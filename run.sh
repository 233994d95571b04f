cd /tmp/lead/wt && PYTHONPATH=/tmp/lead/wt/src:/tmp/lead/wt/tests MOLDAU_KAFKA_JARS=/tmp/warm/jars /work/main/.venv/bin/pytest -p no:cacheprovider "$@"
