def save(store, session):
    """Stores a session {id, expires}; `expires` is text such as 2026-01-01T00:03:00.000Z, whose order is that of time."""
    store.put(["Session", session["id"]], {"expires": session["expires"]})


def is_live(store, session):
    """Whether the session of an id is still stored."""
    return store.get(["Session", session]) is not None


def sweep(store, now):
    """Called once a minute: deletes the sessions that expired before `now`."""
    while True:
        sessions, _ = store.query("Session", where=[("expires", "<=", now)], order=["expires"], limit=100, keys_only=True)
        if sessions:
            store.remove(*[session["key"] for session in sessions])
        if len(sessions) < 100:
            return
