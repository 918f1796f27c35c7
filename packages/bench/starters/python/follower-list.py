def follow(store, user, follower):
    """`follower` follows `user` from now on."""
    write(store, user, followers(store, user) + [follower])


def unfollow(store, user, follower):
    """`follower` follows `user` no more."""
    write(store, user, [one for one in followers(store, user) if one != follower])


def followers(store, user):
    """Answers all followers of a user, in any order, each once."""
    found = store.get(["Followers", user])
    return [] if found is None else found["ids"]


def compact(store, user):
    """Called now and then to tidy up. A crash may end it at any call."""
    ids = followers(store, user)
    store.remove(["Followers", user])
    write(store, user, list(set(ids)))


def write(store, user, ids):
    store.put(["Followers", user], {"ids": ids}, unindexed=["ids"])
