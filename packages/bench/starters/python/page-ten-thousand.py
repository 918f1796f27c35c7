PAGE_SIZE = 20


def add_post(store, post):
    """Stores a post {number, text}; higher numbers are newer."""
    store.insert(["Post"], post, unindexed=["text"])


def page(store, next):
    """Answers a page {posts, next}, newest first. `next` is None for the first page, and then what the page before answered."""
    offset = next or 0
    posts, _ = store.query("Post", order=["-number"], offset=offset, limit=PAGE_SIZE)
    return {"posts": [{"number": post["number"], "text": post["text"]} for post in posts], "next": offset + PAGE_SIZE}
