import { DatastoreError } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { patienceMs } from '../../../test/support/patience.ts'
import { Operations, type OperationWork } from './operations.ts'

const parent = 'projects/p'

function work(run: OperationWork['run'], labels?: Record<string, string>): OperationWork {
  return {
    type: 'CREATE_INDEX',
    projectId: 'p',
    labels,
    metadata: (common) => ({ '@type': 'm', common }),
    run,
  }
}

/** Work that ends when the test releases it. */
function held() {
  let finish = (): void => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  return { finish, work: work(() => done.then(() => ({ '@type': 'r' }))) }
}

test('an operation is running until its work is done, and then has its response', async () => {
  const operations = new Operations()
  const { finish, work } = held()
  const { name } = operations.start(work)
  expect(name).toMatch(/^projects\/p\/operations\/[0-9a-f]{32}$/)
  expect(operations.get(name)).toMatchObject({ metadata: { common: { state: 'PROCESSING' } } })
  expect(operations.get(name).done).toBeUndefined()
  finish()
  expect(await operations.wait(name, patienceMs)).toMatchObject({
    done: true,
    response: { '@type': 'r' },
    metadata: { common: { state: 'SUCCESSFUL', operationType: 'CREATE_INDEX' } },
  })
})

test('work that answers at once is done at once', () => {
  expect(new Operations().start(work(() => ({ '@type': 'r' }))).done).toBe(true)
})

test('an operation of a database has it in its name', () => {
  const of = (databaseId: string): string =>
    new Operations().start({ ...work(() => ({})), databaseId }).name.replace(/[0-9a-f]{32}$/, '')
  expect(of('')).toBe('projects/p/databases/(default)/operations/')
  expect(of('d')).toBe('projects/p/databases/d/operations/')
})

test('failed work is a status', async () => {
  const operations = new Operations()
  const { name } = operations.start(
    work(async () => {
      throw new DatastoreError('NOT_FOUND', 'nothing there')
    }),
  )
  expect(await operations.wait(name, patienceMs)).toMatchObject({
    done: true,
    error: { code: 5, message: 'nothing there' },
    metadata: { common: { state: 'FAILED' } },
  })
})

test('cancelling asks the work to stop, and the operation ends with CANCELLED', async () => {
  const operations = new Operations()
  const { name } = operations.start(
    work(
      (signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => setImmediate(reject, signal.reason))),
    ),
  )
  operations.cancel(name)
  expect(operations.get(name)).toMatchObject({ metadata: { common: { state: 'CANCELLING' } } })
  expect(await operations.wait(name, patienceMs)).toMatchObject({
    error: { code: 1 },
    metadata: { common: { state: 'CANCELLED' } },
  })
})

test('waiting ends with its time though the work goes on', async () => {
  const operations = new Operations()
  const { name } = operations.start(work(() => new Promise(() => {})))
  expect((await operations.wait(name, 5)).done).toBeUndefined()
})

test('a running operation cannot be deleted; a finished one is forgotten', () => {
  const operations = new Operations()
  const running = operations.start(work(() => new Promise(() => {}))).name
  const finished = operations.start(work(() => ({}))).name
  expect(() => operations.delete(running)).toThrow('cancel it first')
  operations.delete(finished)
  expect(() => operations.get(finished)).toThrow('there is no operation')
})

test('a list has the operations of its parent alone, newest first, page by page', () => {
  const operations = new Operations()
  const names = [1, 2, 3].map(() => operations.start(work(() => ({}))).name).reverse()
  operations.start({ ...work(() => ({})), projectId: 'q' })
  operations.start({ ...work(() => ({})), databaseId: '' })
  expect(operations.list({ parent }).operations.map(({ name }) => name)).toEqual(names)
  const first = operations.list({ parent, pageSize: 2 })
  expect(first.operations.map(({ name }) => name)).toEqual(names.slice(0, 2))
  const second = operations.list({ parent, pageSize: 2, pageToken: first.nextPageToken ?? '' })
  expect(second.operations.map(({ name }) => name)).toEqual(names.slice(2))
  expect(second.nextPageToken).toBeUndefined()
})

test('a filter compares members, by names in either case', () => {
  const operations = new Operations()
  const running = operations.start(work(() => new Promise(() => {}))).name
  const labelled = operations.start(work(() => ({}), { env: 'dev' })).name
  const found = (filter: string) => operations.list({ parent, filter }).operations.map(({ name }) => name)
  expect(found('done=false')).toEqual([running])
  expect(found('metadata.common.state:SUCCESSFUL AND metadata.common.labels.env="dev"')).toEqual([labelled])
  expect(found('metadata.common.operation_type=CREATE_INDEX')).toEqual([labelled, running])
  expect(() => found('state > 3')).toThrow('is not understood')
})
