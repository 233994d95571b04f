    assert not task.starts(10**12)

