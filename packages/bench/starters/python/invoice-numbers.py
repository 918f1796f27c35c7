COUNTER = ["Books", "main", "Counter", "invoices"]


def create_invoice(store, invoice):
    """Stores an invoice {customer, amount} and answers its number."""

    def work(transaction):
        counter = store.get(COUNTER, transaction)
        number = 1 if counter is None else counter["next"]
        return number, [put(COUNTER, {"next": number + 1}), insert(["Books", "main", "Invoice", number], invoice)]

    return store.transaction(work)


def find_invoice(store, number):
    """Answers the invoice of a number, with one lookup."""
    return store.get(["Books", "main", "Invoice", number])
