def read(store, account, minute):
    """Answers the value of an account, `minute` minutes after the move began."""
    moved = store.get(["B", account])
    if moved is not None:
        return moved["value"]
    old = store.get(["A", account])
    return None if old is None else old["value"]


def write(store, account, value, minute):
    """Stores the value of an account."""
    store.put(["B", account], {"value": value}, unindexed=["value"])


def job(store, minute, accounts):
    """Called at the beginning of each minute, 0 to 60, with the ids of all accounts."""
    if minute != 60:
        return
    for account in sorted(accounts):
        if store.get(["B", account]) is None:
            old = store.get(["A", account])
            store.put(["B", account], {"value": old["value"]}, unindexed=["value"])
