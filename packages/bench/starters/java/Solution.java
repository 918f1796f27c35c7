import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A program of a challenge, over the HTTP JSON API of Datastore: it needs a JDK 17 and no library.
 *
 * The judge starts this file, and sends a call as a line of JSON. README.md has the calls and their answers. Your part comes first; Store, below,
 * has what you may call, and main reads calls and writes answers. Print other things to System.err: System.out is for answers.
 *
 * Values are those of Json: Map, List, String, Long, Double, Boolean and null.
 */
public class Solution {
    // ── your program ──

    /** Stores customer 1, 2, 3, … */
    static Object addCustomer(Store store, Map<String, Object> call) throws Exception {
        store.insert(Store.key("Customer", "Customer" + call.get("n")), Json.object(call.get("customer")), Set.of("name"));
        return null;
    }

    /** Answers the customer of a number, with one lookup. */
    static Object findCustomer(Store store, Map<String, Object> call) throws Exception {
        return store.get(Store.key("Customer", "Customer" + call.get("n")));
    }

    static final Map<String, Function> CALLS = Map.of("addCustomer", Solution::addCustomer, "findCustomer", Solution::findCustomer);

    // ── the store ──

    interface Function {
        Object call(Store store, Map<String, Object> call) throws Exception;
    }

    interface Work {
        /** Reads with the transaction, and answers what to write. */
        List<Object> in(String transaction) throws Exception;
    }

    /** An error of the service; the code is such as ALREADY_EXISTS or ABORTED. */
    static class Refused extends Exception {
        final String code;

        Refused(String code, String message) {
            super(message);
            this.code = code;
        }
    }

    /** The server that the environment names. A key is kind and name (String) or id (Long), root first: key("User", "ada", "Post", 17L). */
    static class Store {
        private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        private final String address =
            "http://" + System.getenv("DATASTORE_EMULATOR_HOST") + "/v1/projects/" + System.getenv("DATASTORE_PROJECT_ID") + ":";

        static List<Object> key(Object... path) {
            return Arrays.asList(path);
        }

        /** The properties of an entity; null if there is none. */
        Map<String, Object> get(List<Object> key) throws Exception {
            return getAll(List.of(key), null).get(0);
        }

        /** The same for many keys by one lookup, in a transaction unless it is null. */
        List<Map<String, Object>> getAll(List<List<Object>> keys, String transaction) throws Exception {
            Map<String, Object> body = new LinkedHashMap<>(Map.of("keys", keys.stream().map(Store::keyOf).toList()));
            Map<List<Object>, Map<String, Object>> found = new LinkedHashMap<>();
            for (Object one : Json.list(request("lookup", reading(body, transaction)).get("found"))) {
                Map<String, Object> entity = Json.object(Json.object(one).get("entity"));
                found.put(pathOf(entity.get("key")), propertiesOf(entity));
            }
            List<Map<String, Object>> entities = new ArrayList<>();
            for (List<Object> key : keys) entities.add(found.get(key));
            return entities;
        }

        /** Stores an entity, also in the place of another one. */
        void put(List<Object> key, Map<String, Object> properties, Set<String> unindexed) throws Exception {
            commit(List.of(Map.of("upsert", entityOf(key, properties, unindexed))), null);
        }

        /** The same; fails with ALREADY_EXISTS if the entity is there. */
        void insert(List<Object> key, Map<String, Object> properties, Set<String> unindexed) throws Exception {
            commit(List.of(Map.of("insert", entityOf(key, properties, unindexed))), null);
        }

        void remove(List<List<Object>> keys) throws Exception {
            commit(keys.stream().map((key) -> (Object) Map.of("delete", keyOf(key))).toList(), null);
        }

        /**
         * Writes at once what Map.of("upsert", entityOf(…)), "insert" and Map.of("delete", keyOf(…)) say, and answers the keys whose ids were
         * given. In a transaction it fails with ABORTED after a conflict.
         */
        List<List<Object>> commit(List<Object> mutations, String transaction) throws Exception {
            Map<String, Object> body = new LinkedHashMap<>(Map.of("mode", "NON_TRANSACTIONAL", "mutations", mutations));
            if (transaction != null) {
                body.put("mode", "TRANSACTIONAL");
                body.put("transaction", transaction);
            }
            List<List<Object>> keys = new ArrayList<>();
            for (Object one : Json.list(request("commit", body).get("mutationResults"))) {
                if (Json.object(one).containsKey("key")) keys.add(pathOf(Json.object(one).get("key")));
            }
            return keys;
        }

