/** Labs that take long enough to be tested on a core of their own. */
export const tabletLabs: readonly string[] = [
  'migrate-keys',
  'sequential-keys',
  'monotonic-index',
  'sharding-mistakes',
  'ramp-500-50-5',
  'kind-migration',
]

/** Labs of many clients at once; a second seed is left to `npm run labs:seeds`, as for those above. */
export const longLabs: readonly string[] = [
  'entity-group-contention',
  'optimistic-pessimistic',
  'sequence-numbers',
  'list-removal',
  'list-of-lists',
  'counting',
  'expiry',
]
