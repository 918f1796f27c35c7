// A program of a challenge, over the HTTP JSON API of Datastore: it needs Go 1.19 and no module.
//
// The judge starts this program, and sends a call as a line of JSON. README.md has the calls and their answers. Your part comes first; Store,
// below, has what you may call, and main reads calls and writes answers. Print other things to os.Stderr: os.Stdout is for answers.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ── your program ──

// Stores customer 1, 2, 3, …
func addCustomer(store *Store, call Object) (any, error) {
	return nil, store.Insert(Key{"Customer", fmt.Sprint("Customer", call.Int("n"))}, call.Object("customer"), "name")
}

// Answers the customer of a number, with one lookup.
func findCustomer(store *Store, call Object) (any, error) {
	return store.Get(Key{"Customer", fmt.Sprint("Customer", call.Int("n"))})
}

var calls = map[string]func(*Store, Object) (any, error){"addCustomer": addCustomer, "findCustomer": findCustomer}

// ── the store ──

// Object is an entity's properties, or a call's arguments. Numbers of calls are float64; of entities int64 or float64.
type Object map[string]any

func (one Object) Int(name string) int64     { number, _ := one[name].(float64); return int64(number) }
func (one Object) Text(name string) string   { text, _ := one[name].(string); return text }
func (one Object) Object(name string) Object { object, _ := one[name].(map[string]any); return object }

// Key is kind and name (string) or id (int64), root first: Key{"User", "ada", "Post", int64(17)}. Without a last one an id is given.
type Key []any

// Refused is an error of the service; Code is such as ALREADY_EXISTS or ABORTED.
type Refused struct{ Code, Message string }

func (one Refused) Error() string { return one.Message }

// Store is the server that the environment names.
type Store struct {
	address string
	client  http.Client
}

