"""A program of a challenge, over the HTTP JSON API of Datastore: it needs Python 3.9 and no package.

The judge starts this file, and sends a call as a line of JSON. README.md has the calls and their answers. Your part comes first; `Store`, below,
has what you may call, and the last lines read calls and write answers. Print other things to sys.stderr: sys.stdout is for answers.
"""

import http.client
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

# ── your program ──


def add_customer(store, n, customer):
    """Stores customer 1, 2, 3, …"""
    store.insert(["Customer", f"Customer{n}"], customer, unindexed=["name"])


def find_customer(store, n):
    """Answers the customer of a number, with one lookup."""
    return store.get(["Customer", f"Customer{n}"])


CALLS = {"addCustomer": add_customer, "findCustomer": find_customer}

# ── the store ──


class Refused(Exception):
    """The service refused a request; `code` is such as ALREADY_EXISTS or ABORTED."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Store:
    """Keys are lists, such as ["User", "ada", "Post", 17]: kind and name or id, root first. An id is an int; without a last one, put gives it."""

    def __init__(self):
        self._host = os.environ["DATASTORE_EMULATOR_HOST"]
        self._project = os.environ["DATASTORE_PROJECT_ID"]
        self._own = threading.local()

    def get(self, key, transaction=None):
        """The properties of an entity as a dict; None if there is none."""
        return self.get_all([key], transaction)[0]

    def get_all(self, keys, transaction=None):
        """The same for many keys, by one request."""
        body = {"keys": [_key(key) for key in keys], **_reading(transaction)}
        found = {}
        for one in self.request("lookup", body).get("found", []):
            found[_words(one["entity"]["key"])] = _properties(one["entity"])
        return [found.get(_words(_key(key))) for key in keys]

    def put(self, key, properties, unindexed=()):
        """Stores an entity, also in the place of another one. Answers the key, with the id that was given."""
        return self.commit([put(key, properties, unindexed)])[0] or list(key)

    def insert(self, key, properties, unindexed=()):
        """The same; fails with ALREADY_EXISTS if the entity is there."""
        return self.commit([insert(key, properties, unindexed)])[0] or list(key)

    def remove(self, *keys):
        self.commit([remove(key) for key in keys])

    def query(self, kind, where=(), order=(), limit=None, offset=0, cursor=None, ancestor=None, keys_only=False, transaction=None):
        """Answers a list of entities, each a dict with its "key", and the cursor behind the last one.

        `where` is a list of (property, operator, value) with = < <= > >= != in; the property "__key__" compares keys. `order` is a list of
        property names, "-name" for descending.
        """
        filters = [_filter(*one) for one in where]
        if ancestor is not None:
            filters.append(_filter("__key__", "ancestor", ancestor))
        query = {"kind": [{"name": kind}], "offset": offset}
        if keys_only:
            query["projection"] = [{"property": {"name": "__key__"}}]
        if filters:
            query["filter"] = {"compositeFilter": {"op": "AND", "filters": filters}}
        if order:
            query["order"] = [_order(name) for name in order]
        if cursor is not None:
            query["startCursor"] = cursor
        entities = []
        while True:
            if limit is not None:
                query["limit"] = limit - len(entities)
            batch = self.request("runQuery", {"query": query, **_reading(transaction)})["batch"]
            for one in batch.get("entityResults", []):
                entities.append({**_properties(one["entity"]), "key": _path(one["entity"]["key"])})
            if batch["moreResults"] != "NOT_FINISHED":
                return entities, batch["endCursor"]
            query["offset"] -= batch.get("skippedResults", 0)
            query["startCursor"] = batch["endCursor"]

    def allocate_id(self, kind):
        """A new id of a kind."""
        return int(self.request("allocateIds", {"keys": [_key([kind])]})["keys"][0]["path"][-1]["id"])

    def commit(self, mutations, transaction=None):
        """Writes what put(), insert() and remove() below make, at once. In a transaction it fails with ABORTED after a conflict."""
        mode = {"mode": "NON_TRANSACTIONAL"} if transaction is None else {"mode": "TRANSACTIONAL", "transaction": transaction}
        results = self.request("commit", {**mode, "mutations": mutations})["mutationResults"]
        return [_path(one["key"]) if "key" in one else None for one in results]

    def transaction(self, work):
        """Calls work(transaction), which answers a result and a list of mutations; after a conflict, or when a tablet moves, up to five times again."""
        for attempt in range(6):
            transaction = self.request("beginTransaction", {})["transaction"]
            try:
                result, mutations = work(transaction)
                self.commit(mutations, transaction)
                return result
            except Refused as error:
                if error.code not in ("ABORTED", "UNAVAILABLE") or attempt == 5:
                    raise
                time.sleep(0.1 * 2**attempt)

    def request(self, method, body):
        """A request of the API as it is: its documentation names methods and fields."""
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = http.client.HTTPConnection(self._host)
        path = f"/v1/projects/{self._project}:{method}"
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        if "error" in answer:
            raise Refused(answer["error"]["status"], answer["error"]["message"])
        return answer


def put(key, properties, unindexed=()):
    return {"upsert": _entity(key, properties, unindexed)}


def insert(key, properties, unindexed=()):
    return {"insert": _entity(key, properties, unindexed)}


def remove(key):
    return {"delete": _key(key)}


OPERATORS = {
    "=": "EQUAL", "<": "LESS_THAN", "<=": "LESS_THAN_OR_EQUAL", ">": "GREATER_THAN", ">=": "GREATER_THAN_OR_EQUAL",
    "!=": "NOT_EQUAL", "in": "IN", "ancestor": "HAS_ANCESTOR",
}  # fmt: skip


def _filter(name, operator, value):
    value = {"keyValue": _key(value)} if name == "__key__" else _value(value)
    return {"propertyFilter": {"property": {"name": name}, "op": OPERATORS[operator], "value": value}}


def _order(name):
    direction = "DESCENDING" if name.startswith("-") else "ASCENDING"
    return {"property": {"name": name.lstrip("-")}, "direction": direction}


def _reading(transaction):
    return {} if transaction is None else {"readOptions": {"transaction": transaction}}


def _key(path):
    pairs = [path[i : i + 2] for i in range(0, len(path), 2)]
    return {"path": [_element(*pair) for pair in pairs]}


def _element(kind, name=None):
    if name is None:
        return {"kind": kind}
    return {"kind": kind, "name": name} if isinstance(name, str) else {"kind": kind, "id": str(name)}


def _path(key):
    return [part for one in key["path"] for part in (one["kind"], one["name"] if "name" in one else int(one["id"]))]


def _words(key):
    return json.dumps(key["path"], sort_keys=True)


def _entity(key, properties, unindexed):
    values = {name: _value(value, name in unindexed) for name, value in properties.items() if name != "key"}
    return {"key": _key(key), "properties": values}


def _value(value, is_unindexed=False):
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_value(one, is_unindexed) for one in value]}}
    if value is None:
        typed = {"nullValue": None}
    elif isinstance(value, bool):
        typed = {"booleanValue": value}
    elif isinstance(value, int):
        typed = {"integerValue": str(value)}
    elif isinstance(value, float):
        typed = {"doubleValue": value}
    else:
        typed = {"stringValue": value}
    return {**typed, "excludeFromIndexes": True} if is_unindexed else typed


def _properties(entity):
    return {name: _plain(value) for name, value in entity.get("properties", {}).items()}


def _plain(value):
    if "arrayValue" in value:
        return [_plain(one) for one in value["arrayValue"].get("values", [])]
    if "integerValue" in value:
        return int(value["integerValue"])
    return next((value[name] for name in ("stringValue", "doubleValue", "booleanValue", "timestampValue") if name in value), None)


# ── calls and answers ──


def main():
    store = Store()
    writing = threading.Lock()

    def answer(call):
        number, name = call.pop("id"), call.pop("call")
        try:
            line = {"id": number, "answer": CALLS[name](store, **call)}
        except Refused as error:
            line = {"id": number, "error": {"code": error.code, "message": str(error)}}
        except Exception as error:
            place = error.__traceback__.tb_next
            where = "" if place is None else f" (solution.py:{place.tb_lineno})"
            line = {"id": number, "error": f"{type(error).__name__}: {error}{where}"}
        with writing:
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()

    # Many calls are under way at once.
    with ThreadPoolExecutor(64) as pool:
        for line in sys.stdin:
            pool.submit(answer, json.loads(line))


if __name__ == "__main__":
    main()
