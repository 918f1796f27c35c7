from datetime import datetime, timedelta


def add_event(store, event):
    """Stores an event {user, at, text}; `at` is text such as 2026-01-01T00:00:00.000Z, whose order is that of time."""
    store.insert(["Event"], event, unindexed=["text"])


def events_of_day(store, user, day):
    """Answers the events of a user on the day that begins at `day`, in order, by one query."""
    next_day = datetime.strptime(day, "%Y-%m-%dT%H:%M:%S.%fZ") + timedelta(days=1)
    end = next_day.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    events, _ = store.query("Event", where=[("user", "=", user), ("at", ">=", day), ("at", "<", end)], order=["at"])
    return events
