/** Labs that take long enough to be tested on a core of their own. */
export const tabletLabs: readonly string[] = ['sequential-keys', 'monotonic-index', 'ramp-500-50-5']

/** Labs of many clients at once; a second seed is left to `npm run labs:seeds`, as for those above. */
export const longLabs: readonly string[] = [
  'entity-group-contention',
  'sequence-numbers',
  'list-removal',
  'list-of-lists',
  'counting',
]
