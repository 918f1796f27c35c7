/** The parts that an engine needs where several processes share its store, and nowhere else: other starts do not load them. */
export { SharedDatabases } from '../shared/shared-databases.ts'
export { readableMicros, SharedStore } from '../shared/shared-store.ts'
export { checkFormat } from '../shared/store-format.ts'
export { Sweep } from '../shared/sweep.ts'
export { Watch } from '../shared/watch.ts'
export { RowsKv } from '../storage/rows-kv.ts'
export { SharedIndexWork } from './shared-index-work.ts'
export { SharedReading, SharedVerbs } from './shared-verbs.ts'
