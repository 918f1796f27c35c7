/** A Map, or a tree. */
interface ValuesByKey<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

/** The value of a key; if there is none, the one that `make` gives, which is kept. (Map.getOrInsertComputed of newer JavaScript.) */
export function getOrInsert<K, V>(map: ValuesByKey<K, V>, key: K, make: (key: K) => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make(key)
    map.set(key, value)
  }
  return value
}
