/** Stands for others' tests: a virtual clock, stores with faults, and the runner of golden scripts. */

export { int64FromHalves, WireReader, WireWriter } from './encoding/wire.ts'
export { fnv, fnvStart } from './fnv.ts'
export { type Random, seededRandom } from './random.ts'
export { listOf } from './storage/kv.ts'
export { type LevelKv, type LevelKvOptions, openLevelKv } from './storage/level-kv.ts'
export { MemoryKv } from './storage/memory-kv.ts'
export type { Mechanism, SwitchedOff } from './switched-off.ts'
export { AsyncKv } from './testing/async-kv.ts'
export { FaultyKv } from './testing/faulty-kv.ts'
export { goldenScripts, runGolden } from './testing/golden.ts'
export { type PairClient, type PairHistory, type PairRead, pairHistory } from './testing/pair-history.ts'
export { VirtualClock, virtualStartMicros } from './testing/virtual-clock.ts'
