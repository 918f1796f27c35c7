/**
 * The patterns that are looked for, one entry each: what to do about it, and which lab teaches it. What is seen, and by what
 * figures, is said by the file that looks for it.
 *
 * Known: the best-practice page of Datastore for keys, indexes, ramps, deletes, entity groups and API calls. Ours: how each
 * is told from well-behaved traffic, by its shape and not by its rate.
 */
import type { FindingKind } from '../tablets/report.ts'

export interface FindingAdvice {
  readonly remedy: string
  readonly lab: string
}

export const findingAdvice: Readonly<Record<FindingKind, FindingAdvice>> = {
  'sequential-keys': {
    remedy:
      'Let Datastore allocate the ids, or lead the name with a hash: then new entities land all over the key range.',
    lab: 'sequential-keys',
  },
  'monotonic-index': {
    remedy:
      'Exclude the property from indexes, or put a short hash (a shard) before the rising value and query each shard.',
    lab: 'monotonic-index',
  },
  'hot-key': {
    remedy:
      'Split the entity into shards when it is written, keep copies or a cache when it is read: no tablet splits in a row.',
    lab: 'hot-key',
  },
  'hot-range': {
    remedy: 'Spread what is hot over the keys, for example with a hash before the name, so that tablets can share it.',
    lab: 'hot-key',
  },
  'sudden-start': {
    remedy: 'Begin a new kind with at most 500 operations a second and raise that by half every 5 minutes.',
    lab: 'ramp-500-50-5',
  },
  'scan-over-tombstones': {
    remedy:
      'Start the query behind what was deleted (a cursor, or an inequality), or spread deletes over the key range.',
    lab: 'mass-delete',
  },
  'hot-entity-group': {
    remedy:
      'Make groups smaller, put more into one commit, or shard what everybody writes: a group takes a few commits a second.',
    lab: 'entity-group-contention',
  },
  'unread-index': {
    remedy: 'Delete the definition if no query will come: every write pays for its rows.',
    lab: 'index-cost',
  },
  'single-calls': {
    remedy: 'Put up to 500 entities into one commit, and up to 1,000 keys into one lookup.',
    lab: 'batching',
  },
  'large-offset': {
    remedy: 'Go on from the cursor of the last page: rows skipped by an offset are read and billed all the same.',
    lab: 'offset-cursor',
  },
  'duplicate-in-commit': {
    remedy: 'Send each entity once in a commit, in its last state.',
    lab: 'batching',
  },
  'negative-id': {
    remedy: 'Use ids from 1 on, or names: negative ids sort before all others and confuse range queries and splitters.',
    lab: 'names-and-types',
  },
  'slash-or-dot-in-name': {
    remedy:
      'Leave slashes out of kinds and names, and dots out of property names: paths and nested properties are written with them.',
    lab: 'names-and-types',
  },
  'needless-index': {
    remedy: 'Exclude properties that no query filters or orders by: each costs two rows a value.',
    lab: 'index-cost',
  },
}
