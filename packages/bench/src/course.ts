/** The chapters of the course as data: docs/course has their text, and a table that a test compares with this list. */

export interface Chapter {
  readonly number: number
  readonly title: string
  /** The goals, as its page has them. */
  readonly goals: string
  /** The time that it takes, believed. */
  readonly minutes: number
  /** Names of labs. */
  readonly labs: readonly string[]
  /** Names of challenges. */
  readonly challenges: readonly string[]
  /** Its page in docs/course. */
  readonly page: string
}

export const chapters: readonly Chapter[] = [
  {
    number: 1,
    title: 'Rows and keys',
    goals:
      'You can say which rows an entity has and in which order they lie, and you know which names cause confusion later.',
    minutes: 60,
    labs: ['names-and-types'],
    challenges: ['customer-keys'],
    page: '1-rows-and-keys.md',
  },
  {
    number: 2,
    title: 'Commit and apply',
    goals:
      'You can name the moments of a write, say which reads see it at each moment, and say why one commit for many entities is cheaper than many commits.',
    minutes: 75,
    labs: ['write-path', 'read-your-writes', 'batching'],
    challenges: ['like-button'],
    page: '2-commit-and-apply.md',
  },
  {
    number: 3,
    title: 'Identifiers',
    goals:
      'You can choose between automatic ids, ids of your own and names, import rows that have numbers already, and number records without a bottleneck.',
    minutes: 120,
    labs: ['allocate-ids', 'key-range-state', 'migrate-keys', 'sequence-numbers'],
    challenges: ['invoice-numbers'],
    page: '3-identifiers.md',
  },
  {
    number: 4,
    title: 'Indexes and queries',
    goals:
      'You can read a query plan, say what a query reads and bills, and decide which properties and composite indexes a kind needs.',
    minutes: 105,
    labs: ['index-cost', 'query-shape', 'offset-cursor'],
    challenges: ['page-ten-thousand'],
    page: '4-indexes-and-queries.md',
  },
  {
    number: 5,
    title: 'Hot tablets',
    goals: 'You can read a heatmap, tell a hot range from a hot key, and choose keys and index values that spread.',
    minutes: 150,
    labs: ['sequential-keys', 'monotonic-index', 'hot-key', 'sharding-mistakes'],
    challenges: ['customer-keys', 'event-time'],
    page: '5-hot-tablets.md',
  },
  {
    number: 6,
    title: 'Contention',
    goals:
      'You can predict the rate of writes to one entity group, explain what each concurrency mode does when transactions meet, and design writes that do not meet.',
    minutes: 120,
    labs: ['entity-group-contention', 'optimistic-pessimistic'],
    challenges: ['like-button'],
    page: '6-contention.md',
  },
  {
    number: 7,
    title: 'Lists and counters',
    goals:
      'You can store a list that many clients change, compact it while it is in use, split it before it is too long, and choose a way to count.',
    minutes: 135,
    labs: ['list-removal', 'list-compaction', 'list-of-lists', 'counting'],
    challenges: ['follower-list'],
    page: '7-lists-and-counters.md',
  },
  {
    number: 8,
    title: 'Operations at scale',
    goals:
      'You can ramp up traffic, move a kind while it is used, delete much without slowing queries down, expire what is old, say what more gateways bring, and play your own traffic at a thousand times its rate.',
    minutes: 210,
    labs: ['ramp-500-50-5', 'kind-migration', 'mass-delete', 'expiry', 'gateways', 'replay'],
    challenges: ['expire-a-million', 'move-the-kind'],
    page: '8-operations-at-scale.md',
  },
]
