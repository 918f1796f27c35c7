/** The value of a key; if there is none, the one that `make` gives, which is kept. (Map.getOrInsertComputed of newer JavaScript.) */
export function getOrInsert<K, V>(
  map: Pick<Map<K, V>, 'get'> & { set(key: K, value: V): unknown },
  key: K,
  make: (key: K) => V,
): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make(key)
    map.set(key, value)
  }
  return value
}
