/** Broken parts that several labs' faults use. */
import { type Mutation, prepareEntity } from '@sixtables/engine'
import { MemoryKv } from '@sixtables/engine/testing'
import { projectId } from '../../src/sim/store.ts'
import { type Fault, spoil } from './fault-suite.ts'

/** A store in memory that acknowledges rows and keeps none of those that begin with one of these letters (keyspace). */
export class LosingKv extends MemoryKv {
  readonly #lost: string

  constructor(lost: string) {
    super()
    this.#lost = lost
  }

  override write(...[key, value]: Parameters<MemoryKv['write']>): void {
    if (value === undefined || !this.#lost.includes(key[0] ?? '')) super.write(key, value)
  }
}

/** The key of what a mutation writes; `undefined` where the engine would refuse it. */
export function keyOf(mutation: Mutation): ReturnType<typeof prepareEntity>['key'] | undefined {
  if (mutation.operation === 'delete') return mutation.key
  try {
    return prepareEntity(mutation.entity, { projectId, databaseId: '' }).key
  } catch {
    return undefined
  }
}

export const silent: Fault = {
  fault: 'the engine looks for nothing to warn of',
  hook: ({ engine }) => spoil(engine, 'findings', () => () => []),
}
