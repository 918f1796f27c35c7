/** Which database a request is for: names of projects, and parts of a request that name another database. */
import type { MethodName } from '../../../src/methods.ts'
import type { Plain } from '../../support/published-protos.ts'
import { type Answers, commit, entity, integer, invalid, named, ok, type Row, type World } from './row.ts'

const mismatched = invalid(/mismatched databases/)

/** A key in the project of the request. */
type KeyOf = (world: World) => Plain

const withoutPartition: KeyOf = () => named('n')
const ofNamespace: KeyOf = () => ({ partitionId: { namespaceId: 's' }, ...named('n') })
/** The default database is meant: only a partition without a project takes the database of the request. */
const ofProject: KeyOf = ({ project }) => ({ partitionId: { projectId: project }, ...named('n') })
const ofBoth: KeyOf = ({ project }) => ({ partitionId: { projectId: project, databaseId: 'db2' }, ...named('n') })

/** A request for the database db2. */
function inDb2(input: string, method: MethodName, request: KeyOf, answers: Answers): Row {
  return { input, method, request: (world) => ({ databaseId: 'db2', ...request(world) }), ...answers }
}

const where = (property: string, key: Plain): Plain => ({
  propertyFilter: { property: { name: property }, op: 'EQUAL', value: { keyValue: key } },
})

export const databaseRows: readonly Row[] = [
  ...['.', 'a.b', '-a', 'A', 'a_b', 'a:b:c'].map(
    (projectId): Row => ({
      input: `project ${projectId}`,
      method: 'Lookup',
      request: { projectId, keys: [named('n')] },
      ...invalid(/invalid project id/),
      ...(projectId.includes(':') ? { notOverHttp: 'the emulators take the colon for that of the method' } : {}),
    }),
  ),
  ...(
    [
      ['a key without a partition', withoutPartition, ok],
      ['a key with a namespace alone', ofNamespace, ok],
      ['a key with its project alone', ofProject, mismatched],
      ['a key with project and database', ofBoth, ok],
    ] as const
  ).flatMap(([input, key, answers]) => [
    inDb2(`in a named database, ${input}`, 'Lookup', (world) => ({ keys: [key(world)] }), answers),
    inDb2(
      `in a named database, ${input} behind one without`,
      'Lookup',
      (world) => ({ keys: [named('m'), key(world)] }),
      answers,
    ),
    inDb2(`in a named database, ${input}`, 'Commit', (world) => commit({ upsert: entity(key(world)) }), answers),
    inDb2(`in a named database, delete of ${input}`, 'Commit', (world) => commit({ delete: key(world) }), answers),
  ]),
  inDb2(
    'in a named database, a partition with its project alone',
    'RunQuery',
    ({ project }) => ({ partitionId: { projectId: project }, query: { kind: [{ name: 'K' }] } }),
    mismatched,
  ),
  inDb2(
    'in a named database, a key value with its project alone',
    'Commit',
    (world) => commit({ upsert: entity(named('n'), { v: { keyValue: ofProject(world) }, w: integer() }) }),
    ok,
  ),
  inDb2(
    'in a named database, compared with a key without a partition',
    'RunQuery',
    () => ({ query: { kind: [{ name: 'K' }], filter: where('__key__', named('n')) } }),
    ok,
  ),
]
