/** Broken parts that several labs' faults use. */
import { type Mutation, prepareEntity } from '@sixtables/engine'
import { MemoryKv } from '@sixtables/engine/testing'
import { projectId } from '../../src/sim/store.ts'
import { type Fault, spoil } from './fault-suite.ts'

type Write = Parameters<MemoryKv['mutate']>[0]

/** A store in memory that acknowledges rows and keeps none of those that begin with one of these letters (keyspace). */
export class LosingKv extends MemoryKv {
  readonly #lost: string

  constructor(lost: string) {
    super()
    this.#lost = lost
  }

  override mutate(write: Write): void {
    if (this.#keeps(write)) super.mutate(write)
  }

  override batch(writes: readonly Write[]): void {
    super.batch(writes.filter((write) => this.#keeps(write)))
  }

  #keeps({ key, value }: Write): boolean {
    return value === undefined || !this.#lost.includes(key[0] ?? '')
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
