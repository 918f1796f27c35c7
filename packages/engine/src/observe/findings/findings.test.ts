import { expect, test } from 'vitest'
import { type Scheduler, systemScheduler } from '../../clock.ts'
import { keyCodes } from '../../encoding/key-codec.ts'
import type { CommitEvent } from '../../log/commit-log.ts'
import { encodeImage } from '../../tables/entities.ts'
import { EntityRows } from '../../tables/entity-rows.ts'
import { Findings } from './findings.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const after = encodeImage({ version: 1n, createTime: 1n, updateTime: 1n, properties: new Uint8Array(0) })

/** The commit of new entities. */
function commitOf(...ids: readonly bigint[]): Pick<CommitEvent, 'records'> {
  const records = ids.map((id) => {
    const codes = keyCodes({ partition, path: [{ kind: 'ToDo', id }] })
    const change = new EntityRows({ codes, before: undefined, after }, { indexes: [], indexOptions: {} })
    return { partition: codes.partition, version: 1n, changes: [change] }
  })
  return { records } as unknown as CommitEvent
}

function findingsOf(scheduler: Scheduler): Findings {
  return new Findings({
    scheduler,
    seed: 1,
    wading: () => [],
    groups: () => [],
    indexInWords: () => undefined,
    isStoreNew: () => false,
    scale: () => 1,
  })
}

test('the keys of one large commit, in the order of their rows, are not taken for a sequence', () => {
  const findings = findingsOf(systemScheduler)
  const ids = Array.from({ length: 500 }, (_, i) => (BigInt(i) * 7_919n) % 1_000_003n)
  findings.noteCommitted(commitOf(...ids.sort((a, b) => (a < b ? -1 : 1))))
  expect(findings.findings()).toEqual([])
})

test('a commit after a reset is found, also while a look at earlier ones waits for its turn', async () => {
  const turns: (() => void)[] = []
  const scheduler: Scheduler = { ...systemScheduler, steadyMs: () => 0, defer: (task) => void turns.push(task) }
  const findings = findingsOf(scheduler)
  const nextTurn = async (): Promise<void> => {
    turns.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (let id = 1n; id <= 600n; id++) findings.noteCommitted(commitOf(id * 7919n))
  await new Promise((resolve) => setImmediate(resolve))
  await nextTurn()
  expect(turns).toHaveLength(1)
  findings.clear()
  findings.noteCommitted(commitOf(-5n))
  await nextTurn()
  expect(findings.findings().map(({ kind }) => kind)).toEqual(['negative-id'])
})