        /** Calls the work; after a conflict, or when a tablet moves, up to five times again. */
        void transaction(Work work) throws Exception {
            for (int attempt = 0; ; attempt++) {
                try {
                    String transaction = (String) request("beginTransaction", Map.of()).get("transaction");
                    commit(work.in(transaction), transaction);
                    return;
                } catch (Refused error) {
                    if (!Set.of("ABORTED", "UNAVAILABLE").contains(error.code) || attempt == 5) throw error;
                    Thread.sleep(100L << attempt);
                }
            }
        }

        /** A new id of a kind. */
        long allocateId(String kind) throws Exception {
            Map<String, Object> answer = request("allocateIds", Map.of("keys", List.of(keyOf(key(kind)))));
            return (Long) pathOf(Json.list(answer.get("keys")).get(0)).get(1);
        }

        /**
         * A batch of a query as the API has it, such as {"kind": [{"name": "Post"}], "limit": 20}: its endCursor, its moreResults, and its
         * entityResults, whose entities propertiesOf() and pathOf() read.
         */
        Map<String, Object> runQuery(Map<String, Object> query, String transaction) throws Exception {
            Map<String, Object> body = new LinkedHashMap<>(Map.of("query", query));
            return Json.object(request("runQuery", reading(body, transaction)).get("batch"));
        }

        /** A request of the API as it is: its documentation names methods and fields. */
        Map<String, Object> request(String method, Map<String, Object> body) throws Exception {
            HttpRequest request = HttpRequest.newBuilder(URI.create(address + method))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(Json.text(body)))
                .build();
            String text = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
            Map<String, Object> answer = Json.object(Json.parse(text));
            if (!answer.containsKey("error")) return answer;
            Map<String, Object> error = Json.object(answer.get("error"));
            throw new Refused((String) error.get("status"), (String) error.get("message"));
        }

        private static Map<String, Object> reading(Map<String, Object> body, String transaction) {
            if (transaction != null) body.put("readOptions", Map.of("transaction", transaction));
            return body;
        }

        static Map<String, Object> keyOf(List<Object> key) {
            List<Object> path = new ArrayList<>();
            for (int i = 0; i < key.size(); i += 2) {
                Map<String, Object> element = new LinkedHashMap<>(Map.of("kind", key.get(i)));
                if (i + 1 < key.size()) {
                    Object name = key.get(i + 1);
                    if (name instanceof String) element.put("name", name);
                    else element.put("id", String.valueOf(name));
                }
                path.add(element);
            }
            return Map.of("path", path);
        }

        static List<Object> pathOf(Object key) {
            List<Object> path = new ArrayList<>();
            for (Object one : Json.list(Json.object(key).get("path"))) {
                Map<String, Object> element = Json.object(one);
                path.add(element.get("kind"));
                path.add(element.containsKey("name") ? element.get("name") : (Object) Long.valueOf((String) element.get("id")));
            }
            return path;
        }

        static Map<String, Object> entityOf(List<Object> key, Map<String, Object> properties, Set<String> unindexed) {
            Map<String, Object> values = new LinkedHashMap<>();
            properties.forEach((name, value) -> values.put(name, valueOf(value, unindexed.contains(name))));
            return Map.of("key", keyOf(key), "properties", values);
        }

        private static Map<String, Object> valueOf(Object value, boolean isUnindexed) {
            if (value instanceof List<?> list)
                return Map.of("arrayValue", Map.of("values", list.stream().map((one) -> valueOf(one, isUnindexed)).toList()));
            Map<String, Object> typed = new LinkedHashMap<>();
            if (value == null) typed.put("nullValue", null);
            else if (value instanceof Boolean) typed.put("booleanValue", value);
            else if (value instanceof Long || value instanceof Integer) typed.put("integerValue", String.valueOf(value));
            else if (value instanceof Double) typed.put("doubleValue", value);
            else typed.put("stringValue", String.valueOf(value));
            if (isUnindexed) typed.put("excludeFromIndexes", true);
            return typed;
        }

        static Map<String, Object> propertiesOf(Map<String, Object> entity) {
            Map<String, Object> properties = new LinkedHashMap<>();
            if (entity.get("properties") != null)
                Json.object(entity.get("properties")).forEach((name, value) -> properties.put(name, plainOf(Json.object(value))));
            return properties;
        }

