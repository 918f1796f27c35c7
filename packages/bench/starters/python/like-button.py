def like(store, post):
    """One like of a post."""

    def work(transaction):
        counter = store.get(["Likes", post], transaction)
        number = 0 if counter is None else counter["number"]
        return None, [put(["Likes", post], {"number": number + 1}, unindexed=["number"])]

    store.transaction(work)


def likes(store, post):
    """Answers the number of likes of a post; it may be a few seconds behind."""
    counter = store.get(["Likes", post])
    return 0 if counter is None else counter["number"]


def every_second(store, post):
    """Called once a second."""
