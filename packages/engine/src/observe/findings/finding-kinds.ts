/**
 * The kinds of findings, one entry each: the remedy, and the lab that teaches it. The file of a pattern has its thresholds and
 * words.
 *
 * Known: Datastore's best practices for keys, indexes, ramps, deletes, entity groups and API calls. Ours: each pattern is told
 * from well-behaved traffic by its shape, not by its rate.
 */
import type { TabletReport } from '../tablets/report.ts'

const table = {
  'sequential-keys': {
    remedy:
      'Let Datastore allocate the ids, or begin the name with a hash: new entities then spread over the key range.',
    lab: 'sequential-keys',
  },
  'monotonic-index': {
    remedy:
      'Exclude the property from indexes, or put a short hash (a shard) before the rising value and query each shard.',
    lab: 'monotonic-index',
  },
  'hot-key': {
    remedy: 'Split a written entity into shards; copy or cache a read one. A tablet is never split inside a row.',
    lab: 'hot-key',
  },
  'hot-range': {
    remedy:
      'Spread the hot keys over the key range, for example with a hash before the name, so that tablets share the load.',
    lab: 'hot-key',
  },
  'sudden-start': {
    remedy: 'Begin a new kind with at most 500 operations a second, and raise the rate by 50 % every 5 minutes.',
    lab: 'ramp-500-50-5',
  },
  'scan-over-tombstones': {
    remedy:
      'Start the query after the deleted rows (by a cursor or an inequality), or spread deletes over the key range.',
    lab: 'mass-delete',
  },
  'hot-entity-group': {
    remedy:
      'Make groups smaller, write more in one commit, or shard the hot entities: plan for one commit a second of a group.',
    lab: 'entity-group-contention',
  },
  'unread-index': {
    remedy: 'Delete the index if no query needs it: every write of the kind pays for its rows.',
    lab: 'index-cost',
  },
  'single-calls': {
    remedy: 'Put up to 500 entities into one commit, and up to 1,000 keys into one lookup.',
    lab: 'batching',
  },
  'large-offset': {
    remedy: 'Continue from the cursor of the last page: rows that an offset skips are still read and billed.',
    lab: 'offset-cursor',
  },
  'duplicate-in-commit': {
    remedy: 'Send each entity once in a commit, in its final state.',
    lab: 'batching',
  },
  'negative-id': {
    remedy:
      'Use ids from 1 on, or names: negative ids sort before all other ids, which range queries and splitters do not expect.',
    lab: 'names-and-types',
  },
  'slash-or-dot-in-name': {
    remedy:
      'Avoid slashes in kinds and names, and dots in property names: they separate path elements and nested properties.',
    lab: 'names-and-types',
  },
  'needless-index': {
    remedy: 'Exclude properties that no query filters or orders by: each value costs two index rows.',
    lab: 'index-cost',
  },
}

interface Advice {
  readonly remedy: string
  readonly lab: string
}

export type FindingKind = keyof typeof table

export const findingAdvice: Readonly<Record<FindingKind, Advice>> = table

export interface Finding extends Advice {
  readonly kind: FindingKind
  /** Subject in words: a key range, a kind, an index, an entity group. One finding per kind and subject. */
  readonly subject: string
  readonly words: string
  readonly evidence: readonly string[]
  /** Share of the load or of the calls that shows it, 0 to 1. */
  readonly share: number
  readonly firstSeenMs: number
  readonly lastSeenMs: number
  /** The key range of its rows; absent if there is none. */
  readonly place?: FindingPlace | undefined
}

/** Rows of `table` from `startHex` to before `endHex`: hexadecimal row keys, '' for an open end. */
export type FindingPlace = Pick<TabletReport, 'table' | 'startHex' | 'endHex'>