func openStore() *Store {
	address := "http://" + os.Getenv("DATASTORE_EMULATOR_HOST") + "/v1/projects/" + os.Getenv("DATASTORE_PROJECT_ID") + ":"
	return &Store{address, http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// Get answers an entity, or nil if there is none.
func (store *Store) Get(key Key) (Object, error) {
	found, err := store.GetAll([]Key{key}, "")
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// GetAll answers entities by one lookup, in a transaction unless it is empty; nil where there is none.
func (store *Store) GetAll(keys []Key, transaction string) ([]Object, error) {
	paths := make([]any, len(keys))
	for i, key := range keys {
		paths[i] = keyOf(key)
	}
	answer, err := store.Request("lookup", reading(Object{"keys": paths}, transaction))
	if err != nil {
		return nil, err
	}
	found := map[string]Object{}
	for _, one := range list(answer["found"]) {
		entity := Object(one).Object("entity")
		found[words(pathOf(entity.Object("key")))] = propertiesOf(entity)
	}
	entities := make([]Object, len(keys))
	for i, key := range keys {
		entities[i] = found[words(key)]
	}
	return entities, nil
}

// Put stores an entity, also in the place of another one; Insert fails with ALREADY_EXISTS then.
func (store *Store) Put(key Key, properties Object, unindexed ...string) error {
	_, err := store.Commit([]Object{Put(key, properties, unindexed...)}, "")
	return err
}

func (store *Store) Insert(key Key, properties Object, unindexed ...string) error {
	_, err := store.Commit([]Object{Insert(key, properties, unindexed...)}, "")
	return err
}

func (store *Store) Remove(keys ...Key) error {
	mutations := make([]Object, len(keys))
	for i, key := range keys {
		mutations[i] = Remove(key)
	}
	_, err := store.Commit(mutations, "")
	return err
}

// Mutations for Commit.
func Put(key Key, properties Object, unindexed ...string) Object {
	return Object{"upsert": entityOf(key, properties, unindexed)}
}

func Insert(key Key, properties Object, unindexed ...string) Object {
	return Object{"insert": entityOf(key, properties, unindexed)}
}

func Remove(key Key) Object { return Object{"delete": keyOf(key)} }

// Commit writes at once, and answers the ids that were given. In a transaction it fails with ABORTED after a conflict.
func (store *Store) Commit(mutations []Object, transaction string) ([]Key, error) {
	body := Object{"mode": "NON_TRANSACTIONAL", "mutations": mutations}
	if transaction != "" {
		body["mode"], body["transaction"] = "TRANSACTIONAL", transaction
	}
	answer, err := store.Request("commit", body)
	if err != nil {
		return nil, err
	}
	var keys []Key
	for _, one := range list(answer["mutationResults"]) {
		if key := Object(one).Object("key"); key != nil {
			keys = append(keys, pathOf(key))
		}
	}
	return keys, nil
}

// Transaction calls work, which reads with the transaction and answers what to write; after a conflict, or when a tablet moves, up to five times again.
func (store *Store) Transaction(work func(transaction string) ([]Object, error)) error {
	for attempt := 0; ; attempt++ {
		answer, err := store.Request("beginTransaction", Object{})
		if err == nil {
			transaction := Object(answer).Text("transaction")
			var mutations []Object
			if mutations, err = work(transaction); err == nil {
				_, err = store.Commit(mutations, transaction)
			}
		}
		var refused Refused
		if !errors.As(err, &refused) || refused.Code != "ABORTED" && refused.Code != "UNAVAILABLE" || attempt == 5 {
			return err
		}
		time.Sleep(100 * time.Millisecond << attempt)
	}
}

// AllocateID answers a new id of a kind.
func (store *Store) AllocateID(kind string) (int64, error) {
	answer, err := store.Request("allocateIds", Object{"keys": []any{keyOf(Key{kind})}})
	if err != nil {
		return 0, err
	}
	return pathOf(list(answer["keys"])[0])[1].(int64), nil
}

// Query runs a query as the API has it, such as Object{"kind": []Object{{"name": "Post"}}, "limit": 20}. It answers entities, each with its
// "key", and the cursor behind the last one.
func (store *Store) Query(query Object, transaction string) ([]Object, string, error) {
	var entities []Object
	for {
		answer, err := store.Request("runQuery", reading(Object{"query": query}, transaction))
		if err != nil {
			return nil, "", err
		}
		batch := Object(answer).Object("batch")
		for _, one := range list(batch["entityResults"]) {
			entity := Object(one).Object("entity")
			properties := propertiesOf(entity)
			properties["key"] = pathOf(entity.Object("key"))
			entities = append(entities, properties)
		}
		if batch.Text("moreResults") != "NOT_FINISHED" {
			return entities, batch.Text("endCursor"), nil
		}
		query["startCursor"] = batch.Text("endCursor")
		if offset, ok := query["offset"].(int); ok {
			query["offset"] = offset - int(batch.Int("skippedResults"))
		}
		if limit, ok := query["limit"].(int); ok {
			query["limit"] = limit - len(list(batch["entityResults"]))
		}
	}
}

// Request sends a request of the API as it is: its documentation names methods and fields.
func (store *Store) Request(method string, body Object) (map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	response, err := store.client.Post(store.address+method, "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	if refused := Object(answer).Object("error"); refused != nil {
		return nil, Refused{refused.Text("status"), refused.Text("message")}
	}
	return answer, nil
}

func reading(body Object, transaction string) Object {
	if transaction != "" {
		body["readOptions"] = Object{"transaction": transaction}
	}
	return body
}

func list(value any) []map[string]any {
	var objects []map[string]any
	values, _ := value.([]any)
	for _, one := range values {
		objects = append(objects, one.(map[string]any))
	}
	return objects
}

func keyOf(key Key) Object {
	var path []Object
	for i := 0; i < len(key); i += 2 {
		element := Object{"kind": key[i]}
		if i+1 < len(key) {
			if name, ok := key[i+1].(string); ok {
				element["name"] = name
			} else {
				element["id"] = fmt.Sprint(key[i+1])
			}
		}
		path = append(path, element)
	}
	return Object{"path": path}
}

func pathOf(key map[string]any) Key {
	var path Key
	for _, one := range list(key["path"]) {
		if name, ok := one["name"]; ok {
			path = append(path, one["kind"], name)
		} else {
			id, _ := strconv.ParseInt(one["id"].(string), 10, 64)
			path = append(path, one["kind"], id)
		}
	}
	return path
}

func words(key Key) string {
	text, _ := json.Marshal(keyOf(key))
	return string(text)
}

func entityOf(key Key, properties Object, unindexed []string) Object {
	values := Object{}
	for name, value := range properties {
		if name != "key" {
			values[name] = valueOf(value, strings.Contains("\n"+strings.Join(unindexed, "\n")+"\n", "\n"+name+"\n"))
		}
	}
	return Object{"key": keyOf(key), "properties": values}
}

func valueOf(value any, isUnindexed bool) Object {
	typed := Object{}
	switch one := value.(type) {
	case nil:
		typed["nullValue"] = nil
	case bool:
		typed["booleanValue"] = one
	case string:
		typed["stringValue"] = one
	case float64:
		if one == float64(int64(one)) {
			typed["integerValue"] = fmt.Sprint(int64(one))
		} else {
			typed["doubleValue"] = one
		}
	case []string:
		values := []Object{}
		for _, item := range one {
			values = append(values, valueOf(item, isUnindexed))
		}
		return Object{"arrayValue": Object{"values": values}}
	default:
		typed["integerValue"] = fmt.Sprint(one)
	}
	if isUnindexed {
		typed["excludeFromIndexes"] = true
	}
	return typed
}

func propertiesOf(entity Object) Object {
	properties := Object{}
	for name, value := range entity.Object("properties") {
		properties[name] = plainOf(value.(map[string]any))
	}
	return properties
}

func plainOf(value Object) any {
	if array := value.Object("arrayValue"); array != nil {
		values := []any{}
		for _, one := range list(array["values"]) {
			values = append(values, plainOf(one))
		}
		return values
	}
	if integer, ok := value["integerValue"].(string); ok {
		number, _ := strconv.ParseInt(integer, 10, 64)
		return number
	}
	for _, name := range []string{"stringValue", "doubleValue", "booleanValue", "timestampValue"} {
		if plain, ok := value[name]; ok {
			return plain
		}
	}
	return nil
}

// ── calls and answers ──

func main() {
	store := openStore()
	var writing sync.Mutex
	write := func(line Object) {
		text, _ := json.Marshal(line)
		writing.Lock()
		defer writing.Unlock()
		os.Stdout.Write(append(text, '\n'))
	}
	answer := func(call Object) {
		value, err := calls[call.Text("call")](store, call)
		var refused Refused
		if errors.As(err, &refused) {
			write(Object{"id": call["id"], "error": Object{"code": refused.Code, "message": refused.Message}})
		} else if err != nil {
			write(Object{"id": call["id"], "error": err.Error()})
		} else {
			write(Object{"id": call["id"], "answer": value})
		}
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var call Object
		if err := json.Unmarshal(line, &call); err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		go answer(call)
	}
}
