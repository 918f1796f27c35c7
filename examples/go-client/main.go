// A tour of the Go client on an emulator: put, get, query, cursors, count, transaction, delete.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"cloud.google.com/go/datastore"
	"google.golang.org/api/iterator"
)

// Task is stored as an entity of kind Task.
type Task struct {
	Title    string
	Priority int
	Done     bool
	Note     string `datastore:",noindex"`
}

func main() {
	ctx := context.Background()
	// DATASTORE_EMULATOR_HOST and DATASTORE_PROJECT_ID say where.
	client, err := datastore.NewClient(ctx, "")
	check(err)
	defer client.Close()

	list := datastore.NameKey("List", "go", nil)
	keys := make([]*datastore.Key, 5)
	tasks := make([]*Task, 5)
	for i := range keys {
		keys[i] = datastore.IDKey("Task", int64(i+1), list)
		tasks[i] = &Task{Title: fmt.Sprintf("task %d", i+1), Priority: i % 3, Note: "not indexed"}
	}
	_, err = client.PutMulti(ctx, keys, tasks)
	check(err)

	var one Task
	check(client.Get(ctx, keys[0], &one))
	fmt.Println("get:", one.Title)
	err = client.Get(ctx, datastore.NameKey("Task", "nowhere", nil), &one)
	fmt.Println("get what is not there:", errors.Is(err, datastore.ErrNoSuchEntity))

	added, err := client.Put(ctx, datastore.IncompleteKey("Task", list), &Task{Title: "task 6", Priority: 9})
	check(err)
	fmt.Println("put gives an id:", added.ID > 0)

	query := datastore.NewQuery("Task").Ancestor(list).Filter("Priority >", 0).Order("-Priority")
	for it := client.Run(ctx, query); ; {
		var task Task
		_, err := it.Next(&task)
		if errors.Is(err, iterator.Done) {
			break
		}
		check(err)
		fmt.Println("query:", task.Title, "of priority", task.Priority)
	}

	fmt.Println("pages of two:")
	all := datastore.NewQuery("Task").Ancestor(list).KeysOnly()
	for page, cursor := 1, (datastore.Cursor{}); ; page++ {
		it := client.Run(ctx, all.Start(cursor).Limit(2))
		found := 0
		for _, err = it.Next(nil); err == nil; _, err = it.Next(nil) {
			found++
		}
		if !errors.Is(err, iterator.Done) {
			log.Fatal(err)
		}
		if found == 0 {
			break
		}
		fmt.Printf("  page %d: %d keys\n", page, found)
		cursor, err = it.Cursor()
		check(err)
	}

	count, err := client.Count(ctx, datastore.NewQuery("Task").Ancestor(list))
	check(err)
	fmt.Println("count:", count)

	attempts := 0
	_, err = client.RunInTransaction(ctx, func(tx *datastore.Transaction) error {
		attempts++
		var task Task
		if err := tx.Get(keys[0], &task); err != nil {
			return err
		}
		task.Done = true
		_, err := tx.Put(keys[0], &task)
		return err
	})
	check(err)
	check(client.Get(ctx, keys[0], &one))
	fmt.Println("transaction:", one.Title, "is done:", one.Done, "- after attempts:", attempts)

	check(client.DeleteMulti(ctx, append(keys, added)))
	count, err = client.Count(ctx, datastore.NewQuery("Task").Ancestor(list))
	check(err)
	fmt.Println("count after deleting:", count)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