        private static Object plainOf(Map<String, Object> value) {
            if (value.containsKey("arrayValue"))
                return Json.list(Json.object(value.get("arrayValue")).get("values")).stream().map((one) -> plainOf(Json.object(one))).toList();
            if (value.containsKey("integerValue")) return Long.valueOf((String) value.get("integerValue"));
            for (String type : List.of("stringValue", "doubleValue", "booleanValue", "timestampValue"))
                if (value.containsKey(type)) return value.get(type);
            return null;
        }
    }

    // ── calls and answers ──

    private static final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    public static void main(String[] args) throws IOException {
        Store store = new Store();
        ExecutorService pool = Executors.newFixedThreadPool(64);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, Object> call = Json.object(Json.parse(line));
            pool.submit(() -> answer(store, call));
        }
        pool.shutdownNow();
    }

    private static void answer(Store store, Map<String, Object> call) {
        Map<String, Object> line = new LinkedHashMap<>(Map.of("id", call.get("id")));
        try {
            line.put("answer", CALLS.get((String) call.get("call")).call(store, call));
        } catch (Refused error) {
            line.put("error", Map.of("code", error.code, "message", String.valueOf(error.getMessage())));
        } catch (Throwable error) {
            error.printStackTrace();
            line.put("error", String.valueOf(error));
        }
        synchronized (out) {
            out.print(Json.text(line) + "\n");
            out.flush();
        }
    }

    /** Just enough JSON, since Java has none. */
    static class Json {
        private final String text;
        private int at = 0;

        private Json(String text) {
            this.text = text;
        }

        static Object parse(String text) {
            return new Json(text).value();
        }

        @SuppressWarnings("unchecked")
        static Map<String, Object> object(Object value) {
            return (Map<String, Object>) value;
        }

        @SuppressWarnings("unchecked")
        static List<Object> list(Object value) {
            return value == null ? Collections.emptyList() : (List<Object>) value;
        }

        static String text(Object value) {
            StringBuilder out = new StringBuilder();
            write(value, out);
            return out.toString();
        }

        private static void write(Object value, StringBuilder out) {
            if (value instanceof Map<?, ?> map) {
                String comma = "{";
                for (Map.Entry<?, ?> one : map.entrySet()) {
                    out.append(comma);
                    write(one.getKey(), out);
                    out.append(':');
                    write(one.getValue(), out);
                    comma = ",";
                }
                out.append(map.isEmpty() ? "{}" : "}");
            } else if (value instanceof Iterable<?> list) {
                out.append('[');
                String comma = "";
                for (Object one : list) {
                    out.append(comma);
                    write(one, out);
                    comma = ",";
                }
                out.append(']');
            } else if (value == null || value instanceof Number || value instanceof Boolean) out.append(value);
            else {
                out.append('"');
                for (char one : String.valueOf(value).toCharArray()) {
                    if (one == '"' || one == '\\') out.append('\\').append(one);
                    else if (one < ' ') out.append(String.format("\\u%04x", (int) one));
                    else out.append(one);
                }
                out.append('"');
            }
        }

        private char next() {
            while (Character.isWhitespace(text.charAt(at))) at++;
            return text.charAt(at);
        }

        private Object value() {
            switch (next()) {
                case '{': {
                    Map<String, Object> map = new LinkedHashMap<>();
                    for (at++; next() != '}'; ) {
                        String name = string();
                        next();
                        at++;
                        map.put(name, value());
                        if (next() == ',') at++;
                    }
                    at++;
                    return map;
                }
                case '[': {
                    List<Object> list = new ArrayList<>();
                    for (at++; next() != ']'; ) {
                        list.add(value());
                        if (next() == ',') at++;
                    }
                    at++;
                    return list;
                }
                case '"':
                    return string();
                default: {
                    int begin = at;
                    while (at < text.length() && ",]} \r\n\t".indexOf(text.charAt(at)) < 0) at++;
                    String word = text.substring(begin, at);
                    if (word.equals("null")) return null;
                    if (word.equals("true") || word.equals("false")) return Boolean.valueOf(word);
                    if (word.matches("-?\\d+")) return Long.valueOf(word);
                    return Double.valueOf(word);
                }
            }
        }

        private String string() {
            next();
            StringBuilder out = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
                if (text.charAt(at) != '\\') {
                    out.append(text.charAt(at));
                    continue;
                }
                char one = text.charAt(++at);
                if (one == 'u') {
                    out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                } else out.append(one == 'n' ? '\n' : one == 't' ? '\t' : one == 'r' ? '\r' : one == 'b' ? '\b' : one == 'f' ? '\f' : one);
            }
            at++;
            return out.toString();
        }
    }
}
